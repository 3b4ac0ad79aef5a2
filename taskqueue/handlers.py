"""What an app with work for the queue needs: kinds, schedules, claims and outcomes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import connection
from django.utils.module_loading import autodiscover_modules

from taskqueue.errors import Cancelled, ClaimLost, ShuttingDown
from taskqueue.models import Task, Token
from taskqueue.services.claims import hold, save_progress, storable
from taskqueue.services.schedules import Due, Every, every

__all__ = [
    "Cancelled",
    "Claim",
    "ClaimLost",
    "Delay",
    "Done",
    "Every",
    "Fail",
    "Outcome",
    "Park",
    "Registry",
    "Retry",
    "ShuttingDown",
    "WaitForChildren",
    "every",
    "handler",
    "known",
    "schedule",
]

LONGEST_RUN = timedelta(hours=1)  # unless the kind says otherwise
MOST_PROGRESS = 2**53  # a browser's numbers are exact up to here

# The lease as this process sees it: on a clock that runs on while the machine sleeps, as the database's does.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def clock() -> float:
    """Seconds of a clock that nobody sets; only differences mean something."""
    return time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done. `result`, if it says one, can be written as JSON."""

    note: str = ""
    result: Any = None


@dataclass(frozen=True, slots=True)
class Park:
    """Submitted elsewhere: run again to collect. Spends no retry.

    `until` is a time that the database named, or how long from now: a worker's clock may be wrong.
    """

    until: datetime | timedelta
    note: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """Failed in a way that another try may cure; `after` replaces the exponential wait. Spends a retry."""

    reason: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Failed in a way that no other try cures."""

    reason: str


@dataclass(frozen=True, slots=True)
class Delay:
    """The host takes no request before `until`, which is as Park's. Spends no retry."""

    until: datetime | timedelta
    reason: str


@dataclass(frozen=True, slots=True)
class WaitForChildren:
    """The work is split: the task ends when its last child does, and never runs again by itself (Q11)."""

    note: str = ""


Outcome = Done | Park | Retry | Fail | Delay | WaitForChildren


