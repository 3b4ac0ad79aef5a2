"""Q3, Q5, Q6 and Q7 with a running worker: waking up, beating, losing, and a database that goes away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from taskqueue.errors import ClaimLost
from taskqueue.handlers import Claim, Done, Outcome, Registry, every
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, enqueue, request_cancel
from taskqueue.worker import WorkerLoop, pulse, ticks
from taskqueue.worker.line import Line
from tests.taskqueue.connections import cut_connections, meanwhile, working
from tests.taskqueue.factories import TaskFactory, alive, lose
from tests.taskqueue.kinds import GO, all_kinds, marks
from tests.taskqueue.lines import WatchedLine
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


def is_running(task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=TaskStatus.RUNNING).exists()


def lease_of(worker: str) -> datetime:
    return Worker.objects.values_list("lease_expires_at", flat=True).get(name=worker)


def only(body: Callable[[Claim], Outcome]) -> WorkerLoop:
    registry = Registry()
    registry.handler("test.work")(body)
    return WorkerLoop(registry)


def watched() -> tuple[WorkerLoop, Callable[[], bool]]:
    """A worker, and whether it is idle: it has looked for work since it began to listen, and found none."""
    line = WatchedLine()
    loop = WorkerLoop(all_kinds(), line=line)
    return loop, lambda: line.is_asleep and Worker.objects.filter(name=loop.name).exists()


def test_a_notification_wakes_an_idle_worker() -> None:
    """Its next poll is an hour away."""
    loop, is_idle = watched()
    with working(loop):
        until(is_idle)
        task_id = enqueue("test.quick").task_id
        until(partial(is_done, task_id))


def test_a_poll_finds_what_nobody_was_notified_of(settings: Settings) -> None:
    settings.QUEUE_POLL_SECONDS = 0.05
    loop, is_idle = watched()
    with working(loop):
        until(is_idle)
        task = TaskFactory.create(kind="test.quick")
        until(partial(is_done, task.pk))


def test_a_worker_without_a_session_of_its_own_polls_and_keeps_no_state_in_it(settings: Settings) -> None:
    """A pooler may deal out sessions by the transaction: nothing is set, prepared or listened for."""
    settings.QUEUE_NOTIFICATIONS = False
    settings.QUEUE_POLL_SECONDS = 0.05
    kept: list[Any] = []

    def body(claim: Claim) -> Outcome:
        state = "SELECT (SELECT count(*) FROM pg_prepared_statements), current_setting('enable_seqscan'),"
        state += " (SELECT count(*) FROM pg_listening_channels())"
        kept.extend(loop.line.execute(state, {}))
        return Done()

    loop = only(body)
    with working(loop):
        first = enqueue("test.work").task_id
        until(partial(is_done, first))
        second = enqueue("test.work").task_id
        until(partial(is_done, second))

    assert kept == [(0, "on", 0)] * 2


def test_a_blocking_handler_keeps_its_lease(settings: Settings) -> None:
    """Q6: the handler returns nothing, asks nothing and outlives the lease that it was given."""
    settings.QUEUE_LEASE_SECONDS = 1
    task_id = enqueue("test.stubborn").task_id
    with working(WorkerLoop(all_kinds())) as loop:
        until(partial(is_running, task_id))
        first = lease_of(loop.name)
        until(lambda: lease_of(loop.name) > first + timedelta(seconds=1))
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
        until(partial(is_running, task_id))
        lease = alive("successor").lease_expires_at
        Task.objects.filter(pk=task_id).update(worker="successor", attempts=2)
        until(lambda: len(heard) == 2)

    after = Task.objects.get(pk=task_id)
    assert (after.status, after.worker, after.attempts) == (TaskStatus.RUNNING, "successor", 2)
    assert lease_of("successor") == lease


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
        until(lambda: marks("begun") == [1])
        until(Worker.objects.filter(last_seen_at__gt=F("started_at")).exists)  # and the first beat is over
        request_cancel(task_id)
        until(Task.objects.filter(pk=task_id, status=TaskStatus.CANCELLED).exists)

    assert marks("done") == []


def test_an_idle_worker_survives_the_loss_of_its_connections() -> None:
    loop, is_idle = watched()
    with working(loop):
        until(is_idle)
        cut_connections()
        task_id = enqueue("test.quick").task_id
        until(partial(is_done, task_id))
        until(is_idle)

        later = enqueue("test.quick").task_id  # heard again: polling would take an hour
        until(partial(is_done, later))


def test_a_handler_that_does_not_notice_keeps_its_claim_through_the_loss() -> None:
    begun, go = threading.Event(), threading.Event()

    def body(claim: Claim) -> Outcome:
        begun.set()
        assert go.wait(LONGEST_SECONDS)
        return Done()

    task_id = enqueue("test.work").task_id
    with working(only(body)) as loop:
        until(begun.is_set)
        cut_connections()
        before = lease_of(loop.name)
        until(lambda: lease_of(loop.name) > before)  # the pulse beats on a new connection
        go.set()
        until(partial(is_done, task_id))

    assert Task.objects.get(pk=task_id).attempts == 1


def test_a_handler_that_meets_the_loss_is_tried_again_and_done_once() -> None:
    """Q8: transient by its type."""
    task_id = enqueue("test.stubborn").task_id
    with working(WorkerLoop(all_kinds())):
        until(lambda: marks("begun") == [1])
        cut_connections()
        until(Task.objects.filter(pk=task_id, status=TaskStatus.PENDING).exists)
        enqueue(GO)
        Task.objects.filter(pk=task_id).update(not_before=Now())
        claims.promote()
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


def test_a_worker_that_was_declared_lost_ends_and_wants_a_successor() -> None:
    """Q5, Q6: whatever it did from now on under its name would change nothing."""
    loop = WorkerLoop(all_kinds())
    task_id = enqueue("test.polite").task_id
    with meanwhile(loop.run) as run:
        until(lambda: marks("begun") == [1])
        lose(loop.name)
        until(lambda: claims.reap() == (1, 0))  # at once, or when the row that it leaves behind is gone
        assert run.result(timeout=LONGEST_SECONDS) is False

    task = Task.objects.get(pk=task_id)
    assert (task.status, task.retries_spent, marks("done")) == (TaskStatus.PENDING, 1, [])


def test_a_claim_whose_answer_was_cut_off_is_made_again() -> None:
    """Q5: committed and never heard of; its worker lives and beats, so no reaper would ever come for it."""

    class CutLine(Line):
        has_been_cut = False

        def execute(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
            rows = super().execute(statement, values)
            if not self.has_been_cut and "marks" in values and len(rows) > 1:
                self.has_been_cut = True
                super().execute("SELECT pg_terminate_backend(pg_backend_pid())", {})  # raises
            return rows

    line = CutLine("cut")
    task_id = enqueue("test.quick", account="person:1").task_id
    with working(WorkerLoop(all_kinds(), line=line)):
        until(partial(is_done, task_id))

    assert line.has_been_cut
    assert marks("done") == [2]
    assert Task.objects.get(pk=task_id).retries_spent == 1


@contextmanager
def closing_down(ticker: ticks.Ticker) -> Iterator[None]:
    """Also a test that fails must end."""
    try:
        yield
    finally:
        ticker.stop()


def test_a_fleet_of_one_that_is_busy_keeps_its_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ticker waits for no worker, nor for a connection that one has."""
    monkeypatch.setattr(ticks, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(ticks, "TICK_SECONDS", 0.05)
    registry = all_kinds()
    enqueue("test.stubborn")
    ticker = ticks.Ticker(registry)
    with working(WorkerLoop(registry)), meanwhile(ticker.run), closing_down(ticker):
        until(lambda: marks("begun") == [1])
        registry.schedule("test.sweep")(lambda: every(NEVER_SECONDS))
        until(Task.objects.filter(kind="test.sweep").exists)
        later = enqueue("test.other", not_before=timezone.now() + timedelta(seconds=0.1)).task_id
        until(Task.objects.in_line(["test.other"]).filter(pk=later).exists)
        enqueue(GO)


def test_a_draining_worker_goes_on_after_what_it_could_not_record() -> None:
    """The statement that should have claimed the next task was refused: no sign that there is none."""
    registry = Registry()
    registry.handler("test.work")(lambda claim: Done(result=claim.payload["number"] * "\x00"))
    refused, empty = (enqueue("test.work", payload={"number": number}).task_id for number in (1, 0))

    assert WorkerLoop(registry, is_draining=True).run()

    assert Task.objects.get(pk=refused).status == TaskStatus.FAILED
    assert is_done(empty)


def test_a_worker_leaves_no_row_behind() -> None:
    with working(WorkerLoop(all_kinds(), name="night")) as loop:
        worker = until(Worker.objects.filter(name=loop.name).first)

    assert worker.name.startswith("night:")
    assert "test.quick" in worker.kinds
    assert not Worker.objects.exists()
