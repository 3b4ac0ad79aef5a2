from __future__ import annotations

import contextlib
import json
import secrets
import signal
import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError

from config.console import at_least_one
from taskqueue.loadtest import KINDS, LoadTestFailed, Options
from taskqueue.loadtest.progress import Progress
from taskqueue.loadtest.run import HELD, run

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BaseCommand):
    help = (
        "Load and fault test of the queue, on a database of its own that is dropped at the end. Two "
        "machines' worth of real workers run a mix of tasks; with --kill they are killed, stopped past "
        "their lease, told to go and cut off from the database meanwhile. Then queries tell whether a task "
        "was lost, an effect happened twice, a stale write was accepted, an account had more than its turns, "
        "and more. The verdict and the figures are JSON on stdout, progress is on stderr. "
        "Exit status: 0 everything held, 1 something broke or could not be tested."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=at_least_one, default=4, metavar="N", help="processes (4)")
        parser.add_argument("--accounts", type=at_least_one, default=20, metavar="N", help="that queue (20)")
        parser.add_argument(
            "--tasks",
            type=at_least_one,
            default=5_000,
            metavar="N",
            help="queued; their children come on top (5000)",
        )
        parser.add_argument("--kill", action="store_true", help="do harm to the workers all the while")
        parser.add_argument("--seed", type=int, metavar="N", help="repeats a run's mix and order of faults")
        parser.add_argument("--keep", action="store_true", help="leave database and logs for you to look at")
        parser.add_argument(
            "--handlers",
            default=KINDS,
            metavar="MODULE",
            help="that registers the kinds: a broken one must be found out",
        )

    def handle(
        self,
        *,
        workers: int,
        accounts: int,
        tasks: int,
        kill: bool,
        seed: int | None,
        keep: bool,
        handlers: str,
        **_: Any,
    ) -> None:
        progress = Progress(sys.stderr)
        options = Options(
            workers=workers,
            accounts=accounts,
            tasks=tasks,
            is_killing=kill,
            seed=secrets.randbelow(1_000_000) if seed is None else seed,
            say=progress.say,
            handlers=handlers,
            is_kept=keep,
        )
        try:
            with _interruptible():
                report = run(options, progress.show)
        except LoadTestFailed as failed:
            raise CommandError(str(failed)) from failed
        except (OperationalError, InterfaceError) as gone:
            raise CommandError(f"the database went away: {str(gone).strip()}") from gone
        except KeyboardInterrupt:
            progress.say("Interrupted: the workers have ended, the database is dropped.")
            sys.exit(130)
        self.stdout.write(json.dumps(report))
        broken = ", ".join(report["broken"])
        progress.say(f"Broken: {broken}." if broken else "Everything held.")
        if report["verdict"] != HELD:
            sys.exit(1)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and a closed terminal unwind as Ctrl-C does; a second signal does not disturb that.

    All are set by hand: a shell starts a job in the background with SIGINT ignored, and Python leaves it so.
    """

    def interrupt(*_: object) -> None:
        for number in ENDINGS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
