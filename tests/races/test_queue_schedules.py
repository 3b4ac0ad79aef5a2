"""Q2 between connections: every worker runs the schedule, and each cycle has one task."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.db.models import IntegerField, QuerySet, Value

from taskqueue.models import Task
from taskqueue.services.schedules import enqueue_due, every
from tests.taskqueue.connections import at_once
from tests.taskqueue.factories import TaskFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def due(order: str) -> QuerySet[Any, Any]:
    things = Task.objects.filter(kind="test.thing").annotate(period=Value(86_400, IntegerField()))
    return things.order_by(order).values("subject", "payload", "host", "period")


def test_four_workers_that_tick_together_queue_each_subject_once() -> None:
    """In opposite orders: inserting in them, two workers would wait for each other's keys."""
    for number in range(200):
        TaskFactory.create(kind="test.thing", subject=f"source:{number}")

    queued = at_once([partial(enqueue_due, "test.work", due(order)) for order in ("id", "-id") * 2])

    assert sum(queued) == 200
    assert Task.objects.filter(kind="test.work").values("subject").distinct().count() == 200


def test_a_fixed_schedule_is_queued_once_by_many() -> None:
    assert sum(at_once([partial(enqueue_due, "test.sweep", every(86_400))] * 4)) == 1
