"""Workers whose clocks are an hour off, in both directions at once: only the database's clock decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import enqueue
from tests.races.fault_kinds import effects, is_done, say_go
from tests.races.faulty_worker import Setup, faulty_worker
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

HOUR_SECONDS = 3600
LEASE_SECONDS = 2.0


@contextmanager
def worker(off_seconds: int) -> Iterator[None]:
    setup = Setup(
        database=str(connection.settings_dict["NAME"]),
        clock_off_seconds=off_seconds,
        lease_seconds=LEASE_SECONDS,
    )
    with faulty_worker(setup):
        yield


def now() -> datetime:
    """The database's."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        answer: datetime = cursor.fetchone()[0]
        return answer


def test_workers_two_hours_apart_take_nothing_from_each_other_and_start_nothing_early() -> None:
    """Q5, Q8, Q9: for longer than a lease each has a task, and each one's ticker looks for lost ones."""
    early = enqueue("fault.once", not_before=now() + timedelta(minutes=30)).task_id
    held = [enqueue("fault.waits").task_id for _ in range(2)]
    with worker(HOUR_SECONDS), worker(-HOUR_SECONDS):
        until(lambda: all(effects(task_id, "begun") == [1] for task_id in held))
        a_lease_later = now() + timedelta(seconds=2 * LEASE_SECONDS)
        until(lambda: Worker.objects.alive().filter(lease_expires_at__gt=a_lease_later).count() == 2)
        say_go()
        until(lambda: is_done(*held))
        soon = enqueue("fault.once", not_before=now() + timedelta(seconds=1)).task_id
        until(lambda: is_done(soon))

        assert Worker.objects.count() == 2
    assert [effects(task_id) for task_id in held] == [[1], [1]]
    assert Task.objects.filter(pk=soon, started_at__gte=F("not_before"), finished_at__lte=Now()).exists()
    assert Task.objects.filter(pk=early, status=TaskStatus.PENDING, attempts=0).exists()


@pytest.mark.parametrize("off_seconds", [HOUR_SECONDS, -HOUR_SECONDS], ids=["an hour fast", "an hour slow"])
def test_what_a_worker_parks_for_ten_minutes_comes_back_in_ten_minutes(off_seconds: int) -> None:
    """Not in seventy, and not at once, again and again."""
    task_id = enqueue("fault.parks").task_id
    with worker(off_seconds):
        until(Task.objects.filter(pk=task_id, resumes__gt=0).exists)
        assert timedelta(minutes=5) < Task.objects.get(pk=task_id).not_before - now() < timedelta(minutes=11)
