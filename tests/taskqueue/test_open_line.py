"""Where nothing has a lane and nobody waits, a shorter statement claims the same tasks (Q3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from taskqueue.models import Task, Turn
from taskqueue.services.claiming import Claimer, Ended, step_statements
from tests.taskqueue.factories import TaskFactory, alive
from tests.taskqueue.fleets import KINDS

pytestmark = pytest.mark.django_db

STEP, OPEN_STEP = step_statements(tuple(KINDS.items()))


class Watched(Claimer):
    """Knows which statements it sent."""

    def __init__(self) -> None:
        alive("w")
        super().__init__("w", KINDS, self._look)
        self.sent: list[str] = []

    def claim(self, *ended: Ended) -> Task | None:
        self.sent.clear()
        return next(iter(self.step(ended).claimed), None)

    def _look(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        self.sent.append(statement)
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows


def test_it_takes_them_one_after_the_other_and_records_what_is_done() -> None:
    tasks = TaskFactory.create_batch(3)
    claimer = Watched()
    ended: list[Ended] = []
    for task in tasks:
        claimed = claimer.claim(*ended)
        assert claimed == task
        assert claimer.sent == [OPEN_STEP]
        ended = [Ended(claimed.token)]

    assert claimer.claim(*ended) is None
    assert set(claimer.sent) == {OPEN_STEP}
    assert Task.objects.filter(status=Task.Status.DONE).count() == 3


@pytest.mark.parametrize(
    "fields", [{"priority": 10}, {"account": "ada"}, {"host": "boards.example.com"}], ids=str
)
def test_who_comes_with_a_lane_or_waits_is_next(fields: dict[str, Any]) -> None:
    """Q4: no open task is claimed by a statement that cannot see the others."""
    ended = TaskFactory.create()
    TaskFactory.create_batch(3)
    claimer = Watched()
    first = claimer.claim()
    assert first == ended

    came = TaskFactory.create(**fields)

    assert claimer.claim(Ended(first.token)) == came
    assert claimer.sent == [OPEN_STEP, STEP]
    ended.refresh_from_db()
    assert ended.status == Task.Status.DONE
    claimer.claim()
    assert claimer.sent == [STEP]  # for as long as others may come


def test_those_that_may_not_start_are_no_reason_for_the_longer_statement() -> None:
    TaskFactory.create(account="ada", not_before=timezone.now() + timedelta(hours=1))
    TaskFactory.create(account="ada", status=Task.Status.AWAITING_BATCH, position=None)
    free = TaskFactory.create()
    claimer = Watched()

    assert claimer.claim() == free
    assert claimer.sent == [OPEN_STEP]


def test_it_is_tried_again_when_the_worker_starts_from_the_heads_of_the_lines() -> None:
    """Also to record the end of a task that had a turn."""
    TaskFactory.create(account="ada")
    TaskFactory.create()
    claimer = Watched()
    held = claimer.claim()
    assert held is not None
    assert claimer.sent == [OPEN_STEP, STEP]
    claimer.forget_marks()

    assert claimer.claim(Ended(held.token)) is not None

    assert claimer.sent == [OPEN_STEP]
    assert not Turn.objects.exclude(task_id=None).exists()


def test_a_worker_that_is_not_alive_gets_nothing_and_its_end_is_recorded() -> None:
    """Q5: the guard of what it did is the claim, of what it gets the lease."""
    TaskFactory.create_batch(2)
    claimer = Watched()
    held = claimer.claim()
    assert held is not None
    with connection.cursor() as cursor:
        cursor.execute("UPDATE queue_worker SET lease_expires_at = statement_timestamp()")

    assert claimer.claim(Ended(held.token)) is None

    held.refresh_from_db()
    assert held.status == Task.Status.DONE
    assert not Task.objects.running().exists()
