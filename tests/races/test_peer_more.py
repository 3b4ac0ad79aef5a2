"""What other queues' users reported that no other test says. docs/peers.md lists all reports.

A test is named after the report it would have failed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import Settings

from taskqueue.handlers import Claim, Done, Outcome, Registry, WaitForChildren
from taskqueue.models import Task, TaskStatus, Turn, Worker
from taskqueue.realtime import listener
from taskqueue.realtime.snapshots import Snapshot
from taskqueue.services import claims, enqueue, enqueue_children, request_cancel, retention
from taskqueue.services.claiming import step_statements
from taskqueue.services.claims import session_name
from taskqueue.services.families import end_parents
from taskqueue.worker import WorkerLoop, pulse
from tests.races.odd_worker import odd_worker
from tests.taskqueue.connections import working
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory, claim
from tests.taskqueue.kinds import GO, MARK, marks
from tests.taskqueue.lines import SharedLine
from tests.taskqueue.processes import runworker
from tests.taskqueue.waiting import LONGEST_SECONDS, until

ADA = "ada"


def is_(status: TaskStatus, task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=status).exists()


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def sessions_of(application_name: str) -> list[int]:
    """The server's processes for the sessions of that name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s",
            [application_name],
        )
        return [pid for (pid,) in cursor.fetchall()]


@contextmanager
def silent(application_name: str) -> Iterator[None]:
    """The server answers nothing to the sessions of that name until the block ends, and cuts none of them."""
    pids = until(lambda: sessions_of(application_name))
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


# Limits


@pytest.mark.django_db
def test_solid_queue_689_a_turn_is_its_tasks_for_as_long_as_that_runs() -> None:
    """A job that ran for longer than its semaphore was kept had company (Q4)."""
    running = RunningTaskFactory.create(account=ADA, started_at=Now() - timedelta(days=9))
    Turn.objects.create(
        lane="account:ada",
        number=1,
        task_id=running.pk,
        taken_at=Now() - timedelta(days=9),
    )
    TaskFactory.create(account=ADA)

    retention.prune()

    assert claims.free_turns() == 0
    assert claim("worker-2") is None


@pytest.mark.django_db
def test_pgqueuer_776_workers_that_were_told_different_numbers_keep_to_the_larger(settings: Settings) -> None:
    """Each worker counted up to a limit of its own. Here, as while a deploy changes the number (Q4)."""
    TaskFactory.create_batch(9, account=ADA)

    def claims_with(turns: int) -> Task | None:
        settings.QUEUE_ACCOUNT_TURNS = turns
        step_statements.cache_clear()
        return claim(f"told-{turns}")

    first = claims_with(2)
    assert first is not None
    assert claims_with(2) is not None
    assert claims_with(1) is None
    assert claims_with(2) is None

    assert claims.finish(first.token)
    for turns in (1, 2, 1, 2):
        claims_with(turns)
    assert Task.objects.running().count() == 2
    step_statements.cache_clear()


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_solid_queue_735_the_fleet_after_a_killed_one_runs_an_accounts_tasks_one_by_one() -> None:
    """Killed at the end of its grace, it left jobs of limit 1 that the next fleet ran at once (Q4)."""
    tasks = [enqueue("test.polite", account=ADA).task_id for _ in range(3)]
    with runworker("--concurrency", "3", lease_seconds=1.5) as killed:
        until(lambda: marks("begun") == [1])
        os.killpg(killed.pid, signal.SIGKILL)
    with runworker("--concurrency", "3", lease_seconds=1.5):
        until(lambda: len(marks("begun")) == 2)
        enqueue(GO)
        until(lambda: _hurry() or len(marks("done")) == 3)
        until(lambda: all(is_(TaskStatus.DONE, task_id) for task_id in tasks))

    subjects = Task.objects.filter(kind=MARK).order_by("pk").values_list("subject", flat=True)
    words = [subject.partition(":")[0] for subject in subjects]
    assert words == ["begun", *["begun", "done"] * 3]  # the first one was killed


def _hurry() -> int:
    """Another try waits up to ten seconds; the test does not. The fleet's ticker promotes."""
    return Task.objects.filter(status=TaskStatus.PENDING, position=None, attempts__gt=0).update(
        not_before=Now()
    )


