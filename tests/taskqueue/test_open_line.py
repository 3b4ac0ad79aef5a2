"""Where nothing has a lane and nobody waits, a shorter statement claims the same tasks (Q3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from taskqueue.models import Task
from taskqueue.services.claiming import Claimer, Ended, step_statements
from tests.taskqueue.factories import TaskFactory, alive
from tests.taskqueue.fleets import KINDS

pytestmark = pytest.mark.django_db

STEP, OPEN_STEP = step_statements(tuple(KINDS.items()))


class Watched(Claimer):
    """Knows which statements it sent; by its clock each takes as long as it is told."""

    def __init__(self) -> None:
        alive("w")
        super().__init__("w", KINDS, self._look, lambda: self.seconds)
        self.sent: list[str] = []
        self.seconds = 0.0
        self.cost = 1 / 128  # seconds, no fraction of which is lost in sums

    def claim(self, *ended: Ended) -> Task | None:
        self.sent = []
        return next(iter(self.step(ended).claimed), None)

    def _look(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        self.seconds += self.cost
        self.sent.append(statement)
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows


def test_it_takes_them_one_after_the_other_and_records_what_is_done() -> None:
    """Once in a while the worker looks all round; then there is nothing else."""
    claimer = Watched()
    ended: list[Ended] = []
    for number, task in enumerate(TaskFactory.create_batch(60)):
        claimed = claimer.claim(*ended)
        assert claimed == task
        assert claimer.sent == [OPEN_STEP if number % 51 else STEP]
        ended = [Ended(claimed.token)]

    assert claimer.claim(*ended) is None
    assert claimer.sent == [OPEN_STEP, STEP]
    assert Task.objects.filter(status=Task.Status.DONE).count() == 60


NEWCOMERS = [{"priority": 10}, {"account": "ada"}, {"host": "boards.example.com"}]


@pytest.mark.parametrize("fields", NEWCOMERS, ids=str)
def test_who_comes_with_a_lane_or_waits_is_seen_with_the_next_look_all_round(fields: dict[str, Any]) -> None:
    """Q4: fifty times as long as the last one took, and all take as long."""
    TaskFactory.create_batch(60)
    claimer = Watched()
    claimer.claim()
    came = TaskFactory.create(**fields)

    claimed = [claimer.claim() for _ in range(53)]

    assert claimed.index(came) == 50
    assert claimer.sent == [STEP] if "priority" not in fields else [OPEN_STEP]  # nobody waits any more


@pytest.mark.parametrize("fields", NEWCOMERS, ids=str)
def test_who_comes_with_a_lane_or_waits_is_seen_at_once_where_nothing_else_is_left(
    fields: dict[str, Any],
) -> None:
    TaskFactory.create()
    claimer = Watched()
    claimer.claim()
    came = TaskFactory.create(**fields)

    assert claimer.claim() == came
    assert claimer.sent == [OPEN_STEP, STEP]


def test_a_look_all_round_that_takes_long_is_made_once_a_second() -> None:
    TaskFactory.create_batch(60)
    claimer = Watched()
    claimer.cost = 1.0
    claimer.claim()
    claimer.cost = 0.25

    assert [claimer.claim() and claimer.sent for _ in range(5)] == [[OPEN_STEP]] * 4 + [[STEP]]


def test_those_that_may_not_start_are_no_reason_for_the_longer_statement() -> None:
    TaskFactory.create(account="ada", not_before=timezone.now() + timedelta(hours=1))
    TaskFactory.create(account="ada", status=Task.Status.AWAITING_BATCH, position=None)
    free = TaskFactory.create_batch(2)
    claimer = Watched()

    assert [claimer.claim(), claimer.claim()] == free
    assert claimer.sent == [OPEN_STEP]


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
