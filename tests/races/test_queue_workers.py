"""Q3, Q5, Q6 and Q7 with a running worker: waking up, beating, losing, and a database that goes away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now
from pytest_django import Settings

from taskqueue.errors import ClaimLost
from taskqueue.handlers import Claim, Done, Outcome, Registry, every
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, enqueue, request_cancel
from taskqueue.worker import WorkerLoop, pulse, ticks
from tests.taskqueue.connections import cut_connections, working
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.kinds import GO, all_kinds, marks
from tests.taskqueue.waiting import LONGEST_SECONDS, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

NEVER_SECONDS = 3_600


@pytest.fixture(autouse=True)
def _quick(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but what the test is about happens by itself soon; and no pulse ends the tests' own process."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # as many connections as a worker has, not as the tests had
    settings.QUEUE_POLL_SECONDS = NEVER_SECONDS
    settings.QUEUE_HEARTBEAT_SECONDS = 0.1
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(pulse, "GRACE_SECONDS", NEVER_SECONDS)
    monkeypatch.setattr(ticks, "TICK_SECONDS", NEVER_SECONDS)


def is_done(task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=TaskStatus.DONE).exists()


def lease_of(task_id: int) -> datetime:
    until_when = Task.objects.values_list("lease_expires_at", flat=True).get(pk=task_id)
    assert until_when is not None
    return until_when


def only(body: Callable[[Claim], Outcome]) -> WorkerLoop:
    registry = Registry()
    registry.handler("test.work")(body)
    return WorkerLoop(registry)


def is_idle(loop: WorkerLoop) -> bool:
    """It has looked for work once more since it began to listen, and found none."""
    return Worker.objects.filter(name=loop.name).exists() and not loop.pulse.wake.is_set()


def test_a_notification_wakes_an_idle_worker() -> None:
    """Its next poll is an hour away."""
    with working(WorkerLoop(all_kinds())) as loop:
        until(partial(is_idle, loop))
        task_id = enqueue("test.quick").task_id
        until(partial(is_done, task_id))


def test_a_poll_finds_what_nobody_was_notified_of(settings: Settings) -> None:
    settings.QUEUE_POLL_SECONDS = 0.05
    with working(WorkerLoop(all_kinds())) as loop:
        until(partial(is_idle, loop))
        task = TaskFactory.create(kind="test.quick")
        until(partial(is_done, task.pk))


def test_a_blocking_handler_keeps_its_lease(settings: Settings) -> None:
    """Q6: the handler returns nothing, asks nothing and outlives the lease that it was given."""
    settings.QUEUE_LEASE_SECONDS = 1
    task_id = enqueue("test.stubborn").task_id
    with working(WorkerLoop(all_kinds())):
        until(Task.objects.filter(pk=task_id, status=TaskStatus.RUNNING).exists)
        first = lease_of(task_id)
        until(lambda: lease_of(task_id) > first + timedelta(seconds=1))
        assert claims.reap() == (0, 0)
        enqueue(GO)
        until(partial(is_done, task_id))

    assert marks("done") == [1]


def test_a_lost_claim_is_told_and_its_successors_lease_is_left_alone() -> None:
    heard: list[str] = []

    def body(claim: Claim) -> Outcome:
        until(lambda: not claim.still_mine())
        heard.append("lost")
        try:
            with transaction.atomic():
                claim.hold()
        except ClaimLost:
            heard.append("holds nothing")
        return Done()

    task_id = enqueue("test.work").task_id
    with working(only(body)):
        until(Task.objects.filter(pk=task_id, status=TaskStatus.RUNNING).exists)
        Task.objects.filter(pk=task_id).update(worker="successor", attempts=2, lease_expires_at=Now())
        taken = Task.objects.get(pk=task_id)
        until(lambda: len(heard) == 2)

    after = Task.objects.get(pk=task_id)
    assert (after.status, after.worker, after.attempts) == (TaskStatus.RUNNING, "successor", 2)
    assert after.lease_expires_at == taken.lease_expires_at


def test_progress_shows_while_the_handlers_own_transaction_is_open() -> None:
    """Q7: saved by the pulse. A handler's open row lock on its own task would stop its own heartbeat."""

    def body(claim: Claim) -> Outcome:
        with transaction.atomic():
            claim.hold()
            claim.progress(1, 3, "writing")
            until(Task.objects.filter(kind=GO).exists)
        return Done()

    task_id = enqueue("test.work").task_id
    with working(only(body)):
        shown = until(Task.objects.filter(pk=task_id, progress__done=1).first)
        enqueue(GO)
        until(partial(is_done, task_id))

    assert shown.progress == {"done": 1, "total": 3, "note": "writing"}
    assert shown.progress_at is not None


