"""Q5: a write under a claim that is not current changes nothing and says so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.errors import ClaimLost
from taskqueue.handlers import clock
from taskqueue.models import ENDED, Task, TaskStatus, Token, Worker
from taskqueue.services import claims
from taskqueue.services.claiming import Claimer, Ended
from tests.taskqueue.factories import RunningTaskFactory, claim_of, lose
from tests.taskqueue.lines import look

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(hours=1)
WRITES: dict[str, Callable[[Token], object]] = {
    "step": lambda token: Claimer(token.worker, {"test.work": 5}).step([Ended(token)], most=0).finished,
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


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_a_beat_tells_a_stale_claim_that_it_is_lost_and_changes_nothing_of_its_task(
    changed: dict[str, Any],
) -> None:
    """Q6: progress, too, is a write under the claim."""
    task = RunningTaskFactory.create()
    stale = claim_of(task)
    Task.objects.filter(pk=task.pk).update(**changed)
    before = Task.objects.filter(pk=task.pk).values().get()
    stale.progress(1, 2)

    assert not look(stale).is_lost  # the worker lives: it is this claim that it has no more

    assert not stale.still_mine()
    assert Task.objects.filter(pk=task.pk).values().get() == before


def test_a_beat_tells_current_claims_from_stale_ones_and_proves_only_those() -> None:
    current, stale = (claim_of(task) for task in RunningTaskFactory.create_batch(2))
    Task.objects.filter(pk=stale.task_id).update(attempts=2)

    pulse = look(current, stale)

    assert (current.still_mine(), stale.still_mine()) == (True, False)
    assert pulse.proven_until > clock()


def test_one_lost_claim_among_many_ended_is_the_only_one_not_recorded() -> None:
    """Guarded row by row: one commit for all of them takes nobody's claim away."""
    mine, others = RunningTaskFactory.create_batch(2)
    tokens = [mine.token, others.token]
    Task.objects.filter(pk=others.pk).update(worker="worker-2")

    step = Claimer("worker-1", {"test.work": 5}).step([Ended(token) for token in tokens], most=0)

    assert step.finished == 1
    assert Task.objects.get(pk=mine.pk).status == TaskStatus.DONE
    assert Task.objects.get(pk=others.pk).status == TaskStatus.RUNNING


def test_a_lease_that_ended_is_not_revived() -> None:
    """Q6: whoever was declared lost stays lost, even before the reaper comes."""
    task = RunningTaskFactory.create()
    claim = claim_of(task)
    lose()
    before = Task.objects.filter(pk=task.pk).values().get()
    lease = Worker.objects.values().get()

    assert look(claim).is_lost

    assert not claim.still_mine()
    assert Task.objects.filter(pk=task.pk).values().get() == before
    assert Worker.objects.values().get() == lease


def test_work_that_ends_after_its_lease_but_before_the_reaper_is_kept() -> None:
    task = RunningTaskFactory.create()
    lose()

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
