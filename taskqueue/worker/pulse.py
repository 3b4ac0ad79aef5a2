"""The worker's pulse: heartbeats, notifications, the process's end, whatever the handler does (Q6)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connection, connections

from taskqueue import sql
from taskqueue.handlers import Claim, clock
from taskqueue.services import claims
from taskqueue.services.workers import forget_worker, see_worker

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # how long unsaved progress or a request to stop may go unnoticed
RECONNECT_SECONDS = 1.0
GRACE_SECONDS = 9.0  # containers are commonly killed ten seconds after they were asked to go
FENCE = 0.2  # the part of a lease that is not counted on: an answer takes its time


def proven_seconds() -> float:
    """How long after a heartbeat was sent nobody else can have been given the task."""
    return float(settings.QUEUE_LEASE_SECONDS) * (1 - FENCE)


class Pulse:
    """A thread with a connection of its own, outside the pool: no handler can keep it from beating.

    It beats for the claim that is watched and for the worker's row, listens for work and for cancels, and
    ends the process when a handler does not stop in time.
    """

    def __init__(self, worker: str, kinds: Sequence[str]) -> None:
        self.wake = threading.Event()  # something may be claimable, or the loop is to see that it should stop
        self._worker = worker
        self._kinds = list(kinds)
        self._claim: Claim | None = None
        self._supervisor = os.getppid()
        self._told_to_stop_at: float | None = None
        self._is_urgent = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The thread has ended and its connection is closed."""
        self._ended.set()
        self._thread.join()

    @contextmanager
    def watching(self, claim: Claim) -> Iterator[None]:
        """The claim is kept alive until its end is recorded."""
        self._claim = claim
        try:
            yield
        finally:
            self._claim = None

    def wind_down(self, *, is_urgent: bool = False) -> None:
        """Nothing more is claimed. Only assigns: a signal handler that takes a lock may wait for itself."""
        self._is_urgent = self._is_urgent or is_urgent  # two signals need not arrive in their order
        if self._told_to_stop_at is None:
            self._told_to_stop_at = clock()

    @property
    def is_winding_down(self) -> bool:
        return self._told_to_stop_at is not None

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._live()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("worker=%s has no pulse: %s", self._worker, error)
            except Exception:
                logger.exception("worker=%s has no pulse", self._worker)
            finally:
                connection.close()
            self._heed_stop()
            self._ended.wait(RECONNECT_SECONDS)

    def _live(self) -> None:
        _take_own_connection()
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {sql.WAKE_CHANNEL}")
            cursor.execute(f"LISTEN {sql.CANCEL_CHANNEL}")
        self.wake.set()  # nobody heard what was notified until now
        beat_at, said = clock(), self._claim
        while not self._ended.is_set():
            claim = self._claim
            if clock() >= beat_at:
                beat_at = clock() + settings.QUEUE_HEARTBEAT_SECONDS
                self._beat()
                self._say(said := claim)
            elif claim is not said:
                self._say(said := claim)
            elif claim is not None and claim.unsaved_progress is not None:
                self._beat()
            self._heed_stop()
            if self._hear_cancel():
                beat_at = clock()
        forget_worker(self._worker)

    def _say(self, claim: Claim | None) -> None:
        see_worker(self._worker, kinds=self._kinds, task_id=claim.task_id if claim else None)

    def _beat(self) -> None:
        claim = self._claim
        if claim is None or not claim.still_mine():
            return
        sent_at, progress = clock(), claim.unsaved_progress
        is_cancelled = claims.beat(claim.token, progress=progress)
        if is_cancelled is None:
            claim.lose()
            return
        claim.prove(sent_at + proven_seconds())
        if progress is not None:
            claim.progress_saved(progress)
        if is_cancelled:
            claim.cancel()

    def _hear_cancel(self) -> bool:
        """Listen for a moment; returns whether a cancel was asked for. News of work wakes the loop."""
        with connection.wrap_database_errors:
            notifies = connection.connection.notifies(timeout=LOOK_SECONDS, stop_after=1)
            channels = {notify.channel for notify in notifies}
        if sql.WAKE_CHANNEL in channels:
            self.wake.set()
        return sql.CANCEL_CHANNEL in channels

    def _heed_stop(self) -> None:
        """Half of the grace is for finishing, the rest for reaching a checkpoint; then the process ends."""
        if os.getppid() != self._supervisor:
            self.wind_down()  # nobody is left to tell it
        if self._told_to_stop_at is None:
            return
        self.wake.set()
        claim, waited = self._claim, clock() - self._told_to_stop_at
        if claim is None:
            return
        if self._is_urgent or waited > GRACE_SECONDS / 2:
            claim.stop()
        if self._is_urgent or waited > GRACE_SECONDS:
            self._leave(claim)

    def _leave(self, claim: Claim) -> None:
        try:
            is_given_back = claims.release(claim.token)
            forget_worker(self._worker)
            logger.warning("task=%d given back by force: %s", claim.task_id, is_given_back)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("task=%d is left to the reaper: %s", claim.task_id, error)
        os._exit(1)  # not 0: the supervisor of a draining fleet would take it for drained


def _take_own_connection() -> None:
    """This thread's default connection is outside the pool, and gives up before a lease is over."""
    pooled = connections[DEFAULT_DB_ALIAS]
    limit = max(1, round(settings.QUEUE_HEARTBEAT_SECONDS))
    options = {name: value for name, value in pooled.settings_dict["OPTIONS"].items() if name != "pool"}
    options |= {
        "connect_timeout": limit,
        "keepalives_idle": limit,
        "keepalives_interval": 1,
        "keepalives_count": 3,
        "tcp_user_timeout": limit * 1000,
    }
    own = type(pooled)({**pooled.settings_dict, "OPTIONS": options}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = own
    with own.cursor() as cursor:  # a lock on the claim's row, held by whoever, must not stop the pulse
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{limit}s"])
