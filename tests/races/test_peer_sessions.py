"""What other queues' users reported about connections: notifications, poolers, half-open ones (Q6, Q10).

A test is named after the report it would have failed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from taskqueue.handlers import Claim, Done, Outcome, Registry
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, enqueue, enqueue_many, request_cancel
from taskqueue.services.claims import session_name
from taskqueue.services.tasks import WAKE_SECONDS, New
from taskqueue.worker import WorkerLoop, pulse
from taskqueue.worker.line import Line
from tests.taskqueue.connections import elsewhere, working
from tests.taskqueue.factories import TaskFactory, alive, claim, lose
from tests.taskqueue.waiting import LONGEST_SECONDS, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

NEVER_SECONDS = 3_600


@pytest.fixture(autouse=True)
def _quick(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but what the test is about happens by itself soon; and no pulse ends the tests' own process."""
    settings.QUEUE_POLL_SECONDS = NEVER_SECONDS
    settings.QUEUE_HEARTBEAT_SECONDS = 0.1
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(pulse, "GRACE_SECONDS", NEVER_SECONDS)


def only(body: Callable[[Claim], Outcome], line: Line | None = None, *, short: bool = False) -> WorkerLoop:
    registry = Registry()
    registry.handler("test.work", short=short)(body)
    return WorkerLoop(registry, line=line)


def quick(claim: Claim) -> Outcome:
    return Done()


def is_(status: TaskStatus, task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=status).exists()


class Handler:
    """Begins, and goes on until the test lets it end or it is stopped at a checkpoint."""

    def __init__(self) -> None:
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, claim: Claim) -> Outcome:
        self.has_begun.set()
        until(partial(self._ends, claim))
        return Done()

    def _ends(self, claim: Claim) -> bool:
        claim.checkpoint()
        return self.may_end.is_set()


def sessions_of(loop: WorkerLoop) -> list[tuple[str, str | None, str | None, str]]:
    """State, wait, oldest transaction that it keeps, and last statement of the worker's own sessions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state, wait_event, backend_xmin::text, query FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            [session_name(loop.name)],
        )
        return list(cursor.fetchall())


def cut(loop: WorkerLoop) -> None:
    """The worker's own session is ended by the server."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            [session_name(loop.name)],
        )


def is_idle(loop: WorkerLoop) -> bool:
    """It has beaten since it came, and its session has nothing to do."""
    beaten = Worker.objects.filter(name=loop.name, last_seen_at__gt=F("started_at"))
    return beaten.exists() and any(state == "idle" for state, *_ in sessions_of(loop))


@contextmanager
def listening(channel: str) -> Iterator[Callable[[], int]]:
    """Counts what is notified on the channel, up to the call."""
    where = connection.settings_dict
    address = {"host": where["HOST"], "port": where["PORT"], "user": where["USER"], "dbname": where["NAME"]}
    with psycopg.connect(**address, autocommit=True) as session:
        session.execute(f"LISTEN {channel}")

        def count() -> int:
            session.execute("SELECT pg_notify(%s, 'that is all')", [channel])
            heard = 0
            for notify in session.notifies(timeout=LONGEST_SECONDS):
                if notify.payload == "that is all":
                    break
                heard += 1
            return heard

        yield count


def test_river_1358_a_cancel_that_no_notification_carries_is_read_by_the_heartbeat() -> None:
    """The signal went by NOTIFY alone: lost, the job ran for up to an hour. The flag is in the row (Q10)."""
    handler = Handler()
    task_id = enqueue("test.work").task_id
    with working(only(handler)):
        until(handler.has_begun.is_set)
        Task.objects.filter(pk=task_id).update(cancel_requested_at=Now())
        until(partial(is_, TaskStatus.CANCELLED, task_id))


def test_e09_a_cancel_reaches_a_worker_whose_listening_session_was_just_cut(settings: Settings) -> None:
    settings.QUEUE_HEARTBEAT_SECONDS = 1
    handler = Handler()
    task_id = enqueue("test.work").task_id
    with working(only(handler)) as loop:
        until(handler.has_begun.is_set)
        cut(loop)
        assert request_cancel(task_id)
        until(partial(is_, TaskStatus.CANCELLED, task_id))


