"""What any fleet member does for the whole queue: no leader, and safe to run everywhere at once (Q2, Q9)."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable
from functools import partial

from django.db import InterfaceError, OperationalError, close_old_connections

from taskqueue.handlers import Registry
from taskqueue.services import claims, retention, watching
from taskqueue.services.families import end_parents
from taskqueue.services.schedules import Due, enqueue_due

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # how late what becomes due may join its line
TICK_SECONDS = 5.0
TICKS_BETWEEN_PRUNING = 120  # ten minutes


def tick(registry: Registry) -> None:
    """Lost claims are reaped, parents ended, what is due is queued and keys that nobody needs are freed.

    Each by itself: an app's broken schedule must not keep the reaper from its work.
    """
    recover = (claims.reap, claims.promote, claims.free_turns, end_parents)
    for step in (*recover, retention.free_keys, watching.sample):
        _safely(step)
    for kind, due in registry.schedules.items():
        _safely(partial(_enqueue, kind, due))


def _enqueue(kind: str, due: Callable[[], Due]) -> None:
    enqueue_due(kind, due())


def _safely(step: Callable[[], object]) -> None:
    try:
        step()
    except (OperationalError, InterfaceError) as gone:
        logger.warning("tick: %s", gone)
    except Exception:
        logger.exception("tick: %s failed", step)


class Ticker:
    """A process beside the workers: a fleet of one that is busy for an hour still keeps its schedule.

    It has a connection of its own, which no worker needs to have free, and no lease to lose: whatever it
    does, any other fleet's ticker does as well.
    """

    def __init__(self, registry: Registry, *, supervisor: int | None = None) -> None:
        self._registry = registry
        self._supervisor = os.getppid() if supervisor is None else supervisor
        self._is_ended = False

    def stop(self, *_: object) -> None:
        """Fit for a signal handler."""
        self._is_ended = True

    def run(self) -> None:
        """Tick until told to stop, or until nobody is left to tell."""
        ticks = random.randrange(TICKS_BETWEEN_PRUNING)  # noqa: S311 - spreads the fleet's load
        tick_at = 0.0
        while not self._is_ended and os.getppid() == self._supervisor:
            if time.monotonic() >= tick_at:
                tick_at = time.monotonic() + TICK_SECONDS * random.uniform(0.8, 1.2)  # noqa: S311
                tick(self._registry)
                ticks += 1
                if ticks % TICKS_BETWEEN_PRUNING == 0:
                    _safely(retention.prune)
            else:
                _safely(claims.promote)
            close_old_connections()
            time.sleep(LOOK_SECONDS)
