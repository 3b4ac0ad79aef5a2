"""The main loop: record what is done, claim, run."""

from __future__ import annotations

import logging
import random
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from config import env
from config.logs import working_on
from taskqueue.handlers import Claim, Kind, Registry, clock
from taskqueue.services import claims
from taskqueue.services.claiming import Claimer, Ended, Step
from taskqueue.services.claims import Write
from taskqueue.services.families import end_parent
from taskqueue.sql.claiming import FORGET
from taskqueue.worker.attempts import DATABASE_GONE, attempt, describe, record
from taskqueue.worker.line import Line
from taskqueue.worker.pulse import Pulse
from taskqueue.worker.ticks import tick
from taskqueue.worker.traces import restore_signals, signal_handlers

logger = logging.getLogger(__name__)

DATABASE_RETRY_SECONDS = 1.0
BATCHES_IN_A_ROW = 8  # of short tasks, then a task of any kind gets a turn
MOST_SHORT = 256  # short tasks in hand
SHORT_SECONDS = 0.05  # they should take together
LEVELS = {"fail": logging.ERROR, "try_again": logging.WARNING}  # of the line that says how a task ended
LONGEST_SHORT_SECONDS = 1.0  # they may take: the rest is given back


class WorkerLoop:
    """Runs tasks, one at a time, until it is told to stop or, draining, until none is claimable."""

    def __init__(
        self,
        registry: Registry,
        *,
        kinds: Collection[str] | None = None,
        name: str = "",
        incarnation: str = "",
        is_draining: bool = False,
        line: Line | None = None,
        supervisor: int | None = None,
    ) -> None:
        """`kinds` are those of the registry's to run, by default all; operators know it by `name`.

        `line` replaces the worker's own session. `supervisor` is the process whose end ends it, by default
        its parent; a child that starts after a pause may not ask then, for the parent may be dead.
        """
        self._registry = registry
        self._kinds = {
            kind.name: kind for kind in registry.kinds.values() if kinds is None or kind.name in kinds
        }
        self._is_draining = is_draining
        # Neither a restart nor a reused process id repeats it (Q5).
        self.name = f"{(name or env.HOSTNAME)[:100]}:{incarnation or secrets.token_hex(8)}"
        self.line = line or Line(self.name)
        self.pulse = Pulse(self.name, sorted(self._kinds), self.line, supervisor=supervisor)
        self._any = self._claimer(list(self._kinds.values()))
        self._short = self._claimer([kind for kind in self._kinds.values() if kind.is_short])
        self._ended: list[tuple[Claim, Ended]] = []
        self._is_unsure = False  # whether the last claim was heard of: the connection broke in between
        self._is_shorts_turn = False
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="line")
        self._short_seconds = SHORT_SECONDS
        self._signal_handlers: Mapping[int, Any] = {}

    def run(self) -> bool:
        """Returns, after the current task, whether it ended as it was told; else it needs a successor."""
        with working_on(worker=self.name):
            return self._live()

    def _live(self) -> bool:
        logger.info("started with %d kinds", len(self._kinds))
        self.pulse.start()
        self._signal_handlers = signal_handlers()
        try:
            if self._is_draining:
                tick(self._registry)  # draining starts with what is due
            is_ended = self._work()
            self._record_ended()
        finally:
            self.pulse.stop()
            self._leave()
            logger.info("stopped")
        return is_ended

    def stop(self, *_: object) -> None:
        """Finish the current task or give it back within the grace period (Q12). Fit for a signal handler."""
        self.pulse.wind_down()

    def stop_now(self, *_: object) -> None:
        """Give the current task back and exit at once. Fit for a signal handler."""
        self.pulse.wind_down(is_urgent=True)

    def step(self) -> bool:
        """Claim and run one task, and record its end; False when none is claimable. No `run` needed."""
        if not self.pulse.proven_until:
            self.pulse.register()
        has_run = self._advance()
        self._record_ended()
        return has_run

    def _work(self) -> bool:
        while not self.pulse.is_winding_down and not self.pulse.is_too_large:
            self.line.be_awake()
            try:
                if self._advance():
                    continue
                if self._is_draining and clock() < self.pulse.proven_until:
                    return True
                self.pulse.publish()
                wait_seconds = float(settings.QUEUE_POLL_SECONDS) * random.uniform(0.8, 1.2)  # noqa: S311
            except DATABASE_GONE as gone:
                logger.warning("cannot reach the database: %s", gone)
                self._is_unsure = True  # what was claimed before the statement that failed may not have run
                wait_seconds = DATABASE_RETRY_SECONDS
            finally:
                close_old_connections()  # a broken connection ends with its task
            self._sleep(wait_seconds)
        return self.pulse.is_winding_down and not self.pulse.is_lost

    def _advance(self) -> bool:
        """Record what is done, claim and run what comes next; False when nothing is claimable."""
        if clock() >= self.pulse.proven_until:
            self._drop_ended()  # the reaper decides; and nothing is started on a lease that is not proven
            return False
        if self._is_shorts_turn:
            self._is_shorts_turn = False
            self._run_batches()
            return True  # there may be others
        step = self._step(self._any, 1)
        self._is_shorts_turn = any(self._kinds[task.kind].is_short for task in step.claimed)
        self._run(step, is_batch=False)
        return bool(step.rows)

    def _run_batches(self) -> None:
        """Some batches of short tasks: while one runs, the last is recorded and the next one claimed."""
        batch = self._step(self._short, self._most_short())
        for _ in range(BATCHES_IN_A_ROW):
            if not batch.rows or self.pulse.is_winding_down:
                break
            done, self._ended = self._ended, []
            is_sending = threading.Event()
            step = self._beside.submit(self._send, self._short, done, self._most_short(), is_sending.set)
            is_sending.wait()  # else this thread would keep the interpreter until the batch is done
            try:
                self._run(batch, is_batch=True)
            except BaseException:
                self._is_unsure = True  # nobody will run what has been claimed meanwhile
                if step.exception() is not None:
                    self._ended = done + self._ended
                raise
            if (answer := self._hear(step.result, done)) is None:
                return
            batch = answer
        self._run(batch, is_batch=True)

    def _step(self, claimer: Claimer, most: int) -> Step:
        """Record what is done and claim, at once."""
        if self._is_unsure or self.pulse.is_unsure:  # nothing is in hand here but what has ended
            claims.give_back_unknown(self.name, in_hand=[claim.task_id for claim, _ in self._ended])
            self._is_unsure = self.pulse.is_unsure = False
        done, self._ended = self._ended, []
        step = self._hear(partial(self._send, claimer, done, most), done)
        return self._step(claimer, most) if step is None else step

    def _send(
        self,
        claimer: Claimer,
        done: Sequence[tuple[Claim, Ended]],
        most: int,
        on_begin: Callable[[], None] = lambda: None,
    ) -> Step:
        on_begin()
        return claimer.step([ended for _, ended in done], most=most)

    def _hear(self, answer: Callable[[], Step], done: list[tuple[Claim, Ended]]) -> Step | None:
        """What was claimed; None when the statement was refused, which says nothing of what is claimable.

        What could not be recorded is done still, and has to be recorded later.
        """
        try:
            step = answer()
        except DATABASE_GONE:
            self._ended = done + self._ended
            self._is_unsure = True
            raise
        except Exception:
            if not done:
                raise
            logger.exception("cannot record what was done: one by one")
            for claim, ended in done:
                record(claim, ended.write())
            return None
        if step.finished < len(done):
            logger.warning("lost %d of its claims", len(done) - step.finished)
        self._end_parents(claim for claim, _ in done)
        return step

    def _run(self, step: Step, *, is_batch: bool) -> None:
        if not step.rows:
            return
        proven_until, began = self.pulse.proven_until, clock()
        held = [
            Claim(task, proven_until=proven_until, time_limit=self._kinds[task.kind].time_limit)
            for task in step.claimed
        ]
        with self.pulse.watching(held):
            for claim in held:
                if self.pulse.is_winding_down or (is_batch and clock() - began > LONGEST_SHORT_SECONDS):
                    record(claim, claims.release)
                else:
                    self._run_one(claim, level=logging.DEBUG if is_batch else logging.INFO)
        if is_batch:
            spent = (clock() - began) / len(held)
            self._short_seconds = 0.8 * self._short_seconds + 0.2 * spent

    def _run_one(self, claim: Claim, *, level: int) -> None:
        with working_on(task=claim.task_id, kind=claim.kind, attempt=claim.attempt, worker=self.name):
            began = clock()
            logger.log(level, "started")
            if is_shown := bool(claim.subject or claim.account):
                self.pulse.announce(claim.task_id)
            ending = attempt(self._kinds[claim.kind], claim)
            restore_signals(self._signal_handlers)
            if isinstance(ending, Ended):
                self._ended.append((claim, ending))
                words = "done"
            else:
                is_recorded = record(claim, ending)
                words = _words_of(ending) if is_recorded else "lost, nothing recorded"
                level = max(level, LEVELS.get(_name_of(ending), level))
                self._end_parents([claim])
            if is_shown:
                self.pulse.announce(claim.task_id)
            logger.log(level, "%s after %.3f s", words, clock() - began)

    def _record_ended(self) -> None:
        """Nothing that is done stays unrecorded while the lease can be proven."""
        if not self._ended:
            return
        try:
            self._step(self._any, most=0)
        except DATABASE_GONE:
            done, self._ended = self._ended, []
            for claim, ended in done:
                record(claim, ended.write())

    def _drop_ended(self) -> None:
        for claim, _ in self._ended:
            logger.warning("%s could not be recorded before its lease was over", describe(claim))
        self._ended = []

    def _end_parents(self, children: Iterable[Claim]) -> None:
        for parent_id in {claim.parent_id for claim in children if claim.parent_id is not None}:
            end_parent(parent_id)

    def _most_short(self) -> int:
        return max(1, min(MOST_SHORT, int(SHORT_SECONDS / max(self._short_seconds, 1e-6))))

    def _sleep(self, seconds: float) -> None:
        try:
            self.line.sleep(seconds)
        except DATABASE_GONE as gone:
            logger.warning("has lost the database: %s", gone)

    def _claimer(self, kinds: Iterable[Kind]) -> Claimer:
        limits = {kind.name: kind.max_attempts for kind in kinds}
        return Claimer(self.name, limits, self.line.execute)

    def _leave(self) -> None:
        try:
            if self._is_unsure:
                claims.give_back_unknown(self.name, in_hand=[])
            self.line.execute(FORGET, {"worker": self.name})
        except DATABASE_GONE as gone:
            logger.warning("leaves its row behind: %s", gone)
        self._beside.shutdown()
        self.line.close()


def _words_of(write: Write) -> str:
    """What was recorded, and for a failure why."""
    error = getattr(write, "keywords", {}).get("error")
    return f"{_name_of(write)} ({error})" if error else _name_of(write)


def _name_of(write: Write) -> str:
    name: str = getattr(write, "func", write).__name__
    return name