def test_procrastinate_1598_a_worker_that_drains_beats_and_can_be_cancelled() -> None:
    """Heartbeat and abort were stopped before the last job had ended (Q6, Q10, Q12)."""
    handler = Handler()
    task_id = enqueue("test.work").task_id
    with working(only(handler)) as loop:
        until(handler.has_begun.is_set)
        loop.stop()
        seen_at = Worker.objects.get(name=loop.name).last_seen_at
        until(Worker.objects.filter(name=loop.name, last_seen_at__gt=seen_at).exists)
        request_cancel(task_id)
        until(partial(is_, TaskStatus.CANCELLED, task_id))


def test_oban_1499_a_worker_whose_listening_session_was_cut_hears_again() -> None:
    """After the notifier had restarted nobody was woken any more. The next poll is an hour away (Q3)."""
    with working(only(quick)) as loop:
        until(partial(is_idle, loop))
        cut(loop)
        missed = enqueue("test.work").task_id  # while nobody listens, perhaps
        until(partial(is_, TaskStatus.DONE, missed))
        until(partial(is_idle, loop))
        heard = enqueue("test.work").task_id
        until(partial(is_, TaskStatus.DONE, heard))


def test_graphile_worker_rs_456_a_listening_session_holds_back_no_vacuum() -> None:
    """It read no socket while a job ran; stuck in a write it held its snapshot until a restart (Q6)."""
    handler = Handler()
    enqueue("test.work")
    with working(only(handler)) as loop:
        until(handler.has_begun.is_set)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_notify('queue', repeat('x', 7000) || n) FROM generate_series(1, 1000) n"
            )
        for _ in range(3):
            seen_at = Worker.objects.get(name=loop.name).last_seen_at
            until(Worker.objects.filter(name=loop.name, last_seen_at__gt=seen_at).exists)
        until(lambda: ("idle", "ClientRead", None) in [session[:3] for session in sessions_of(loop)])
        handler.may_end.set()


def test_procrastinate_1513_no_session_waits_for_a_dead_network_longer_than_a_lease(
    settings: Settings,
) -> None:
    """A half-open connection kept a worker silent for seven hours: nothing had a limit (Q5, Q6)."""
    settings.QUEUE_HEARTBEAT_SECONDS = 10
    line = Line("limits")
    [[limit]] = line.execute("SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'", {})
    asked = line._wrapper.connection.info.get_parameters()
    line.close()

    lease = settings.QUEUE_LEASE_SECONDS
    idle, interval, count = (int(asked[f"keepalives_{what}"]) for what in ("idle", "interval", "count"))
    assert 0 < limit / 1000 < lease
    assert 0 < int(asked["tcp_user_timeout"]) / 1000 < lease
    assert 0 < idle + interval * count < lease
    assert 0 < int(asked["connect_timeout"]) < lease


@pytest.mark.parametrize("priority", [50, 10])
def test_graphile_559_notifications_of_a_busy_producer_are_coalesced(priority: int) -> None:
    """Every NOTIFY takes a lock of the whole database at commit, and woke every worker (Q1).

    Of what is urgent each is told: somebody waits.
    """
    with listening("queue") as heard:
        began = time.monotonic()
        for _ in range(100):
            enqueue("test.work", priority=priority)
        windows = (time.monotonic() - began) / WAKE_SECONDS

        assert heard() <= (windows + 1 if priority == 50 else 100)


def test_graphile_559_a_transaction_and_a_bulk_notify_once() -> None:
    with listening("queue") as heard:
        with transaction.atomic():
            for number in range(50):
                enqueue("test.work", key=str(number))
        assert heard() == 1

        enqueue_many("test.work", [New(account=str(number)) for number in range(1_000)])
        assert heard() == 1


def test_e16_without_any_notification_a_task_waits_for_a_poll_at_most(settings: Settings) -> None:
    settings.QUEUE_POLL_SECONDS = 0.05
    with working(only(quick)) as loop:
        until(partial(is_idle, loop))
        task = TaskFactory.create()
        until(partial(is_, TaskStatus.DONE, task.pk))


