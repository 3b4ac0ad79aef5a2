"""The whole pipeline in the test's own process: every tick, and every task that is claimable."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models.functions import Now
from django.test import override_settings

from taskqueue.handlers import known
from taskqueue.models import Task
from taskqueue.services.claims import promote
from taskqueue.worker import WorkerLoop
from taskqueue.worker.ticks import tick
from tests.taskqueue.lines import SharedLine

ROUNDS = 50


def settle() -> None:
    """Run until a tick queues nothing and nothing is unfinished. Parked tasks do not wait for their time."""
    loop = _worker()
    for _ in range(ROUNDS):
        tick(known())
        worked = False
        while loop.step():
            worked = True
        if not _hurry() and not worked:
            return
    raise AssertionError(f"still at work: {list(Task.objects.unfinished().values('kind', 'status', 'note'))}")


def advance_to(kind: str) -> None:
    """Run what comes before the first task of the kind, and nothing of it."""
    loop = _worker(set(known().kinds) - {kind})
    wanted = Task.objects.unfinished().filter(kind=kind)
    for _ in range(ROUNDS):
        tick(known())
        while not wanted.exists() and loop.step():
            pass
        if wanted.exists():
            return
        _hurry()
    raise AssertionError(f"no task of {kind} came")


def _worker(kinds: Collection[str] | None = None) -> WorkerLoop:
    """One that only steps: nothing beats for it meanwhile, so its lease lasts."""
    loop = WorkerLoop(known(), kinds=kinds, line=SharedLine())
    with override_settings(QUEUE_LEASE_SECONDS=3_600):
        loop.pulse.register()
    return loop


def _hurry() -> int:
    hurried = Task.objects.unfinished().filter(not_before__gt=Now()).update(not_before=Now())
    promote()
    return hurried


def next_cycle() -> None:
    """Let every schedule be in a new cycle, as if its period had passed."""
    Task.objects.exclude(dedupe_key=None).update(dedupe_key=None, key_until=None)
