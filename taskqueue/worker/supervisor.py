"""The parent of the worker processes: it starts, replaces and stops them, and touches no database."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.db import connections

from taskqueue.worker import pulse

logger = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
HEALTHY_SECONDS = 30.0  # a child that lived as long did not die of its start
OBEYED = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)


@dataclass(frozen=True, slots=True)
class Child:
    """One start of a process. No restart and no other machine repeats the incarnation (Q5)."""

    number: int
    incarnation: str
    started_at: float
    pause_seconds: float


class Supervisor:
    """Keeps `count` children in `run_child(number)` until told to stop or, draining, until each returned.

    A child that crashed is replaced, after a pause that doubles while its successors crash too. Number 0 is
    the ticker.
    """

    def __init__(
        self,
        run_child: Callable[[int, str], bool],
        *,
        count: int,
        is_draining: bool = False,
        run_ticker: Callable[[], bool] | None = None,
        bury: Callable[[str], None] | None = None,
    ) -> None:
        """`run_child(number, incarnation)` returns whether the child ended as it was told.

        `run_ticker` runs beside the workers. `bury` hears of the incarnation that a new process replaces, in
        that process.
        """
        self._run_child = run_child
        self._run_ticker = run_ticker
        self._bury = bury
        self._count = count
        self._is_draining = is_draining
        self._children: dict[int, Child] = {}
        self._stops = 0

    def run(self) -> None:
        """Returns when the last child has ended."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGALRM, self._kill)
        _leave_database()
        for number in range(0 if self._run_ticker else 1, self._count + 1):
            self._start(number, pause_seconds=0.0)
        while self._children:
            pid, status = os.wait()
            if child := self._children.pop(pid, None):
                self._follow(child, os.waitstatus_to_exitcode(status))
            if not any(child.number for child in self._children.values()):
                self._tell(signal.SIGTERM)  # nobody is left for whom the ticker would tick

    def _follow(self, child: Child, code: int) -> None:
        if self._stops or (self._is_draining and code == 0):
            return
        if not child.number and not self._children:
            return  # its workers have gone
        pause = 0.0
        if time.monotonic() - child.started_at < HEALTHY_SECONDS + child.pause_seconds:
            pause = min(max(1.0, 2 * child.pause_seconds), LONGEST_PAUSE_SECONDS)
        logger.warning("worker %d ended with %d; another starts in %.0f s", child.number, code, pause)
        self._start(child.number, pause_seconds=pause, predecessor=child.incarnation)

    def _start(self, number: int, *, pause_seconds: float, predecessor: str = "") -> None:
        # A signal between fork and bookkeeping would miss the child, or run the parent's handler in it.
        signal.pthread_sigmask(signal.SIG_BLOCK, OBEYED)
        try:
            if self._stops:
                return
            child = Child(number, secrets.token_hex(8), time.monotonic(), pause_seconds)
            pid = os.fork()
            if pid == 0:
                self._live(child, predecessor)
            self._children[pid] = child
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, OBEYED)

    def _live(self, child: Child, predecessor: str) -> None:
        """The child's whole life. A terminal's Ctrl-C reaches it too, but only the parent's word counts."""
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, OBEYED)
            if self._bury and predecessor and child.number:
                self._bury(predecessor)
            time.sleep(child.pause_seconds)
            if child.number:
                is_ended = self._run_child(child.number, child.incarnation)
            else:
                is_ended = self._run_ticker is not None and self._run_ticker()
            code = 0 if is_ended else 1
        except BaseException:
            logger.exception("worker %d crashed", child.number)
        finally:
            logging.shutdown()
            os._exit(code)

    def _stop(self, *_: object) -> None:
        """The first signal asks the children to stop, the next one to stop at once; then they are killed."""
        self._stops += 1
        if self._stops == 1:
            signal.alarm(round(pulse.GRACE_SECONDS) + 2)
        self._tell(signal.SIGTERM if self._stops == 1 else signal.SIGQUIT)

    def _kill(self, *_: object) -> None:
        self._tell(signal.SIGKILL)

    def _tell(self, number: signal.Signals) -> None:
        for pid in list(self._children):
            with suppress(ProcessLookupError):  # a signal may come between its end and the bookkeeping
                os.kill(pid, number)


def _leave_database() -> None:
    """A connection shared by two processes would mix up their answers."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        if close_pool := getattr(connection, "close_pool", None):
            close_pool()
