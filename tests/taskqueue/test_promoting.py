"""Q3 and Q8: what becomes due joins its line, as of when it was due."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue
from taskqueue.sql import PATIENCE_SECONDS
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, claim

pytestmark = pytest.mark.django_db

NOW = timezone.now()
LATER = NOW + timedelta(hours=1)


def waiting(minutes_ago: float, **values: Any) -> Task:
    """Due by now, and not yet in line."""
    due = NOW - timedelta(minutes=minutes_ago)
    return TaskFactory.create(**{"not_before": due, "position": None, **values})


def test_what_is_due_joins_its_line_where_it_would_be_had_it_always_been_there() -> None:
    late, early = waiting(1), waiting(3)
    between = TaskFactory.create(not_before=NOW - timedelta(minutes=2))
    better = waiting(1, priority=20)
    assert claim() == between
    claims.release(Task.objects.get(pk=between.pk).token)

    assert claims.promote() == 3

    assert [claim() for _ in range(4)] == [better, early, between, late]


@pytest.mark.parametrize("priority", [0, 10, 50, 100])
def test_its_place_is_when_it_was_due_and_six_seconds_for_each_step_of_its_priority(priority: int) -> None:
    task = waiting(5, priority=priority, status=TaskStatus.AWAITING_BATCH)

    claims.promote()

    task.refresh_from_db()
    assert task.position == task.not_before + timedelta(seconds=PATIENCE_SECONDS * priority)


@pytest.mark.parametrize(
    "state",
    [
        {"not_before": LATER},
        {"not_before": LATER, "status": TaskStatus.AWAITING_BATCH},
        {"status": TaskStatus.WAITING},
        {"status": TaskStatus.CANCELLED, "finished_at": NOW},
    ],
    ids=["not due", "parked", "waiting for children", "cancelled"],
)
def test_nothing_else_joins_a_line(state: dict[str, Any]) -> None:
    task = waiting(1, **state)
    RunningTaskFactory.create(position=None)

    assert claims.promote() == 0

    task.refresh_from_db()
    assert task.position is None


def test_what_is_in_line_keeps_its_place() -> None:
    task = TaskFactory.create(not_before=NOW - timedelta(minutes=1))
    before = Task.objects.values().get(pk=task.pk)

    assert claims.promote() == 0

    assert Task.objects.values().get(pk=task.pk) == before


def test_more_than_one_batch_joins_and_the_longest_due_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "MOST_AT_ONCE", 2)
    for minutes_ago in (1, 5, 3, 4, 2):
        waiting(minutes_ago)

    assert claims.promote() == 5

    assert not Task.objects.filter(position=None).exists()


def test_a_batch_is_one_statement(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "MOST_AT_ONCE", 3)
    for minutes_ago in range(1, 6):
        waiting(minutes_ago)

    with django_assert_num_queries(2):
        assert claims.promote() == 5


def test_a_task_for_later_is_claimed_once_its_time_has_come_and_not_before() -> None:
    task_id = enqueue("test.work", not_before=LATER).task_id
    claims.promote()
    assert claim() is None
    Task.objects.filter(pk=task_id).update(not_before=F("not_before") - timedelta(hours=2))

    assert claim() is None  # nobody has put it in line
    claims.promote()

    claimed = claim()
    assert claimed is not None
    assert claimed.pk == task_id


@pytest.mark.parametrize("end", ["parked", "delayed", "tried again"])
def test_what_an_attempt_left_for_later_joins_when_it_is_due(end: str) -> None:
    """Q8."""
    task = RunningTaskFactory.create()
    if end == "parked":
        claims.park(task.token, until=LATER)
    elif end == "delayed":
        claims.delay(task.token, until=LATER, reason="busy")
    else:
        claims.try_again(task.token, error="timeout", after=timedelta(hours=1))
    assert claims.promote() == 0
    Task.objects.update(not_before=NOW - timedelta(seconds=1))

    assert claims.promote() == 1

    assert claim() == task


@pytest.mark.parametrize("end", ["parked", "delayed", "released"])
def test_what_an_attempt_left_for_now_is_in_line_at_once(end: str) -> None:
    """Q12: at its old place, for it has waited since."""
    task = RunningTaskFactory.create(not_before=NOW - timedelta(minutes=9))
    if end == "parked":
        claims.park(task.token, until=NOW)
    elif end == "delayed":
        claims.delay(task.token, until=NOW, reason="busy")
    else:
        claims.release(task.token)

    task.refresh_from_db()
    due = NOW - timedelta(minutes=9) if end == "released" else NOW
    assert task.position == due + timedelta(seconds=PATIENCE_SECONDS * 50)