class Pooled(Line):
    """As behind a pooler that deals out sessions by the transaction: each statement meets another session."""

    def execute(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        try:
            return super().execute(statement, values)
        finally:
            self._wrapper.close()


def test_good_job_482_a_worker_needs_nothing_of_its_session(settings: Settings) -> None:
    """Session locks, prepared statements and LISTEN were silently gone behind PgBouncer (Q5, Q6, Q10)."""
    settings.QUEUE_NOTIFICATIONS = False
    settings.QUEUE_POLL_SECONDS = 0.05
    handler = Handler()
    line = Pooled("pooled")
    kept = "SELECT name FROM pg_settings WHERE source = 'session' AND name <> 'application_name'"
    assert line.execute(f"{kept} AND name NOT IN ('TimeZone', 'client_encoding')", {}) == []

    with working(only(handler, line, short=True)) as loop:
        first = enqueue("test.work", account="ada").task_id
        second = enqueue("test.work", account="ada").task_id
        until(handler.has_begun.is_set)
        until(lambda: Worker.objects.get(name=loop.name).memory_bytes)  # it beats
        request_cancel(first)
        until(partial(is_, TaskStatus.CANCELLED, first))
        handler.may_end.set()
        until(partial(is_, TaskStatus.DONE, second))


@pytest.mark.parametrize("notifications", [True, False])
def test_good_job_482_the_order_of_claims_needs_no_setting_of_the_session(
    settings: Settings, notifications: bool
) -> None:
    """A pooled session plans as it likes: what is due first is first all the same (Q3)."""
    settings.QUEUE_NOTIFICATIONS = notifications
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO queue_task (kind, priority, not_before, position)"
            " SELECT 'test.work', 5, due, due + interval '30 s'"
            "   FROM generate_series(1, 300) AS n, LATERAL (SELECT now() - n * interval '1 s' AS due) AS at"
        )
        cursor.execute("ANALYZE queue_task")
    loop = only(quick)
    first = Task.objects.in_claim_order()[0]

    assert loop.step()
    loop.line.close()
    assert is_(TaskStatus.DONE, first.pk)


def test_authentik_21577_an_end_that_meets_a_dead_connection_is_recorded_once_on_another() -> None:
    """The worker tried again and again to complete on the connection that had died (Q5)."""
    loops: list[WorkerLoop] = []

    def body(claim: Claim) -> Outcome:
        if claim.payload:
            cut(loops[0])
        return Done()

    loops.append(only(body))
    task_id = enqueue("test.work", payload={"cut": True}).task_id
    with working(loops[0]):
        until(partial(is_, TaskStatus.DONE, task_id))
        until(partial(is_, TaskStatus.DONE, enqueue("test.work").task_id))

    assert Task.objects.get(pk=task_id).attempts == 1


def test_authentik_21577_a_worker_that_was_declared_lost_drops_its_result_and_ends() -> None:
    """After the lease somebody else has the task: the late result is dropped, and the process goes (Q5)."""
    handler = Handler()
    task_id = enqueue("test.work").task_id
    loop = only(handler)
    thread = threading.Thread(target=loop.run)
    thread.start()
    until(handler.has_begun.is_set)
    lose(loop.name)
    elsewhere(claims.reap)
    thread.join(LONGEST_SECONDS)

    assert not thread.is_alive()
    task = Task.objects.get(pk=task_id)
    assert (task.status, task.attempts, len(task.errors)) == (TaskStatus.PENDING, 1, 1)


def test_pgqueuer_630_a_worker_that_is_told_to_stop_leaves_nothing_picked() -> None:
    """After SIGTERM the rows of cancelled tasks stayed picked. What is in hand is given back (Q12)."""
    tasks = [enqueue("test.work").task_id for _ in range(40)]
    loops: list[WorkerLoop] = []

    def body(claim: Claim) -> Outcome:
        if claim.task_id == tasks[5]:  # of a batch that was claimed together
            loops[0].stop()
        return Done()

    loops.append(only(body, short=True))
    loops[0]._short_seconds = 0.001  # it takes many at once from the start
    assert loops[0].run()

    done = Task.objects.filter(status=TaskStatus.DONE)
    back = Task.objects.filter(status=TaskStatus.PENDING)
    assert (done.count(), back.count()) == (6, 34)
    assert back.filter(attempts__gt=0).exists()  # they were in hand
    assert {task.retries_spent for task in back} == {0}
    assert claim(alive("w").name) is not None
