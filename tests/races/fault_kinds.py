"""Kinds whose handlers leave traces: an effect is a row, written in one transaction under the claim.

Effects are rows of the queue that have ended: nobody runs them and nobody is told of them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.db import transaction
from django.db.models.functions import Now

from taskqueue.handlers import Claim, Delay, Done, Outcome, Park, Registry, Retry, WaitForChildren
from taskqueue.models import Task, TaskStatus
from taskqueue.services import enqueue, enqueue_children, request_cancel
from taskqueue.services.claims import promote
from tests.taskqueue.waiting import until

EFFECT = "fault.effect"
GO = "fault.go"


def kinds(prefix: str = "fault", without: Collection[str] = ()) -> Registry:
    """The kinds, named `prefix`.once and so on, but for those `without`."""
    registry = Registry()
    bodies = (once, split, short, waits, waits_outside, parks, checks, stuck, holds)
    for body in (*bodies, returns, fails_once, delays_once, shows, cancels):
        if body.__name__ not in without:
            registry.handler(f"{prefix}.{body.__name__}", short=body is short)(body)
    return registry


def effects(task_id: int, word: str = "done") -> list[int]:
    """The attempts of the task that had this effect, in order."""
    found = Task.objects.filter(kind=EFFECT, subject=f"{word}:{task_id}").order_by("pk")
    return [effect.payload["attempt"] for effect in found]


def once(claim: Claim) -> Outcome:
    """Has its effect unless an earlier attempt had it."""
    with transaction.atomic():
        claim.hold()
        if not effects(claim.task_id):
            _have(claim)
    return Done()


def short(claim: Claim) -> Outcome:
    """Comes with many others. One whose payload says so waits."""
    return waits(claim) if claim.payload.get("waits") else once(claim)


def split(claim: Claim) -> Outcome:
    """Has two short children, and an effect beside them."""
    with transaction.atomic():
        claim.hold()
        prefix = claim.kind.rpartition(".")[0]
        enqueue_children(claim, f"{prefix}.short", [{"number": 1}, {"number": 2}])
        if not effects(claim.task_id):
            _have(claim)
    return WaitForChildren()


def waits(claim: Claim) -> Outcome:
    """Waits without a checkpoint until the test says go, then has its effect."""
    with transaction.atomic():
        claim.hold()
        _have(claim, "begun")
    until(_is_told)
    return once(claim)


def waits_outside(claim: Claim) -> Outcome:
    """`waits`, without the database: until there is a file."""
    with transaction.atomic():
        claim.hold()
        _have(claim, "begun")
    until(Path(claim.payload["file"]).exists)
    return once(claim)


def parks(claim: Claim) -> Outcome:
    """Comes back in ten minutes."""
    return Park(until=timedelta(minutes=10))


def returns(claim: Claim) -> Outcome:
    """Parks for ten minutes, and has its effect when it is back."""
    return Park(until=timedelta(minutes=10)) if _is_first(claim, "parked") else once(claim)


def fails_once(claim: Claim) -> Outcome:
    """The next attempt has its effect."""
    return Retry("the first of them fails") if _is_first(claim, "failed") else once(claim)


def delays_once(claim: Claim) -> Outcome:
    """Waits for its host for ten minutes, then has its effect."""
    return Delay(timedelta(minutes=10), "closed") if _is_first(claim, "delayed") else once(claim)


def shows(claim: Claim) -> Outcome:
    """Says how far it is, and has its effect when the pulse has saved that."""
    claim.progress(1, 2)
    until(partial(_is_saved, claim))
    return once(claim)


def _is_saved(claim: Claim) -> bool:
    claim.checkpoint()
    return claim.unsaved_progress is None


def cancels(claim: Claim) -> Outcome:
    """Has its effect, has itself cancelled and heeds it."""
    once(claim)
    request_cancel(claim.task_id)
    until(claim.checkpoint)
    raise AssertionError("it was not cancelled")


def checks(claim: Claim) -> Outcome:
    """Goes from checkpoint to checkpoint until one of them ends it."""
    with transaction.atomic():
        claim.hold()
        _have(claim, "begun")
    until(claim.checkpoint)
    raise AssertionError("nobody stopped it")


def stuck(claim: Claim) -> Outcome:
    """Waits without a checkpoint for longer than any grace."""
    with transaction.atomic():
        claim.hold()
        _have(claim, "begun")
    threading.Event().wait()
    raise AssertionError("nobody ends the wait")


def holds(claim: Claim) -> Outcome:
    """Has its effect, and commits it when the test says go."""
    with transaction.atomic():
        claim.hold()
        _have(claim)
        until(_is_told)
    return Done()


def say_go() -> None:
    enqueue(GO)


def hurry(*ids: int) -> bool:
    """Whether the first attempt of each is over; the next one need not wait for up to ten seconds."""
    tasks = Task.objects.filter(pk__in=ids)
    if tasks.filter(status=TaskStatus.PENDING, position=None, attempts__gt=0).update(not_before=Now()):
        promote()
    return not tasks.filter(status=TaskStatus.RUNNING, attempts=1).exists()


def is_done(*ids: int) -> bool:
    """Whether all of them are."""
    return Task.objects.filter(pk__in=ids, status=TaskStatus.DONE).count() == len(ids)


def is_held(task_id: int) -> bool:
    """Whether a transaction holds the task's claim."""
    with transaction.atomic():
        free = Task.objects.filter(pk=task_id).select_for_update(skip_locked=True)
        return not list(free)


def _is_told() -> bool:
    return Task.objects.filter(kind=GO).exists()


def _is_first(claim: Claim, word: str) -> bool:
    """Whether no attempt had this effect before; from now on one had."""
    with transaction.atomic():
        claim.hold()
        is_first = not effects(claim.task_id, word)
        if is_first:
            _have(claim, word)
    return is_first


def _have(claim: Claim, word: str = "done") -> None:
    Task.objects.create(
        kind=EFFECT,
        subject=f"{word}:{claim.task_id}",
        payload={"attempt": claim.attempt},
        status=TaskStatus.DONE,
        finished_at=Now(),
    )
