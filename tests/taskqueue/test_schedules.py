"""Q1 and Q2: schedules, one task for each subject and cycle."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import BigIntegerField, F, IntegerField, QuerySet, Value
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from taskqueue.errors import PayloadTooLarge
from taskqueue.handlers import every
from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims
from taskqueue.services.retention import free_keys
from taskqueue.services.schedules import enqueue_due
from tests.taskqueue.factories import TaskFactory, claim

pytestmark = pytest.mark.django_db

DAY = 86_400


def due(period: int = DAY) -> QuerySet[Any, Any]:
    """A queue row stands for each thing that an app schedules."""
    return (
        Task.objects.filter(kind="test.thing")
        .annotate(period=Value(period, IntegerField()))
        .values("subject", "payload", "host", "period")
    )


def things(count: int) -> None:
    for number in range(count):
        TaskFactory.create(
            kind="test.thing", subject=f"source:{number}", payload={"number": number}, host="h"
        )


def test_what_is_due_is_queued_once_per_cycle_in_one_statement(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    things(3)
    with django_assert_num_queries(1):
        assert enqueue_due("test.work", due()) == 3

    assert enqueue_due("test.work", due()) == 0
    queued = Task.objects.filter(kind="test.work").order_by("subject")
    assert [(task.subject, task.payload, task.host) for task in queued] == [
        (f"source:{number}", {"number": number}, "h") for number in range(3)
    ]
    for task in queued:
        assert task.key_until is not None
        assert timedelta(0) < task.key_until - task.created_at <= timedelta(days=1)


def test_a_finished_task_is_not_queued_again_within_its_cycle() -> None:
    things(1)
    enqueue_due("test.work", due())
    task = claim()
    assert task is not None
    assert claims.finish(task.token)

    assert enqueue_due("test.work", due()) == 0


def test_the_next_cycle_has_a_task_of_its_own_even_while_the_last_one_runs() -> None:
    """A short cycle is the same clock made quick: the key names another number."""
    things(1)
    enqueue_due("test.work", due())
    task = claim()
    assert task is not None
    assert task.dedupe_key is not None
    prefix, _, cycle = task.dedupe_key.rpartition(":")
    Task.objects.filter(pk=task.pk).update(dedupe_key=f"{prefix}:{int(cycle) - 1}", key_until=Now())

    assert enqueue_due("test.work", due()) == 1


def test_a_pending_task_of_the_subject_is_enough_whoever_queued_it() -> None:
    things(2)
    TaskFactory.create(kind="test.work", subject="source:0")

    assert enqueue_due("test.work", due()) == 1
    assert Task.objects.filter(kind="test.work", subject="source:0").count() == 1


def test_what_somebody_queued_by_hand_is_enough_while_it_runs() -> None:
    """A source that is being read because somebody asked is not read a second time beside it."""
    things(1)
    TaskFactory.create(subject="source:0")
    assert claim() is not None

    assert enqueue_due("test.work", due()) == 0


def test_another_kinds_pending_task_of_the_subject_blocks_nothing() -> None:
    things(1)

    assert enqueue_due("test.work", due()) == 1
    assert enqueue_due("test.other", due()) == 1


def test_subjects_of_one_period_do_not_fall_due_together() -> None:
    things(50)
    enqueue_due("test.work", due())

    ends = Task.objects.filter(kind="test.work").values_list("key_until", flat=True)
    hours = {end.hour for end in ends if end is not None}
    assert len(hours) > 12  # of 24, for 50 subjects: fixed by their names, not by chance


def test_a_subjects_moment_within_the_period_stays_the_same() -> None:
    things(1)
    enqueue_due("test.work", due())
    first = Task.objects.get(kind="test.work")
    Task.objects.filter(pk=first.pk).delete()
    enqueue_due("test.work", due())

    again = Task.objects.get(kind="test.work")
    assert (again.dedupe_key, again.key_until) == (first.dedupe_key, first.key_until)


def test_rows_that_name_a_subject_twice_are_one() -> None:
    things(1)
    things(1)

    assert enqueue_due("test.work", due()) == 1


def test_a_fixed_schedule_has_one_task_per_cycle() -> None:
    assert enqueue_due("test.sweep", every(DAY, subject="all", payload={"limit": 100})) == 1
    assert enqueue_due("test.sweep", every(DAY, subject="all", payload={"limit": 100})) == 0

    task = Task.objects.get()
    assert (task.kind, task.subject, task.payload) == ("test.sweep", "all", {"limit": 100})


def test_nothing_due_asks_for_nothing() -> None:
    assert enqueue_due("test.work", Task.objects.none().values("subject", "payload", "host", "priority")) == 0


def test_a_percent_sign_in_a_schedules_query_is_a_percent_sign() -> None:
    TaskFactory.create(kind="test.thing", subject="50%s:1", payload={"text": "%(kind)s"})
    rows = due().filter(subject__contains="%").annotate(twice=F("priority") * 2)

    assert enqueue_due("test.work", rows.values("subject", "payload", "host", "period")) == 1
    assert Task.objects.get(kind="test.work").payload == {"text": "%(kind)s"}


def test_keys_are_freed_once_their_cycle_is_over_and_their_task_ended() -> None:
    past, future = timezone.now() - timedelta(hours=1), timezone.now() + timedelta(hours=1)
    ended = {"status": TaskStatus.DONE, "finished_at": past}
    TaskFactory.create(dedupe_key="a", key_until=past, **ended)
    current = TaskFactory.create(dedupe_key="b", key_until=future, **ended)
    pending = TaskFactory.create(dedupe_key="c", key_until=past)

    assert free_keys() == 1

    held = {key: Task.objects.holding(key).first() for key in "abc"}
    assert held == {"a": None, "b": current, "c": pending}


@pytest.mark.parametrize("seconds", [0, -5, 10**12])
def test_a_period_that_no_schedule_means_is_refused(seconds: int) -> None:
    with pytest.raises(ValueError, match="ten years"):
        every(seconds)


def test_a_row_s_period_of_ages_is_taken_as_ten_years() -> None:
    """A key kept until the year 33,000 was a row that no page could read."""
    TaskFactory.create(subject="source:1", kind="test.thing")
    rows = due().annotate(ages=Value(10**13, BigIntegerField()))

    assert enqueue_due("test.work", rows.values("subject", "payload", "host", "ages")) == 1

    assert Task.objects.filter(
        kind="test.work", key_until__lt=timezone.now() + timedelta(days=3_661)
    ).exists()


def test_a_schedule_s_payload_has_the_limit_of_any_other(settings: Settings) -> None:
    settings.QUEUE_PAYLOAD_MAX_BYTES = 100

    with pytest.raises(PayloadTooLarge):
        enqueue_due("test.work", every(60, payload={"text": "x" * 100}))
