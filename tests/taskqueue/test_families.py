"""Q11: a parent ends when its last child does."""

from __future__ import annotations

from typing import Any

import pytest

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, request_cancel, retry
from taskqueue.services.families import end_parents
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    claim,
    lose,
)

pytestmark = pytest.mark.django_db


def waiting_parent(**values: Any) -> Task:
    return TaskFactory.create(status=TaskStatus.WAITING, **values)


def reloaded(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


@pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.AWAITING_BATCH, TaskStatus.WAITING])
def test_a_parent_waits_for_a_child_that_has_not_ended(status: TaskStatus) -> None:
    parent = waiting_parent()
    DoneTaskFactory.create(parent=parent)
    TaskFactory.create(parent=parent, status=status)
    if status == TaskStatus.WAITING:
        TaskFactory.create(parent=Task.objects.get(parent=parent, status=status))

    end_parents()

    assert reloaded(parent).status == TaskStatus.WAITING


def test_a_parent_waits_for_a_running_child() -> None:
    parent = waiting_parent()
    RunningTaskFactory.create(parent=parent)

    end_parents()

    assert reloaded(parent).status == TaskStatus.WAITING


def test_a_parent_is_done_when_all_its_children_are() -> None:
    parent = waiting_parent(dedupe_key="split:1")
    DoneTaskFactory.create_batch(2, parent=parent)

    assert end_parents() == 1

    after = reloaded(parent)
    assert after.status == TaskStatus.DONE
    assert not Task.objects.holding("split:1").exists()
    assert after.finished_at is not None


def test_a_parent_without_children_is_done() -> None:
    parent = waiting_parent()

    end_parents()

    assert reloaded(parent).status == TaskStatus.DONE


def test_a_parent_of_a_failed_child_fails_and_names_it() -> None:
    parent = waiting_parent()
    DoneTaskFactory.create(parent=parent)
    failed = FailedTaskFactory.create(parent=parent, kind="test.part")

    end_parents()

    after = reloaded(parent)
    assert after.status == TaskStatus.FAILED
    assert f"task {failed.pk} (test.part) failed: no such board" in after.error


def test_a_parent_of_a_cancelled_child_is_done_and_says_so() -> None:
    parent = waiting_parent()
    request_cancel(TaskFactory.create(parent=parent).pk)

    end_parents()

    assert (reloaded(parent).status, reloaded(parent).note) == (
        TaskStatus.DONE,
        "1 of its children were cancelled",
    )


def test_a_grandparent_ends_after_its_child_did() -> None:
    grandparent = waiting_parent()
    parent = waiting_parent(parent=grandparent)
    DoneTaskFactory.create(parent=parent)

    assert end_parents() == 1
    assert reloaded(grandparent).status == TaskStatus.WAITING
    assert end_parents() == 1
    assert reloaded(grandparent).status == TaskStatus.DONE


def test_progress_is_the_childrens_sum_and_a_silent_child_is_one_unit() -> None:
    parent = waiting_parent()
    RunningTaskFactory.create(parent=parent, progress={"done": 3, "total": 10, "note": ""})
    DoneTaskFactory.create(parent=parent, progress={"done": 4, "total": 5, "note": ""})
    DoneTaskFactory.create(parent=parent)
    TaskFactory.create(parent=parent)

    end_parents()

    assert reloaded(parent).progress == {"done": 3 + 5 + 1 + 0, "total": 10 + 5 + 1 + 1, "note": ""}


def test_a_sum_that_did_not_change_moves_no_time() -> None:
    """Q7: alive is not advancing."""
    parent = waiting_parent()
    RunningTaskFactory.create(parent=parent, progress={"done": 3, "total": 10, "note": ""})
    end_parents()
    first = reloaded(parent).progress_at
    assert first is not None

    end_parents()

    assert reloaded(parent).progress_at == first


def test_waiting_for_children_gives_the_attempt_back_and_never_runs_again() -> None:
    parent = RunningTaskFactory.create()
    TaskFactory.create(parent=parent, kind="test.part")

    assert claims.wait(parent.token, note="split in 1")

    assert (reloaded(parent).status, reloaded(parent).retries_spent) == (TaskStatus.WAITING, 0)
    assert claim("worker-2") is None


def test_a_retried_parent_takes_its_failed_children_along() -> None:
    parent = FailedTaskFactory.create()
    failed, cancelled = FailedTaskFactory.create(parent=parent), TaskFactory.create(parent=parent)
    request_cancel(cancelled.pk)
    done = DoneTaskFactory.create(parent=parent)

    assert retry(parent.pk)

    for task in (parent, failed, cancelled):
        assert reloaded(task).status == TaskStatus.PENDING
    assert reloaded(done).status == TaskStatus.DONE


def test_a_retried_child_is_waited_for_again() -> None:
    parent = waiting_parent()
    child = FailedTaskFactory.create(parent=parent)

    assert retry(child.pk)
    end_parents()

    assert reloaded(parent).status == TaskStatus.WAITING


def test_a_reaped_child_that_is_lost_ends_its_parent() -> None:
    parent = waiting_parent()
    RunningTaskFactory.create(parent=parent, max_attempts=1)
    lose()
    claims.reap()

    end_parents()

    assert reloaded(parent).status == TaskStatus.FAILED
