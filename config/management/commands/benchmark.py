from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from benchmarks import BENCHMARKS, Benchmark, BenchmarkFailed, Options
from config.console import at_least_one

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BaseCommand):
    help = (
        "Measure a part of Rolecall beside its peers or its physical limit. JSON on stdout, tables on stderr."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; none: all")
        parser.add_argument("--quick", action="store_true", help="minutes instead of half an hour")
        parser.add_argument("--only", default="", metavar="PART,…", help="of the benchmark, only these")
        parser.add_argument("--rounds", type=at_least_one, metavar="N", help="as far as there is time")

    def handle(self, *, names: list[str], quick: bool, only: str, rounds: int | None, **options: Any) -> None:
        if unknown := set(names) - set(BENCHMARKS):
            raise CommandError(
                f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
            )
        parts = tuple(filter(None, only.split(",")))
        chosen = Options(say=self._say, quick=quick, only=parts, rounds=rounds)
        reports = {}
        try:
            with _interruptible():
                for name in names or BENCHMARKS:
                    measure: Benchmark = import_string(BENCHMARKS[name])
                    reports[name] = measure(chosen)
        except BenchmarkFailed as failed:
            raise CommandError(str(failed)) from failed
        except KeyboardInterrupt:
            self._say("Interrupted: what was started is stopped, what was made is removed.")
            sys.exit(130)
        for report in reports.values():
            self._say(f"\n{report.table}")
        self.stdout.write(json.dumps({name: report.figures for name, report in reports.items()}))

    def _say(self, line: str) -> None:
        self.stderr.write(line, lambda text: text)
        self.stderr.flush()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and a closed terminal unwind as Ctrl-C does: workers, databases and server are cleared away.

    Both are set by hand: a shell starts a job in the background with SIGINT ignored, and Python leaves it so.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
