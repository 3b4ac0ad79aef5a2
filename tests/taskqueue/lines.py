"""Workers' sessions as tests need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from taskqueue.handlers import Claim
from taskqueue.worker.line import Line
from taskqueue.worker.pulse import Pulse


class SharedLine(Line):
    """Shares the test's own connection, for tests whose rows nobody else sees."""

    def __init__(self) -> None:
        super().__init__("shared")
        self.close()  # its pipe: only a worker that runs, and not one that steps, sleeps on it
        self._shared = connections[DEFAULT_DB_ALIAS]
        self._shared.inc_thread_sharing()

    def execute(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        with self._shared.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


class WatchedLine(Line):
    """A worker's own session that tells whether the worker sleeps: it has looked for work and found none."""

    def __init__(self) -> None:
        super().__init__("watched")
        self.is_asleep = False

    def sleep(self, seconds: float) -> None:
        self.is_asleep = True
        super().sleep(seconds)
        self.is_asleep = False


def look(*held: Claim) -> Pulse:
    """The pulse of the worker that holds the claims looks once: it beats, hears of cancels, saves news."""
    pulse = Pulse(held[0].token.worker, [], SharedLine())
    with pulse.watching(held):
        pulse._look()
    return pulse
