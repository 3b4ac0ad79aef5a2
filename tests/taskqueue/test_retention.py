"""Q14: what has ended is kept for a while, and then goes as a whole family."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import retention
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db

OLD = timezone.now() - timedelta(days=settings.QUEUE_RETENTION_DAYS + 1)
NEW = timezone.now() - timedelta(days=settings.QUEUE_RETENTION_DAYS - 1)


def left() -> set[int]:
    return set(Task.objects.values_list("pk", flat=True))


def test_only_what_ended_before_the_retention_goes() -> None:
    DoneTaskFactory.create(finished_at=OLD)
    FailedTaskFactory.create(finished_at=OLD)
    recent = DoneTaskFactory.create(finished_at=NEW)
    pending = TaskFactory.create(created_at=OLD, not_before=OLD)

    assert retention.prune() == 2

    assert left() == {recent.pk, pending.pk}


@pytest.mark.parametrize(
    "relative",
    [{"status": TaskStatus.PENDING}, {"status": TaskStatus.DONE, "finished_at": NEW}],
    ids=["unfinished", "recent"],
)
def test_a_relative_that_stays_keeps_the_family(relative: dict[str, Any]) -> None:
    root = FailedTaskFactory.create(finished_at=OLD)
    child = DoneTaskFactory.create(finished_at=OLD, parent=root)
    grandchild = TaskFactory.create(parent=child, **relative)
    waiting = TaskFactory.create(status=TaskStatus.WAITING)
    ended = DoneTaskFactory.create(finished_at=OLD, parent=waiting)

    assert retention.prune() == 0

    assert left() == {root.pk, child.pk, grandchild.pk, waiting.pk, ended.pk}


def test_families_that_are_kept_do_not_keep_those_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than a batch holds, and older."""
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 2)
    for days in range(5):
        root = FailedTaskFactory.create(finished_at=OLD - timedelta(days=9 - days))
        TaskFactory.create(kind="test.vanished", parent=root)
    DoneTaskFactory.create_batch(3, finished_at=OLD)

    assert retention.prune() == 3
    assert Task.objects.count() == 10


def test_a_family_goes_together() -> None:
    root = DoneTaskFactory.create(finished_at=OLD)
    for child in DoneTaskFactory.create_batch(3, finished_at=OLD, parent=root):
        DoneTaskFactory.create(finished_at=OLD, parent=child)

    assert retention.prune() == 7


def test_a_cycles_key_keeps_its_task_beyond_the_retention() -> None:
    """A monthly schedule would run a second time if its task's row were gone after two weeks."""
    monthly = DoneTaskFactory.create(
        finished_at=OLD, dedupe_key="test.work:all:7", key_until=timezone.now() + timedelta(days=10)
    )

    assert retention.prune() == 0
    assert left() == {monthly.pk}


def test_kept_keys_do_not_hold_up_what_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the oldest rows, and would fill every batch."""
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 1)
    until = timezone.now() + timedelta(days=10)
    kept = DoneTaskFactory.create(
        finished_at=OLD - timedelta(days=1), dedupe_key="monthly:7", key_until=until
    )
    DoneTaskFactory.create(finished_at=OLD)

    assert retention.prune() == 1
    assert left() == {kept.pk}


def test_more_than_one_batch_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 2)
    DoneTaskFactory.create_batch(5, finished_at=OLD)

    assert retention.prune() == 5


def test_workers_that_died_long_ago_go_and_leave_their_tasks() -> None:
    WorkerFactory.create(last_seen_at=timezone.now() - timedelta(days=2))
    task = RunningTaskFactory.create()
    silent = WorkerFactory.create(name="worker-2", last_seen_at=timezone.now() - timedelta(hours=1))

    retention.prune()

    assert list(Worker.objects.all()) == [silent]
    assert left() == {task.pk}
