"""Q5, Q6 and Q9 between connections: the holder, its heartbeat and the reaper."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, request_cancel
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def expire(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(lease_expires_at=Now() - timedelta(seconds=1))


def status_of(task: Task) -> str:
    return Task.objects.values_list("status", flat=True).get(pk=task.pk)


def test_a_held_claim_lets_its_heartbeat_pass() -> None:
    task = RunningTaskFactory.create()
    with transaction.atomic():
        assert claims.hold(task.token)
        assert elsewhere(partial(claims.beat, task.token)) is False


def test_a_held_claim_lets_a_cancel_be_asked_for() -> None:
    task = RunningTaskFactory.create()
    with transaction.atomic():
        assert claims.hold(task.token)
        assert elsewhere(partial(request_cancel, task.pk))


def test_a_held_claim_is_not_reaped_until_its_transaction_ends() -> None:
    """What commits with the hold was written under a current claim, even when the lease ends meanwhile."""
    task = RunningTaskFactory.create()
    expire(task)
    with transaction.atomic():
        assert claims.hold(task.token)
        assert elsewhere(claims.reap) == (0, 0)
        assert elsewhere(partial(status_of, task)) == TaskStatus.RUNNING

    assert claims.reap() == (1, 0)


def test_a_hold_that_comes_after_the_reaper_waits_and_finds_the_claim_lost() -> None:
    task = RunningTaskFactory.create()
    expire(task)

    def hold() -> bool:
        with transaction.atomic():
            return claims.hold(task.token)

    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.reap() == (1, 0)
            held = outlasting.enter_context(meanwhile(hold))
            until(somebody_waits)
        assert held.result(timeout=30) is False


def test_a_completion_that_meets_the_reaper_wins_or_loses_whole() -> None:
    """The finish locks first and the reaper steps over it; the row is done, and stays done."""
    task = RunningTaskFactory.create()
    expire(task)
    with transaction.atomic():
        assert claims.finish(task.token)
        assert elsewhere(claims.reap) == (0, 0)

    assert claims.reap() == (0, 0)
    assert status_of(task) == TaskStatus.DONE


def test_a_completion_after_the_reaper_changes_nothing() -> None:
    task = RunningTaskFactory.create()
    expire(task)
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.reap() == (1, 0)
            late = outlasting.enter_context(meanwhile(partial(claims.finish, task.token)))
            until(somebody_waits)
        assert late.result(timeout=30) is False

    assert status_of(task) == TaskStatus.PENDING


def test_many_reapers_reap_each_task_once() -> None:
    tasks = RunningTaskFactory.create_batch(30)
    for task in tasks:
        expire(task)

    counts = at_once([claims.reap] * 4)

    assert sum(reaped for reaped, _ in counts) == 30
    assert {len(errors) for errors in Task.objects.values_list("errors", flat=True)} == {1}


def test_a_cancel_that_meets_a_claim_flags_or_ends_but_is_never_lost() -> None:
    task = TaskFactory.create()
    with ExitStack() as outlasting:
        with transaction.atomic():
            claimed = claims.claim_next(worker="w1", kinds={"test.work": 5})
            assert claimed is not None
            cancel = outlasting.enter_context(meanwhile(partial(request_cancel, task.pk)))
            until(somebody_waits)
        assert cancel.result(timeout=30)

    assert status_of(task) == TaskStatus.RUNNING
    assert claims.beat(claimed.token) is True
