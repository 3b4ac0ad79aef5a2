"""The main loop: claim, run, record what came of it."""

from __future__ import annotations

import logging
import os
import secrets
import time
import traceback
from collections.abc import Callable, Collection
from functools import partial

import psycopg
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from config import env
from taskqueue.errors import Cancelled, ClaimLost, HostBusy, ShuttingDown
from taskqueue.handlers import (
    Claim,
    Delay,
    Done,
    Fail,
    Kind,
    Outcome,
    Park,
    Registry,
    Retry,
    WaitForChildren,
    clock,
)
from taskqueue.models import Token
from taskqueue.services import claims
from taskqueue.services.families import end_parent
from taskqueue.worker.pulse import Pulse, proven_seconds
from taskqueue.worker.ticks import Ticker, tick

logger = logging.getLogger(__name__)

# Decided by type, never by the words of a message (Q8): the database or the network was not there.
DATABASE_GONE: tuple[type[Exception], ...] = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)
TRANSIENT: tuple[type[Exception], ...] = (*DATABASE_GONE, ConnectionError, TimeoutError)

DATABASE_RETRY_SECONDS = 1.0
TRACEBACK_LINES = 12  # of the innermost frames, kept in the task's history

Write = Callable[[Token], bool]  # one guarded lifecycle write; False: the claim was lost


class WorkerLoop:
    """Runs tasks, one at a time, until it is told to stop or, draining, until none is claimable."""

    def __init__(
        self,
        registry: Registry,
        *,
        kinds: Collection[str] | None = None,
        name: str = "",
        is_draining: bool = False,
    ) -> None:
        """`kinds` are those of the registry's to run, by default all; operators know it by `name`."""
        self._registry = registry
        self._kinds = {
            kind.name: kind for kind in registry.kinds.values() if kinds is None or kind.name in kinds
        }
        self._limits = {kind.name: kind.max_attempts for kind in self._kinds.values()}
        self._is_draining = is_draining
        # An incarnation: neither a restart nor a reused process id repeats it (Q5).
        self.name = f"{(name or env.HOSTNAME)[:100]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.pulse = Pulse(self.name, sorted(self._kinds))

    def run(self) -> None:
        """Work. Returns after the current task once `stop` was called."""
        logger.info("worker=%s kinds=%d release=%s started", self.name, len(self._kinds), settings.RELEASE)
        ticker = Ticker(self._registry)
        self.pulse.start()
        try:
            tick(self._registry)  # before the first claim: draining starts with what is due
            ticker.start()
            self._work()
        finally:
            ticker.stop()
            self.pulse.stop()
            logger.info("worker=%s stopped", self.name)

    def stop(self, *_: object) -> None:
        """Finish the current task or give it back within the grace period (Q12). Fit for a signal handler."""
        self.pulse.wind_down()

    def stop_now(self, *_: object) -> None:
        """Give the current task back and exit at once. Fit for a signal handler."""
        self.pulse.wind_down(is_urgent=True)

    def step(self) -> bool:
        """Claim and run one task; False when none is claimable."""
        sent_at = clock()
        task = claims.claim_next(worker=self.name, kinds=self._limits)
        if task is None:
            return False
        claim = Claim(task, proven_until=sent_at + proven_seconds())
        logger.info("%s started", _describe(claim))
        with self.pulse.watching(claim):
            ending = attempt(self._kinds[claim.kind], claim)
            is_recorded = record(claim, ending)
        words = getattr(ending, "func", ending).__name__ if is_recorded else "claim lost, nothing recorded"
        logger.info("%s %s after %.1f s", _describe(claim), words, clock() - sent_at)
        if claim.parent_id is not None:
            end_parent(claim.parent_id)
        return True

    def _work(self) -> None:
        while not self.pulse.is_winding_down:
            self.pulse.wake.clear()
            try:
                if self.step():
                    continue
                if self._is_draining:
                    return
                wait_seconds = float(settings.QUEUE_POLL_SECONDS)
            except DATABASE_GONE as gone:
                logger.warning("worker=%s cannot reach the database: %s", self.name, gone)
                wait_seconds = DATABASE_RETRY_SECONDS
            finally:
                close_old_connections()  # a broken connection ends with its task
            self.pulse.wake.wait(wait_seconds)


def attempt(kind: Kind, claim: Claim) -> Write:
    """Run the handler; returns the write that records what came of it. Catches everything, and alone may."""
    try:
        claim.checkpoint()  # the process may have been stopped since the claim for longer than its lease
        return _write_of(kind.run(claim))
    except ClaimLost:
        return nothing
    except Cancelled:
        return claims.acknowledge_cancel
    except ShuttingDown:
        return claims.release
    except HostBusy as busy:
        return partial(claims.delay, until=busy.until, reason=str(busy))
    except TRANSIENT + kind.transient as error:
        return partial(claims.try_again, error=_words(error), detail=_where(error))
    except BaseException as error:  # also SystemExit: a handler must not end the worker
        return partial(claims.fail, error=_words(error), detail=_where(error))


def record(claim: Claim, write: Write) -> bool:
    """Write how the attempt ended; False if the claim was lost.

    A database that is away is waited for while the lease can be proven; after that the reaper decides.
    """
    while True:
        try:
            claim.save_progress()
            return write(claim.token)
        except DATABASE_GONE as gone:
            close_old_connections()
            if not claim.still_mine():
                logger.warning("%s could not be recorded: %s", _describe(claim), gone)
                return False
            time.sleep(DATABASE_RETRY_SECONDS)
        except Exception as error:
            # A handler may return what no row can hold. If even that cannot be said, the process ends.
            logger.exception("%s has an outcome that cannot be recorded", _describe(claim))
            if getattr(write, "func", None) is claims.fail:
                raise
            write = partial(claims.fail, error=f"the outcome cannot be recorded: {_words(error)}")


def nothing(token: Token) -> bool:
    """The claim was lost: whoever has the task now records it."""
    return False


def _write_of(outcome: Outcome) -> Write:
    match outcome:
        case Done(note):
            return partial(claims.finish, note=note)
        case Park(until, note):
            return partial(claims.park, until=until, note=note)
        case Retry(reason, after):
            return partial(claims.try_again, error=reason, after=after)
        case Fail(reason):
            return partial(claims.fail, error=reason)
        case Delay(until, reason):
            return partial(claims.delay, until=until, reason=reason)
        case WaitForChildren(note):
            return partial(claims.wait, note=note)
    raise TypeError(f"the handler returned {outcome!r}, which is no outcome")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _where(error: BaseException) -> str:
    lines = "".join(traceback.format_tb(error.__traceback__)).splitlines()
    return "\n".join(["", *lines[-TRACEBACK_LINES:]])


def _describe(claim: Claim) -> str:
    return f"task={claim.task_id} kind={claim.kind} attempt={claim.attempt} release={settings.RELEASE}"
