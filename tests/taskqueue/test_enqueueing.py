"""Q1: one insertion per key."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from taskqueue.errors import ClaimLost, KeyHeld
from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue, enqueue_children, request_cancel, retry
from tests.taskqueue.factories import (
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    claim,
    claim_of,
    lose,
)

pytestmark = pytest.mark.django_db


def test_a_second_enqueueing_with_the_key_gets_the_first_ones_task() -> None:
    first = enqueue("test.work", payload={"number": 1}, key="work:1")
    second = enqueue("test.work", payload={"number": 2}, key="work:1")

    assert (first.created, second.created) == (True, False)
    assert second.task_id == first.task_id
    assert Task.objects.get().payload == {"number": 1}


def test_tasks_without_a_key_never_collide() -> None:
    assert {enqueue("test.work").created, enqueue("test.work").created} == {True}
    assert Task.objects.count() == 2


def test_what_the_caller_says_is_what_the_row_holds() -> None:
    due = timezone.now() + timedelta(hours=1)
    parent = TaskFactory.create()
    queued = enqueue(
        "test.work",
        payload={"text": "50% of ‘it’"},
        subject="source:1",
        key="work:1",
        host="boards.example.com",
        priority=20,
        not_before=due,
        parent=parent.pk,
        account="person:1",
    )

    task = Task.objects.get(pk=queued.task_id)
    assert task.payload == {"text": "50% of ‘it’"}
    assert (task.subject, task.dedupe_key, task.host) == ("source:1", "work:1", "boards.example.com")
    assert (task.priority, task.not_before, task.account) == (20, due, "person:1")
    assert (task.parent, task.status, task.attempts) == (parent, TaskStatus.PENDING, 0)


def test_a_rolled_back_caller_queued_nothing() -> None:
    with transaction.atomic():
        enqueue("test.work", key="work:1")
        transaction.set_rollback(True)

    assert not Task.objects.exists()


@pytest.mark.parametrize("end", ["done", "failed", "cancelled", "reaped"])
def test_a_key_is_free_once_its_task_ended(end: str) -> None:
    task = RunningTaskFactory.create(dedupe_key="work:1", max_attempts=1)
    _end(task, end)

    assert enqueue("test.work", key="work:1").created


def test_a_task_that_is_retried_has_its_key_back() -> None:
    task = FailedTaskFactory.create(dedupe_key="work:1")

    assert retry(task.pk)

    again = enqueue("test.work", key="work:1")
    assert (again.created, again.task_id) == (False, task.pk)


@pytest.mark.parametrize("is_child", [False, True], ids=["its own", "a child's"])
def test_nothing_is_retried_while_another_task_has_its_key(is_child: bool) -> None:
    """Q1: two unfinished tasks of one key are one too many; the refusal says who has it."""
    task = FailedTaskFactory.create(dedupe_key=None if is_child else "work:1")
    if is_child:
        FailedTaskFactory.create(parent=task, dedupe_key="work:1")
    since = enqueue("test.work", key="work:1").task_id

    with pytest.raises(KeyHeld, match="another task" if is_child else f"task {since} "):
        retry(task.pk)

    assert Task.objects.unfinished().count() == 1


@pytest.mark.parametrize("end", ["done", "failed", "cancelled", "reaped"])
def test_a_cycles_key_outlives_its_task_until_the_cycle_is_over(end: str) -> None:
    task = RunningTaskFactory.create(
        dedupe_key="work:1:7", key_until=timezone.now() + timedelta(hours=1), max_attempts=1
    )
    _end(task, end)

    again = enqueue("test.work", key="work:1:7")
    assert (again.created, again.task_id) == (False, task.pk)


@pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.AWAITING_BATCH, TaskStatus.WAITING])
def test_a_key_is_kept_while_its_task_is_unfinished(status: TaskStatus) -> None:
    task = TaskFactory.create(status=status, dedupe_key="work:1")

    assert enqueue("test.work", key="work:1").task_id == task.pk


def test_equal_children_are_one_and_inherit_from_their_parent() -> None:
    parent = RunningTaskFactory.create(account="person:1", priority=20)
    payloads = [{"chunk": 1}, {"chunk": 2}, {"chunk": 1}]

    created = enqueue_children(claim_of(parent), "test.part", payloads, subject="run:1")

    assert created == 2
    children = Task.objects.filter(parent=parent)
    assert sorted(child.payload["chunk"] for child in children) == [1, 2]
    assert {(child.account, child.priority, child.subject) for child in children} == {
        ("person:1", 20, "run:1")
    }


def test_a_second_run_of_the_parent_adds_only_the_children_that_are_missing() -> None:
    parent = RunningTaskFactory.create()
    enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}, {"chunk": 2}])
    child = claim("worker-2", {"test.part": 5})
    assert child is not None
    assert claims.finish(child.token)

    assert enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}, {"chunk": 2}, {"chunk": 3}]) == 1
    assert Task.objects.filter(parent=parent).count() == 3


def test_a_lost_claim_adds_no_children() -> None:
    parent = RunningTaskFactory.create()
    claim = claim_of(parent)
    Task.objects.filter(pk=parent.pk).update(attempts=2)

    with pytest.raises(ClaimLost):
        enqueue_children(claim, "test.part", [{"chunk": 1}])

    assert not Task.objects.filter(parent=parent).exists()


def _end(task: Task, end: str) -> None:
    task.refresh_from_db()
    if end == "done":
        assert claims.finish(task.token)
    elif end == "failed":
        assert claims.fail(task.token, error="no such board")
    elif end == "cancelled":
        assert request_cancel(task.pk)
        assert claims.acknowledge_cancel(task.token)
    else:
        lose()
        assert claims.reap() == (0, 1)
