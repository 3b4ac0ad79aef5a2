"""Q10: cancel is a flag."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from taskqueue.errors import Cancelled
from taskqueue.models import Task, TaskStatus, Token
from taskqueue.services import claims, enqueue, enqueue_children, request_cancel, retry
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    claim,
    claim_of,
)
from tests.taskqueue.lines import look

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(hours=1)


def reloaded(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


@pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.AWAITING_BATCH, TaskStatus.WAITING])
def test_what_waits_ends_at_once(status: TaskStatus) -> None:
    task = TaskFactory.create(status=status, payload={"batch_ids": ["b1"]}, dedupe_key="work:1")

    assert request_cancel(task.pk)

    after = reloaded(task)
    assert (after.status, after.payload) == (TaskStatus.CANCELLED, {"batch_ids": ["b1"]})
    assert after.finished_at is not None
    assert enqueue("test.work", key="work:1").created


def test_what_runs_is_flagged_until_it_acknowledges() -> None:
    task = RunningTaskFactory.create()
    claim = claim_of(task)
    look(claim)
    claim.checkpoint()

    assert request_cancel(task.pk)

    assert reloaded(task).state() == "cancelling"
    look(claim)
    with pytest.raises(Cancelled):
        claim.checkpoint()
    assert claims.acknowledge_cancel(task.token)
    assert reloaded(task).state() == "cancelled"


def test_a_cancelled_handler_stops_at_its_next_checkpoint() -> None:
    claim = claim_of(RunningTaskFactory.create())
    claim.checkpoint()

    claim.cancel()

    with pytest.raises(Cancelled):
        claim.checkpoint()


@pytest.mark.parametrize("factory", [DoneTaskFactory, FailedTaskFactory])
def test_what_has_ended_stays_as_it_is(factory: type[TaskFactory]) -> None:
    task = factory.create()

    assert not request_cancel(task.pk)

    assert reloaded(task).status == task.status


def test_asking_twice_changes_nothing_more() -> None:
    task = RunningTaskFactory.create()
    assert request_cancel(task.pk)
    asked_at = reloaded(task).cancel_requested_at

    assert not request_cancel(task.pk)

    assert reloaded(task).cancel_requested_at == asked_at


@pytest.mark.parametrize(
    "leave",
    [
        lambda token: claims.park(token, until=LATER),
        lambda token: claims.delay(token, until=LATER, reason="busy"),
        claims.release,
        claims.wait,
        lambda token: claims.try_again(token, error="timeout"),
        lambda token: claims.fail(token, error="broken"),
    ],
    ids=["park", "delay", "release", "wait", "try again", "fail"],
)
def test_a_cancel_that_meets_the_end_of_the_attempt_wins(leave: Callable[[Token], bool]) -> None:
    task = RunningTaskFactory.create()
    request_cancel(task.pk)

    assert leave(task.token)

    after = reloaded(task)
    assert after.status == TaskStatus.CANCELLED
    assert after.finished_at is not None


def test_work_that_is_done_is_done_however_late_the_cancel() -> None:
    task = RunningTaskFactory.create()
    request_cancel(task.pk)

    assert claims.finish(task.token)

    assert reloaded(task).status == TaskStatus.DONE


def test_a_cancelled_parent_takes_its_descendants_with_it() -> None:
    """Q11: whatever waits below it ends, what runs is flagged, what has ended stays."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    pending, parked = (
        TaskFactory.create(parent=parent, status=status)
        for status in (TaskStatus.PENDING, TaskStatus.AWAITING_BATCH)
    )
    grandchild = TaskFactory.create(parent=TaskFactory.create(parent=parent, status=TaskStatus.WAITING))
    running = RunningTaskFactory.create(parent=parent)
    done = DoneTaskFactory.create(parent=parent)
    stranger = TaskFactory.create()

    assert request_cancel(parent.pk)

    for task in (parent, pending, parked, grandchild):
        assert reloaded(task).status == TaskStatus.CANCELLED
    assert reloaded(running).is_cancelling
    assert reloaded(done).status == TaskStatus.DONE
    assert reloaded(stranger).status == TaskStatus.PENDING


def test_children_added_after_the_flag_end_with_the_acknowledgement() -> None:
    parent = RunningTaskFactory.create()
    request_cancel(parent.pk)
    enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}])

    assert claims.wait(parent.token)

    assert set(Task.objects.values_list("status", flat=True)) == {TaskStatus.CANCELLED}


def test_a_cancelled_task_can_be_retried_and_is_not_cancelled_again() -> None:
    task = TaskFactory.create()
    request_cancel(task.pk)

    assert retry(task.pk)

    claimed = claim()
    assert claimed is not None
    again = claim_of(claimed)
    look(again)
    again.checkpoint()