class Claim:
    """A task in this process's hands. The worker's pulse keeps it alive and tells it what it hears."""

    def __init__(self, task: Task, *, proven_until: float, time_limit: timedelta | None = None) -> None:
        """`proven_until` is on `clock()`: until then nobody else can have been given the task."""
        self.task_id: int = task.pk
        self.kind = task.kind
        self.subject = task.subject
        self.attempt = task.attempts
        self.token: Token = task.token
        self.parent_id: int | None = task.parent_id
        self.account = task.account
        self.payload: Any = task.payload
        self._time_limit = time_limit
        self._over_at = math.inf
        self._proven_until = proven_until
        self._is_lost = False
        self._is_cancelled = task.cancel_requested_at is not None
        self._is_stopping = False
        self._progress: Mapping[str, Any] | None = task.progress
        self._saved: Mapping[str, Any] | None = task.progress

    def still_mine(self) -> bool:
        """False, for good, once the claim was lost or its lease can no longer be proven (Q5). Asks nobody."""
        if clock() >= self._proven_until:
            self._is_lost = True
        return not self._is_lost

    def checkpoint(self) -> None:
        """Raises ClaimLost, Cancelled or ShuttingDown when the handler is to end here."""
        if not self.still_mine():
            raise ClaimLost(f"task {self.task_id}, attempt {self.attempt}")
        if self._is_cancelled:
            raise Cancelled(f"task {self.task_id}")
        if self._is_stopping:
            raise ShuttingDown(f"task {self.task_id}, attempt {self.attempt}")

    def hold(self) -> None:
        """Lock the claim, so that what commits with this transaction was written under a current claim.

        The lock lets heartbeats pass and keeps the reaper off. Raises ClaimLost when the claim is not
        current, and RuntimeError outside a transaction, where it would hold nothing.
        """
        if not connection.in_atomic_block:
            raise RuntimeError("hold() outside a transaction holds nothing")
        if not self.still_mine():
            raise ClaimLost(f"task {self.task_id}, attempt {self.attempt}")
        if not hold(self.token):
            self.lose()
            raise ClaimLost(f"task {self.task_id}, attempt {self.attempt}")

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Say how far the work is. Costs nothing: the pulse saves the newest value, if it changed (Q7).

        Saved on the pulse's connection, it shows while the handler's own transaction is still open, and
        leaves no row lock in that transaction for the heartbeat to wait on. Raises ValueError for a number
        that no page could show.
        """
        # What no row can hold must not come to light in the pulse, where it would stop the heart.
        whole = None if total is None else int(total)
        if max(abs(int(done)), abs(whole or 0)) > MOST_PROGRESS:
            raise ValueError("a progress of more than 2**53")
        self._progress = {"done": int(done), "total": whole, "note": storable(note)}

    # What the worker and its pulse tell the claim.

    def prove(self, until: float) -> None:
        """A heartbeat reached the row: the lease is proven until `until` on `clock()`."""
        self._proven_until = max(self._proven_until, until)

    def lose(self) -> None:
        self._is_lost = True

    def begin(self) -> None:
        """The handler starts: its time does not run while others of its batch do."""
        if self._time_limit is not None:
            self._over_at = clock() + self._time_limit.total_seconds()

    def end(self) -> None:
        """The handler has ended: what has not been recorded yet is not over its time."""
        self._over_at = math.inf

    def is_over_time(self) -> bool:
        return clock() >= self._over_at

    def over_time(self) -> str:
        return f"it ran for longer than {self._time_limit} and was ended with its process"

    def cancel(self) -> None:
        self._is_cancelled = True

    def stop(self) -> None:
        self._is_stopping = True

    @property
    def unsaved_progress(self) -> Mapping[str, Any] | None:
        """The newest value, if it is not the one in the row."""
        return None if self._progress == self._saved else self._progress

    def progress_saved(self, value: Mapping[str, Any]) -> None:
        self._saved = value

    def save_progress(self) -> None:
        """What the pulse has not saved yet is in the row, unless the claim was lost."""
        if (value := self.unsaved_progress) is not None and save_progress(self.token, value):
            self.progress_saved(value)


Handler = Callable[[Claim], Outcome]
HandlerT = TypeVar("HandlerT", bound=Handler)
DueT = TypeVar("DueT", bound=Callable[[], Due])


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task as this release runs it."""

    name: str
    run: Handler
    transient: tuple[type[Exception], ...] = ()
    max_attempts: int = 5
    is_short: bool = False
    time_limit: timedelta | None = None


@dataclass(slots=True)
class Registry:
    """The kinds a release can run and the schedules that queue them."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    schedules: dict[str, Callable[[], Due]] = field(default_factory=dict)

    def handler(
        self,
        kind: str,
        *,
        transient: tuple[type[Exception], ...] = (),
        max_attempts: int = 5,
        short: bool = False,
        time_limit: timedelta | None = LONGEST_RUN,
    ) -> Callable[[HandlerT], HandlerT]:
        """The function runs tasks of `kind`. Exceptions of a `transient` type are tried again (Q8).

        A worker claims `short` tasks, of a few milliseconds, by the dozen and records them together: after
        a crash as many may run again. One that runs for longer than `time_limit` loses its process and an
        attempt.
        """

        def register(run: HandlerT) -> HandlerT:
            if kind in self.kinds:
                raise ValueError(f"two handlers for {kind}")
            self.kinds[kind] = Kind(kind, run, transient, max_attempts, short, time_limit)
            return run

        return register

    def schedule(self, kind: str) -> Callable[[DueT], DueT]:
        """The function says what of `kind` is due: a QuerySet of subject, payload, host, period, or `every`.

        Each row is queued once per cycle of `period` seconds, by whichever worker comes first (Q2).
        """

        def register(due: DueT) -> DueT:
            if kind in self.schedules:
                raise ValueError(f"two schedules for {kind}")
            self.schedules[kind] = due
            return due

        return register


_registry = Registry()
handler = _registry.handler
schedule = _registry.schedule


def known() -> Registry:
    """What the installed apps' `tasks` modules register."""
    autodiscover_modules("tasks")
    return _registry