# Machines and sessions


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_solid_queue_763_a_fleet_whose_machine_slept_goes_on_without_a_restart() -> None:
    """After sleep its scheduler was alive, unregistered and dead inside, and nobody replaced it (Q2, Q5)."""
    with odd_worker(lease_seconds=1.5) as supervisor:
        before = until(Worker.objects.first)
        os.killpg(supervisor.pid, signal.SIGSTOP)
        until(lambda: claims.reap() and Worker.objects.filter(pk=before.pk, lost_at__isnull=False).exists())
        later = TaskFactory.create(kind="test.quick", not_before=Now(), position=None)
        os.killpg(supervisor.pid, signal.SIGCONT)

        until(partial(is_, TaskStatus.DONE, later.pk))  # somebody ticks, and somebody works
        until(lambda: not is_running(before.pid))
        assert before.name not in Worker.objects.alive().values_list("name", flat=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_procrastinate_1596_a_worker_whose_server_never_answers_can_be_stopped() -> None:
    """It waited for an answer that never came, and only SIGKILL ended it (Q12)."""
    with odd_worker(lease_seconds=600) as supervisor:
        worker = until(Worker.objects.first)
        with silent(session_name(worker.name)):
            supervisor.terminate()
            supervisor.wait(LONGEST_SECONDS)

    assert not is_running(worker.pid)


class Audience:
    """Notes what it is told about the connection, and is interested in everybody's tasks."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def accounts(self) -> None:
        return None

    def publish(self, snapshots: Iterable[Snapshot]) -> None:
        self.told += [snapshot.status for snapshot in snapshots]

    def connected(self) -> None:
        self.told.append("connected")

    def disconnected(self) -> None:
        self.told.append("disconnected")


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_pg_boss_850_a_listener_whose_session_never_answers_listens_on_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half-open, it counted as connected for ever. In silence the listener asks, and pages are told (Q13)."""
    monkeypatch.setattr(listener, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(listener, "ANSWER_SECONDS", 1.0)
    audience = Audience()
    with following(audience):
        until(lambda: audience.told == ["connected"])
        with silent(listener.APPLICATION_NAME):
            until(lambda: audience.told == ["connected", "disconnected", "connected"])


@contextmanager
def following(audience: Audience) -> Iterator[None]:
    """The listener runs on an event loop in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    listening = loop.create_task(listener.listen(audience))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(listening)
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(listening.cancel)
        thread.join(LONGEST_SECONDS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_river_1245_a_cancel_reaches_a_worker_that_only_polls(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is notified, the cancel was dropped: the poller knew of no such thing (Q10)."""
    settings.QUEUE_NOTIFICATIONS = False
    settings.QUEUE_HEARTBEAT_SECONDS = 0.1
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 0.05)
    has_begun = threading.Event()

    def body(claim: Claim) -> Outcome:
        has_begun.set()
        until(lambda: claim.checkpoint())
        return Done()

    task_id = enqueue("test.work").task_id
    with working(WorkerLoop(registry_of(body))):
        until(has_begun.is_set)
        assert request_cancel(task_id)
        until(partial(is_, TaskStatus.CANCELLED, task_id))


def registry_of(body: Callable[[Claim], Outcome]) -> Registry:
    registry = Registry()
    registry.handler("test.work")(body)
    return registry


# Families


@pytest.mark.django_db
def test_oban_949_the_last_child_that_somebody_cancels_ends_its_parent() -> None:
    """A batch whose last open job was cancelled by hand never called back (Q10, Q11)."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    DoneTaskFactory.create(parent=parent)
    last = TaskFactory.create(parent=parent)
    assert end_parents() == 0

    assert request_cancel(last.pk)
    end_parents()

    assert is_(TaskStatus.DONE, parent.pk)


@pytest.mark.django_db
def test_oban_784_a_parent_of_done_failed_and_cancelled_children_ends() -> None:
    """Cancelled counted as neither completed nor discarded: such a batch was never exhausted (Q11)."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    states = (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED)
    children = [DoneTaskFactory.create(parent=parent, status=status) for status in states]

    assert end_parents() == 1

    parent.refresh_from_db()
    assert parent.status == TaskStatus.FAILED
    assert str(children[1].pk) in parent.error


@pytest.mark.django_db
def test_oban_1022_a_family_of_one_ends_with_its_child() -> None:
    """The callback of a batch of a single job did not run: the job ended before the batch was known (Q11)."""
    registry = Registry()

    @registry.handler("test.split")
    def split(claim: Claim) -> Outcome:
        assert enqueue_children(claim, "test.part", [{}]) == 1
        return WaitForChildren()

    @registry.handler("test.part")
    def part(claim: Claim) -> Outcome:
        return Done()

    parent = TaskFactory.create(kind="test.split")
    loop = WorkerLoop(registry, line=SharedLine())
    assert [loop.step(), loop.step(), loop.step()] == [True, True, False]

    assert is_(TaskStatus.DONE, parent.pk)