def test_a_cancel_reaches_a_running_handler(settings: Settings) -> None:
    """Q10: hurried by a notification; the next beat is an hour away."""
    settings.QUEUE_HEARTBEAT_SECONDS = NEVER_SECONDS
    task_id = enqueue("test.polite").task_id
    with working(WorkerLoop(all_kinds())):
        until(Worker.objects.filter(task=task_id).exists)  # it has beaten for this task
        request_cancel(task_id)
        until(Task.objects.filter(pk=task_id, status=TaskStatus.CANCELLED).exists)

    assert marks("done") == []


def test_an_idle_worker_survives_the_loss_of_its_connections() -> None:
    with working(WorkerLoop(all_kinds())) as loop:
        until(partial(is_idle, loop))
        cut_connections()
        task_id = enqueue("test.quick").task_id
        until(partial(is_done, task_id))
        until(partial(is_idle, loop))

        later = enqueue("test.quick").task_id  # heard again: polling would take an hour
        until(partial(is_done, later))


def test_a_handler_that_does_not_notice_keeps_its_claim_through_the_loss() -> None:
    begun, go = threading.Event(), threading.Event()

    def body(claim: Claim) -> Outcome:
        begun.set()
        assert go.wait(LONGEST_SECONDS)
        return Done()

    task_id = enqueue("test.work").task_id
    with working(only(body)):
        until(begun.is_set)
        cut_connections()
        before = lease_of(task_id)
        until(lambda: lease_of(task_id) > before)  # the pulse beats on a new connection
        go.set()
        until(partial(is_done, task_id))

    assert Task.objects.get(pk=task_id).attempts == 1


def test_a_handler_that_meets_the_loss_is_tried_again_and_done_once() -> None:
    """Q8: transient by its type."""
    task_id = enqueue("test.stubborn").task_id
    with working(WorkerLoop(all_kinds())) as loop:
        until(lambda: marks("begun") == [1])
        cut_connections()
        until(Task.objects.filter(pk=task_id, status=TaskStatus.PENDING).exists)
        enqueue(GO)
        Task.objects.filter(pk=task_id).update(not_before=Now())
        loop.pulse.wake.set()
        until(partial(is_done, task_id))

    assert marks("done") == [2]
    assert Task.objects.get(pk=task_id).errors[0]["error"].startswith("OperationalError")


def test_an_end_that_meets_a_broken_connection_is_recorded_on_another() -> None:
    def body(claim: Claim) -> Outcome:
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return Done(note="done all the same")

    task_id = enqueue("test.work").task_id
    with working(only(body)):
        until(partial(is_done, task_id))
        second = enqueue("test.work").task_id  # and the next task gets a connection that works
        until(partial(is_done, second))

    assert Task.objects.get(pk=task_id).attempts == 1


def test_a_worker_that_is_busy_still_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet of one keeps its schedule while its only task runs."""
    monkeypatch.setattr(ticks, "TICK_SECONDS", 0.05)
    registry = all_kinds()
    enqueue("test.stubborn")
    with working(WorkerLoop(registry)):
        until(lambda: marks("begun") == [1])
        registry.schedule("test.sweep")(lambda: every(NEVER_SECONDS))
        until(Task.objects.filter(kind="test.sweep").exists)
        enqueue(GO)


def test_a_worker_leaves_no_row_behind() -> None:
    with working(WorkerLoop(all_kinds(), name="night")) as loop:
        worker = until(Worker.objects.filter(name=loop.name).first)

    assert worker.name.startswith("night:")
    assert "test.quick" in worker.kinds
    assert not Worker.objects.exists()
