"""Q3 and Q5: what is handed out, to whom, in which order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from taskqueue.models import HostBudget, Task, TaskStatus
from taskqueue.services.claiming import claim_next
from tests.taskqueue.factories import (
    DoneTaskFactory,
    HostBudgetFactory,
    RunningTaskFactory,
    TaskFactory,
    alive,
    claim,
)

pytestmark = pytest.mark.django_db

KINDS = {"test.work": 5}
HOST = "boards.example.com"


def test_a_claim_is_one_statement_that_marks_the_task_running(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    TaskFactory.create(payload={"source_id": 1})
    alive("worker-1")

    with django_assert_num_queries(1):
        task = claim_next(worker="worker-1", kinds=KINDS)

    assert task is not None
    assert task.payload == {"source_id": 1}
    task.refresh_from_db()
    assert (task.status, task.worker, task.attempts) == (TaskStatus.RUNNING, "worker-1", 1)
    assert task.started_at is not None
    assert task.release == settings.RELEASE


def test_the_release_that_runs_the_task_decides_how_often_it_may_fail() -> None:
    TaskFactory.create(max_attempts=5)

    task = claim(kinds={"test.work": 2})

    assert task is not None
    assert task.max_attempts == 2


def test_each_claim_is_a_new_generation() -> None:
    task = TaskFactory.create(attempts=7, resumes=5)

    claimed = claim()

    assert claimed is not None
    assert (claimed.pk, claimed.attempts, claimed.resumes) == (task.pk, 8, 5)


@pytest.mark.parametrize(
    "state",
    [
        {"not_before": timezone.now() + timedelta(days=1)},
        {"status": TaskStatus.AWAITING_BATCH, "not_before": timezone.now() + timedelta(days=1)},
        {"status": TaskStatus.WAITING},
        {"kind": "test.unknown"},
    ],
    ids=["not due", "parked", "waiting for children", "unknown kind"],
)
def test_what_is_not_claimable_is_left_alone(state: dict[str, Any]) -> None:
    """Q14: an unknown kind waits for a release that knows it."""
    task = TaskFactory.create(**state)

    assert not Task.objects.claimable(KINDS).exists()
    assert claim() is None
    before = task.status
    task.refresh_from_db()
    assert (task.status, task.attempts) == (before, 0)


@pytest.mark.parametrize("factory", [RunningTaskFactory, DoneTaskFactory])
def test_what_runs_or_has_ended_is_not_claimed(factory: type[TaskFactory]) -> None:
    factory.create()

    assert claim() is None


def test_a_parked_task_is_claimed_when_it_is_due() -> None:
    task = TaskFactory.create(
        status=TaskStatus.AWAITING_BATCH, not_before=timezone.now() - timedelta(seconds=1)
    )

    claimed = claim()

    assert claimed is not None
    assert claimed.pk == task.pk


def test_a_worker_that_runs_nothing_claims_nothing() -> None:
    TaskFactory.create()

    assert claim(kinds={}) is None


def test_priority_goes_before_age_and_age_before_number() -> None:
    now = timezone.now()
    late = TaskFactory.create(not_before=now - timedelta(minutes=1))
    early = TaskFactory.create(not_before=now - timedelta(minutes=2))
    same = TaskFactory.create(not_before=now - timedelta(minutes=2))
    urgent = TaskFactory.create(priority=10)

    order = [task.pk for _ in range(4) if (task := claim()) is not None]

    assert order == [urgent.pk, early.pk, same.pk, late.pk]


def test_tasks_of_a_closed_host_wait_and_others_pass_them() -> None:
    """A6: an unknown host and no host at all are open."""
    closed = TaskFactory.create(host=HOST, priority=1)
    unknown = TaskFactory.create(host="jobs.example.org")
    none = TaskFactory.create()
    HostBudget.objects.refuse(HOST)

    claimed = [task.pk for _ in range(2) if (task := claim()) is not None]

    assert sorted(claimed) == [unknown.pk, none.pk]
    assert claim() is None
    closed.refresh_from_db()
    assert closed.status == TaskStatus.PENDING


def test_a_host_with_a_slot_within_the_wait_is_open() -> None:
    TaskFactory.create(host=HOST)
    HostBudgetFactory.create(host=HOST, next_slot_at=timezone.now() + timedelta(seconds=5))

    assert claim() is not None


def test_a_host_that_is_closed_to_another_address_is_open_to_this_one() -> None:
    TaskFactory.create(host=HOST)
    HostBudgetFactory.create(host=HOST, egress="elsewhere", next_slot_at=timezone.now() + timedelta(hours=1))

    assert claim() is not None


def test_the_claim_reads_the_index_of_what_is_claimable_however_much_has_ended() -> None:
    """Q14: finished rows never hold up claims."""
    DoneTaskFactory.create_batch(3)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO queue_task (kind, status, finished_at)"
            " SELECT 'test.work', 'done', now() FROM generate_series(1, 5000)"
        )
        cursor.execute("ANALYZE queue_task")

    plan = Task.objects.in_line(KINDS).filter(lane="").in_claim_order()[:1].explain()

    assert "queue_task_open_line" in plan
    assert "Seq Scan on queue_task" not in plan


@pytest.mark.parametrize("finished_at", [None, timezone.now()])
def test_a_status_that_nobody_knows_is_refused_by_the_database(finished_at: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskFactory.create(status="sleeping", position=None, finished_at=finished_at)
