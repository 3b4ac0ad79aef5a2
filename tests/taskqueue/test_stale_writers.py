"""Q5: a write under a claim that is not current changes nothing and says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.errors import ClaimLost
from taskqueue.models import ENDED, Task, TaskStatus, Token
from taskqueue.services import claims
from tests.taskqueue.factories import RunningTaskFactory, claim_of

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(hours=1)
WRITES: dict[str, Callable[[Token], object]] = {
    "beat": lambda token: claims.beat(token) is not None,
    "progress": lambda token: claims.save_progress(token, {"done": 1, "total": 2, "note": ""}),
    "hold": claims.hold,
    "finish": claims.finish,
    "park": lambda token: claims.park(token, until=LATER),
    "delay": lambda token: claims.delay(token, until=LATER, reason="busy"),
    "release": claims.release,
    "wait": claims.wait,
    "acknowledge cancel": claims.acknowledge_cancel,
    "try again": lambda token: claims.try_again(token, error="timeout"),
    "fail": lambda token: claims.fail(token, error="broken"),
}
CHANGED: dict[str, dict[str, Any]] = {
    "a later attempt": {"attempts": 2},
    "another worker": {"worker": "worker-2"},
    **{
        str(status): {
            "status": status,
            "worker": "",
            "lease_expires_at": None,
            "finished_at": Now() if status in ENDED else None,
        }
        for status in TaskStatus
        if status != TaskStatus.RUNNING
    },
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_stale_write_changes_nothing(write: Callable[[Token], object], changed: dict[str, Any]) -> None:
    task = RunningTaskFactory.create()
    token = task.token
    Task.objects.filter(pk=task.pk).update(**changed)
    before = Task.objects.filter(pk=task.pk).values().get()

    assert not write(token)

    assert Task.objects.filter(pk=task.pk).values().get() == before


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_same_write_of_the_current_claim_is_made(write: Callable[[Token], object]) -> None:
    task = RunningTaskFactory.create()

    assert write(task.token)


def test_a_current_beat_and_a_stale_one_answer_differently() -> None:
    task = RunningTaskFactory.create()

    assert claims.beat(task.token) is False
    assert claims.beat(replace(task.token, attempt=2)) is None


def test_a_lease_that_ended_is_not_revived() -> None:
    """Q6: whoever was declared lost stays lost, even before the reaper comes."""
    task = RunningTaskFactory.create(lease_expires_at=Now() - timedelta(seconds=1))
    before = Task.objects.filter(pk=task.pk).values().get()

    assert claims.beat(task.token) is None

    assert Task.objects.filter(pk=task.pk).values().get() == before


def test_work_that_ends_after_its_lease_but_before_the_reaper_is_kept() -> None:
    task = RunningTaskFactory.create(lease_expires_at=Now() - timedelta(seconds=1))

    assert claims.finish(task.token)


def test_a_lost_claim_holds_nothing_and_knows_it() -> None:
    task = RunningTaskFactory.create()
    claim = claim_of(task)
    Task.objects.filter(pk=task.pk).update(attempts=2)

    with pytest.raises(ClaimLost), transaction.atomic():
        claim.hold()

    assert not claim.still_mine()


def test_a_lease_that_cannot_be_proven_starts_nothing() -> None:
    """Q5: the token protects the rows, fencing the outside world."""
    claim = claim_of(RunningTaskFactory.create(), proven_until=0.0)

    assert not claim.still_mine()
    with pytest.raises(ClaimLost):
        claim.checkpoint()
    with pytest.raises(ClaimLost), transaction.atomic():
        claim.hold()


def test_a_claim_that_was_lost_is_not_proven_again() -> None:
    claim = claim_of(RunningTaskFactory.create(), proven_until=0.0)
    assert not claim.still_mine()

    claim.prove(float("inf"))

    assert not claim.still_mine()


@pytest.mark.django_db(transaction=True)
def test_holding_outside_a_transaction_is_refused() -> None:
    claim = claim_of(RunningTaskFactory.create())

    with pytest.raises(RuntimeError, match="outside a transaction"):
        claim.hold()
