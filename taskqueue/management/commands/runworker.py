from __future__ import annotations

import os
import signal
from collections.abc import Collection
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.console import at_least_one
from taskqueue.handlers import Registry, known
from taskqueue.services.workers import bury
from taskqueue.worker import Supervisor, Ticker, WorkerLoop
from taskqueue.worker.line import name_sessions


class Command(BaseCommand):
    help = "Claim and run queued tasks until told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--concurrency", type=at_least_one, default=1, help="Processes, one task each (1)."
        )
        parser.add_argument("--kinds", nargs="+", metavar="KIND", help="Run only these.")
        parser.add_argument(
            "--exclude-kinds", nargs="+", default=[], metavar="KIND", help="Run all but these."
        )
        parser.add_argument("--name", default="", help="What operators know this worker by; the host's name.")
        parser.add_argument(
            "--drain",
            action="store_true",
            help="End when nothing may start: what is due later or waits for a closed host stays.",
        )

    def handle(
        self,
        *,
        concurrency: int,
        kinds: list[str] | None,
        exclude_kinds: list[str],
        name: str,
        drain: bool,
        **options: Any,
    ) -> None:
        registry = self.registry()
        supervisor = os.getpid()
        chosen = _chosen(set(registry.kinds), kinds, exclude_kinds)

        def run_child(number: int, incarnation: str) -> bool:
            name_sessions(incarnation)
            label = f"{name}-{number}" if name else ""
            loop = WorkerLoop(
                registry,
                kinds=chosen,
                name=label,
                incarnation=incarnation,
                is_draining=drain,
                supervisor=supervisor,
            )
            signal.signal(signal.SIGTERM, loop.stop)
            signal.signal(signal.SIGQUIT, loop.stop_now)
            return loop.run()

        def run_ticker() -> bool:
            ticker = Ticker(registry, supervisor=supervisor)
            signal.signal(signal.SIGTERM, ticker.stop)
            ticker.run()
            return True

        Supervisor(run_child, count=concurrency, is_draining=drain, run_ticker=run_ticker, bury=bury).run()

    def registry(self) -> Registry:
        """What this process can run."""
        return known()


def _chosen(all_kinds: set[str], only: Collection[str] | None, without: Collection[str]) -> set[str]:
    if unknown := {*(only or ()), *without} - all_kinds:
        raise CommandError(
            f"no handler for {', '.join(sorted(unknown))}; there are {', '.join(sorted(all_kinds))}"
        )
    if not (chosen := (set(only) if only else all_kinds) - set(without)):
        raise CommandError("no kind is left to run: --exclude-kinds takes all of them away")
    return chosen
