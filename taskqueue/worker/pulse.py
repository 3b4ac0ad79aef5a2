"""The worker's pulse: heartbeats, progress, cancels, the process's end, whatever the handler does (Q6)."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from config.logs import working_on
from taskqueue.handlers import Claim, clock
from taskqueue.services import claims
from taskqueue.services.workers import forget_worker, memory_bytes, registration
from taskqueue.sql import CHANGED_CHANNEL
from taskqueue.sql import claiming as sql
from taskqueue.worker.line import Line

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # how long unsaved progress, a cancel or a request to stop may go unnoticed
GRACE_SECONDS = 9.0  # containers are commonly killed ten seconds after they were asked to go
FENCE = 0.2  # the part of a lease that is not counted on: an answer takes its time
MOST_ANNOUNCED = 390  # ids in a notification, which holds 7,999 bytes

ANNOUNCE = "SELECT pg_notify(%(channel)s, ids) FROM unnest(%(lists)s::text[]) AS ids"


class Pulse:
    """A thread that no handler can keep from beating.

    It beats for the worker, whose lease covers all that it has in hand; saves progress; hears cancels; tells
    pages what changed; and ends the process when a handler does not stop in time.
    """

    def __init__(
        self, worker: str, kinds: Sequence[str], line: Line, *, supervisor: int | None = None
    ) -> None:
        self.proven_until = 0.0  # on `clock()`: until then nobody else can have been given what is in hand
        self.is_lost = False  # declared dead: whatever it still does under its name changes nothing
        self.is_unsure = False  # something runs in its name that is not in hand: perhaps nobody knows of it
        self._worker = worker
        self._kinds = list(kinds)
        self._line = line
        self._claims: list[Claim] = []
        self._changed: set[int] = set()
        self._supervisor = os.getppid() if supervisor is None else supervisor
        self._told_to_stop_at: float | None = None
        self._is_urgent = False
        self._beat_at = 0.0
        self._memory_bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def register(self) -> None:
        """The worker has a row and with it a lease: it may claim. Raises when the database is away."""
        sent_at = clock()
        self._line.execute(sql.REGISTER, registration(self._worker, kinds=self._kinds))
        self._prove(sent_at)

    def start(self) -> None:
        """From now on the worker keeps its lease."""
        self.register()
        self._thread.start()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        """The thread has ended."""
        self._ended.set()
        self._thread.join()

    @contextmanager
    def watching(self, held: Iterable[Claim]) -> Iterator[None]:
        """The claims are kept until the block ends."""
        self._claims = list(held)
        try:
            yield
        finally:
            self._claims = []

    def announce(self, task_id: int) -> None:
        """Pages will hear that the task's state has changed, soon."""
        self._changed.add(task_id)

    def publish(self) -> None:
        """Pages hear now what was announced until now. Best effort: they do without."""
        if not self._changed:
            return
        ids = [str(self._changed.pop()) for _ in range(len(self._changed))]
        starts = range(0, len(ids), MOST_ANNOUNCED)
        lists = [",".join(ids[start : start + MOST_ANNOUNCED]) for start in starts]
        self._line.execute(ANNOUNCE, {"channel": CHANGED_CHANNEL, "lists": lists})  # one commit for all

    def wind_down(self, *, is_urgent: bool = False) -> None:
        """Nothing more is claimed. Takes no lock: a signal handler that does may wait for itself."""
        self._is_urgent = self._is_urgent or is_urgent  # two signals need not arrive in their order
        if self._told_to_stop_at is None:
            self._told_to_stop_at = clock()
        self._line.wake()

    @property
    def is_too_large(self) -> bool:
        """Whether the process holds more memory than it may: its successor begins with little."""
        return self._memory_bytes > settings.QUEUE_WORKER_MAX_BYTES

    @property
    def is_winding_down(self) -> bool:
        return self._told_to_stop_at is not None

    def _run(self) -> None:
        with working_on(worker=self._worker):
            self._beat_on()

    def _beat_on(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            self._heed_stop()
            try:
                self._look()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("has no pulse: %s", error)
            except Exception:
                logger.exception("has no pulse")

    def _watch(self) -> None:
        """A server that owes an answer for a whole lease ends the process: by then nothing is its own."""
        while not self._ended.wait(LOOK_SECONDS):
            asked_at = self._line.asked_at
            if asked_at is not None and clock() - asked_at > settings.QUEUE_LEASE_SECONDS:
                logger.error("worker=%s has had no answer for a lease: it ends", self._worker)
                os._exit(1)

    def _look(self) -> None:
        self._memory_bytes = memory_bytes() or 0
        self._line.hear()
        if clock() >= self._beat_at or self._line.is_cancel_heard:
            self._line.is_cancel_heard = False
            self._beat()
        for claim in self._claims:
            self._save_progress(claim)
        self.publish()

    def _beat(self) -> None:
        held, sent_at = self._claims, clock()
        values = {
            "worker": self._worker,
            "lease": settings.QUEUE_LEASE_SECONDS,
            "memory": self._memory_bytes or None,
        }
        rows = self._line.execute(sql.BEAT, values)
        if not rows:
            self._lose(held)
            return
        self._prove(sent_at)
        running = {(task_id, attempt): is_cancelled for task_id, attempt, is_cancelled in rows}
        if running.keys() - {(claim.task_id, claim.attempt) for claim in held}:
            self.is_unsure = True  # a claim may have been committed after its worker had given up on it
        for claim in held:
            is_cancelled = running.get((claim.task_id, claim.attempt))
            if is_cancelled is None:
                claim.lose()
            else:
                claim.prove(self.proven_until)
            if is_cancelled:
                claim.cancel()

    def _prove(self, sent_at: float) -> None:
        self.proven_until = sent_at + float(settings.QUEUE_LEASE_SECONDS) * (1 - FENCE)
        self._beat_at = sent_at + float(settings.QUEUE_HEARTBEAT_SECONDS)

    def _lose(self, held: Iterable[Claim]) -> None:
        logger.warning("was declared lost: it ends")
        self.is_lost = True
        for claim in held:
            claim.lose()
        self.wind_down()

    def _save_progress(self, claim: Claim) -> None:
        if (progress := claim.unsaved_progress) is None or not claim.still_mine():
            return
        values = {
            "task": claim.task_id,
            "worker": self._worker,
            "attempt": claim.attempt,
            "progress": json.dumps(progress),
        }
        self._line.execute(sql.SAVE_PROGRESS, values)
        claim.progress_saved(progress)
        self.announce(claim.task_id)

    def _heed_stop(self) -> None:
        """Half of the grace is for finishing, the rest for reaching a checkpoint; then the process ends."""
        if os.getppid() != self._supervisor:
            self.wind_down()  # nobody is left to tell it
        for claim in self._claims:
            if claim.is_over_time():
                self._leave(claim, partial(claims.try_again, error=claim.over_time()))
        if self._told_to_stop_at is None or not self._claims:
            return
        waited = clock() - self._told_to_stop_at
        if self._is_urgent or waited > GRACE_SECONDS / 2:
            for claim in self._claims:
                claim.stop()
        if self._is_urgent or waited > GRACE_SECONDS:
            self._leave(self._claims[0], claims.release)

    def _leave(self, claim: Claim, write: claims.Write) -> None:
        """The process ends with a handler that does not. What else runs in its name is given back."""
        with working_on(task=claim.task_id, kind=claim.kind, attempt=claim.attempt):
            self._line.hang_up()  # the handler's connection and this thread's are two
            try:
                is_written = write(claim.token)
                others = claims.give_back_unknown(self._worker, in_hand=())  # also what was claimed for later
                forget_worker(self._worker)
                logger.warning("left by force: %s; %d others given back", is_written, others)
            except (
                DatabaseError,
                InterfaceError,
                psycopg.Error,
            ) as error:  # the driver's own: a health check's
                logger.warning("is left to the reaper: %s", error)
        os._exit(1)  # not 0: the supervisor of a draining fleet would take it for drained
