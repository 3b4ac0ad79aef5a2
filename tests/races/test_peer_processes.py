"""What other queues' users reported that only processes show: clocks, frozen machines, silence (Q5, Q9).

A test is named after the report it would have failed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, enqueue
from taskqueue.services.claims import session_name
from tests.races.odd_worker import odd_worker
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory
from tests.taskqueue.kinds import GO, marks
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def has(status: TaskStatus, task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=status).exists()


def hurry(task_id: int) -> None:
    """Another try waits up to ten seconds; the test does not."""
    reaped = Task.objects.filter(pk=task_id, status=TaskStatus.PENDING, position=None, attempts__gt=0)
    until(lambda: reaped.update(not_before=Now()))
    claims.promote()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """The process gets no time until the block ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("off_seconds", [3_600, -3_600], ids=["an hour fast", "an hour slow"])
def test_django_q_236_a_workers_clock_decides_nothing(off_seconds: int) -> None:
    """Client clocks in leases: jobs ran early, or were taken from those who ran them (Q5, Q8, Q9)."""
    half = timedelta(minutes=30)
    early = enqueue("test.quick", not_before=_now() + half).task_id
    kept = RunningTaskFactory.create(kind="test.polite", worker="alive")
    taken = RunningTaskFactory.create(kind="test.polite", worker="dead", attempts=5)
    Worker.objects.filter(name="alive").update(lease_expires_at=Now() + half)
    Worker.objects.filter(name="dead").update(lease_expires_at=Now() - half)
    due = TaskFactory.create(kind="test.tell_time", not_before=_now() - timedelta(minutes=5), position=None)

    with odd_worker(clock_off_seconds=off_seconds):
        until(partial(has, TaskStatus.DONE, due.pk))  # somebody has promoted since the start
        until(partial(has, TaskStatus.FAILED, taken.pk))  # and reaped

    due.refresh_from_db()
    assert due.finished_at is not None
    for told in due.result or ():  # the clocks were wrong indeed, and no date that was written is
        assert abs(told - due.finished_at.timestamp() - off_seconds) < 300
    assert abs((_now() - due.finished_at).total_seconds()) < 300
    assert has(TaskStatus.PENDING, early)
    assert has(TaskStatus.RUNNING, kept.pk)


def test_e02_a_worker_frozen_past_its_lease_changes_nothing_when_it_thaws() -> None:
    """SIGSTOP, the lease ends, somebody else finishes, SIGCONT: no row changes, nothing starts (Q5)."""
    task_id = enqueue("test.stubborn").task_id
    with odd_worker(lease_seconds=1.5):
        until(lambda: marks("begun") == [1])
        late = Worker.objects.get(name=Task.objects.get(pk=task_id).worker)
        with frozen(late.pid):
            hurry(task_id)
            enqueue(GO)
            with odd_worker():
                until(partial(has, TaskStatus.DONE, task_id))
            before = list(Task.objects.order_by("pk").values())
        until(lambda: not is_running(late.pid))

        assert (
            list(Task.objects.filter(pk__in=[row["id"] for row in before]).order_by("pk").values()) == before
        )
        assert marks("done") == [2]


def test_pgqueuer_323_a_handler_that_keeps_the_interpreter_for_two_leases_loses_its_task_once() -> None:
    """A blocking job stopped the event loop's heartbeat, was picked again, and both ended it (Q5, Q6).

    A thread beats for it, but not while C code holds the interpreter. Then the lease ends and the task is
    another's: what the late one writes under its claim is refused, and its process goes.
    """
    task_id = enqueue("test.hold_the_interpreter").task_id
    with odd_worker(lease_seconds=1.5):
        until(lambda: marks("begun") == [1])
        late = Worker.objects.get(name=Task.objects.get(pk=task_id).worker)
        hurry(task_id)
        until(partial(has, TaskStatus.DONE, task_id))
        until(lambda: not is_running(late.pid))

    assert marks("begun") == [1, 2]
    assert marks("done") == [2]


@pytest.mark.skipif(not settings.IS_LOCAL, reason="the server's processes may be another machine's")
def test_procrastinate_1334_a_worker_whose_session_never_answers_is_replaced() -> None:
    """Silent for hours, and not to be stopped: a session that was open and dead (Q5, Q6)."""
    with odd_worker(lease_seconds=2):
        silent = until(Worker.objects.first)
        backend = until(partial(_backend_of, silent.name))
        with frozen(backend):
            task_id = enqueue("test.quick").task_id
            until(partial(has, TaskStatus.DONE, task_id))
            assert not Worker.objects.alive().filter(name=silent.name).exists()


def _backend_of(worker: str) -> int:
    """The server's process for the worker's own session."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE application_name = %s", [session_name(worker)])
        found = cursor.fetchone()
        return int(found[0]) if found else 0


def _now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        now: datetime = cursor.fetchone()[0]
        return now
