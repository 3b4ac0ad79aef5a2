"""What any worker does for the whole queue: no leader, and safe to run everywhere at once (Q2, Q9)."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from functools import partial

from django.db import InterfaceError, OperationalError, close_old_connections

from taskqueue.handlers import Registry
from taskqueue.services import claims, retention
from taskqueue.services.families import end_parents
from taskqueue.services.schedules import Due, enqueue_due

logger = logging.getLogger(__name__)

TICK_SECONDS = 5.0
TICKS_BETWEEN_PRUNING = 120  # ten minutes


def tick(registry: Registry) -> None:
    """Lost claims are reaped, parents ended, what is due is queued and keys that nobody needs are freed.

    Each by itself: an app's broken schedule must not keep the reaper from its work.
    """
    for step in (claims.reap, end_parents, retention.free_keys):
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
    """A thread for the ticks: one worker that is busy for an hour is still a fleet that keeps its schedule.

    Apart from the pulse, because an app's schedule may be slow, and no heartbeat may wait for it.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        ticks = random.randrange(TICKS_BETWEEN_PRUNING)  # noqa: S311 - spreads the fleet's load
        while not self._ended.wait(TICK_SECONDS * random.uniform(0.8, 1.2)):  # noqa: S311
            tick(self._registry)
            ticks += 1
            if ticks % TICKS_BETWEEN_PRUNING == 0:
                _safely(retention.prune)
            close_old_connections()
