"""Q2 and Q9: what every worker does for the whole queue."""

from __future__ import annotations

import logging

import pytest

from taskqueue.handlers import Every, Registry, every
from taskqueue.models import Task, TaskStatus
from taskqueue.worker.ticks import tick
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory, lose

pytestmark = pytest.mark.django_db


def test_a_tick_reaps_ends_parents_and_queues_what_is_due() -> None:
    lost = RunningTaskFactory.create()
    lose()
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    DoneTaskFactory.create(parent=parent)
    registry = Registry()
    registry.schedule("test.sweep")(lambda: every(3_600))

    tick(registry)
    tick(registry)

    assert Task.objects.get(pk=lost.pk).status == TaskStatus.PENDING
    assert Task.objects.get(pk=parent.pk).status == TaskStatus.DONE
    assert Task.objects.filter(kind="test.sweep").count() == 1


def test_a_broken_schedule_is_logged_and_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Every:
        raise KeyError("no such column")

    registry = Registry()
    registry.schedule("test.broken")(broken)
    registry.schedule("test.sweep")(lambda: every(3_600))

    with caplog.at_level(logging.ERROR):
        tick(registry)

    assert list(Task.objects.values_list("kind", flat=True)) == ["test.sweep"]
    assert "test.broken" in caplog.text
