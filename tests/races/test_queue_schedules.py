"""Q2 between connections: every worker runs the schedule, each cycle has one task and each task one place."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import IntegerField, QuerySet, Value
from django.utils import timezone

from taskqueue.models import Task
from taskqueue.services import claims, request_cancel
from taskqueue.services.schedules import enqueue_due, every
from tests.taskqueue.connections import at_once, elsewhere
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


def test_promoters_side_by_side_put_each_task_in_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "MOST_AT_ONCE", 7)  # so that they meet again and again
    an_hour_ago = timezone.now() - timedelta(hours=1)
    TaskFactory.create_batch(200, not_before=an_hour_ago, position=None)

    promoted = at_once([claims.promote] * 4)

    assert sum(promoted) + claims.promote() == 200
    assert set(Task.objects.values_list("position", flat=True)) == {an_hour_ago + timedelta(minutes=5)}


def test_a_promoter_steps_over_what_another_one_is_promoting() -> None:
    TaskFactory.create(not_before=timezone.now() - timedelta(hours=1), position=None)
    with transaction.atomic():
        assert claims.promote() == 1
        assert elsewhere(claims.promote) == 0


def test_a_task_that_is_cancelled_while_it_is_promoted_stays_out_of_line() -> None:
    """Q10: whoever comes second finds what the first has left."""
    task = TaskFactory.create(not_before=timezone.now() - timedelta(hours=1), position=None)
    with transaction.atomic():
        assert request_cancel(task.pk)
        assert elsewhere(claims.promote) == 0

    assert claims.promote() == 0
    assert Task.objects.values_list("status", "position").get() == ("cancelled", None)


def test_a_fixed_schedule_is_queued_once_by_many() -> None:
    assert sum(at_once([partial(enqueue_due, "test.sweep", every(86_400))] * 4)) == 1
