"""What a handler leaves on its connection harms its own task alone (Q5, Q8)."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue.handlers import Claim, Done, Fail, Outcome, Registry, Retry
from taskqueue.models import Task, TaskStatus, Turn
from taskqueue.services import claims
from taskqueue.worker import WorkerLoop, loop
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, WorkerFactory
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

MARK = "test.mark"


@pytest.fixture(autouse=True)
def _collected_when_asked() -> Iterator[None]:
    """What lies in a cycle stays until the worker looks for it: else it goes when a counter says so."""
    gc.disable()
    yield
    gc.enable()


SHORT_AT_ONCE = 1.0


def write(claim: Claim) -> None:
    Task.objects.create(kind=MARK, subject=str(claim.task_id), status=TaskStatus.DONE, finished_at=Now())


def written() -> set[str]:
    return set(Task.objects.filter(kind=MARK).values_list("subject", flat=True))


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def autocommit_off() -> None:
    transaction.set_autocommit(False)


def a_block_in_a_cycle() -> None:
    """A generator that nobody finishes, and that only the collector finds."""

    def rows() -> Iterator[int]:
        with transaction.atomic():
            yield 1

    cycle: list[Any] = [rows()]
    cycle.append(cycle)
    next(cycle[0])


LEAVES: dict[str, Callable[[], None]] = {
    "autocommit off": autocommit_off,
    "BEGIN": partial(execute, "BEGIN"),
    "a block entered": lambda: transaction.atomic().__enter__(),
    "a block in a cycle": a_block_in_a_cycle,
}
OUTCOMES: dict[str, Callable[[], Outcome]] = {
    "done": Done,
    "retry": lambda: Retry("again"),
    "raises": lambda: 1 / 0,  # type: ignore[dict-item,return-value]
}


def drain(leave: Callable[[], None], end: Callable[[], Outcome], *, is_short: bool = False) -> list[Task]:
    """Tasks that write, of which the second leaves something behind; their rows afterwards."""
    registry = Registry()

    @registry.handler("test.work", short=is_short)
    def work(claim: Claim) -> Outcome:
        if not claim.payload.get("leaves"):
            write(claim)
            return Done()
        leave()
        write(claim)
        return end()

    tasks = [TaskFactory.create(account="ada", payload={"leaves": number == 1}) for number in range(4)]
    assert WorkerLoop(registry, is_draining=True).run()
    return [Task.objects.get(pk=task.pk) for task in tasks]


@pytest.mark.parametrize("end", OUTCOMES.values(), ids=OUTCOMES)
@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_a_transaction_left_open_is_rolled_back_and_the_others_are_done(
    leave: Callable[[], None], end: Callable[[], Outcome]
) -> None:
    """What was reported as recorded was not, its turn stayed taken, and the next task paid for it."""
    first, guilty, *others = drain(leave, end)

    assert {task.status for task in (first, *others)} == {TaskStatus.DONE}
    assert written() == {str(task.pk) for task in (first, *others)}
    assert guilty.status == (TaskStatus.PENDING if end is OUTCOMES["retry"] else TaskStatus.FAILED)
    if end is Done:
        assert "left a transaction open" in guilty.error
    assert not Turn.objects.exclude(task_id=None).exists()


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_a_short_task_that_leaves_one_open_takes_no_other_of_its_batch_along(
    leave: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were recorded as done, and what they had written was rolled back."""
    monkeypatch.setattr(loop, "SHORT_SECONDS", SHORT_AT_ONCE)

    first, guilty, *others = drain(leave, Done, is_short=True)

    assert {task.status for task in (first, *others)} == {TaskStatus.DONE}
    assert written() == {str(task.pk) for task in (first, *others)}
    assert guilty.status == TaskStatus.FAILED


@pytest.mark.parametrize("setting", ["statement_timeout = '1ms'", "default_transaction_read_only = on"])
@pytest.mark.parametrize("outcome", [Done(), Fail("never")], ids=["done", "failed"])
def test_the_next_task_runs_and_a_failure_is_recorded_whatever_the_session_was_set_to(
    setting: str, outcome: Outcome
) -> None:
    """`SET` outlives a transaction: recording timed out for ever."""

    def end() -> Outcome:
        execute(f"SET {setting}")
        return outcome

    first, guilty, *others = drain(lambda: None, end)

    assert (guilty.status, guilty.error) in [(TaskStatus.DONE, ""), (TaskStatus.FAILED, "never")]
    assert {task.status for task in (first, *others)} == {TaskStatus.DONE}
    assert written() == {str(task.pk) for task in (first, guilty, *others)}


@pytest.mark.parametrize("end", OUTCOMES.values(), ids=OUTCOMES)
def test_a_handler_that_ignores_signals_does_so_for_its_own_time(end: Callable[[], Outcome]) -> None:
    """Q12: its worker could not be told to stop any more."""

    def ignore() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    before = signal.getsignal(signal.SIGTERM)

    drain(ignore, end)

    assert signal.getsignal(signal.SIGTERM) is before


def test_a_thread_of_the_handler_that_holds_the_claim_is_ended_with_the_attempt() -> None:
    """Its statement runs for hours; nothing of the process could record the failure meanwhile."""
    worker = WorkerFactory.create(name="host:0123456789abcdef")
    task = RunningTaskFactory.create(worker=worker.name)
    holding = threading.Thread(target=_hold_for_hours, args=[task])
    holding.start()
    until(lambda: _sessions("pg_sleep") == 1)

    assert claims.fail(task.token, error="boom")

    holding.join(30)
    assert not holding.is_alive()
    assert Task.objects.get(pk=task.pk).status == TaskStatus.FAILED


def test_a_failure_that_waits_for_nobody_cuts_no_session_of_its_worker() -> None:
    """A thread that another task of this worker started goes on."""
    worker = WorkerFactory.create(name="host:0123456789abcdef")
    task, other = RunningTaskFactory.create_batch(2, worker=worker.name)
    holding = threading.Thread(target=_hold_for_hours, args=[other])
    holding.start()
    until(lambda: _sessions("pg_sleep") == 1)

    assert claims.fail(task.token, error="boom")

    assert _sessions("pg_sleep") == 1
    execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'worker:%'")
    holding.join(30)


def _hold_for_hours(task: Task) -> None:
    try:
        with transaction.atomic():
            execute(f"SET LOCAL application_name = '{claims.session_name(task.worker)}'")
            claims.hold(task.token)
            execute("SELECT pg_sleep(7200)")
    except Exception:  # noqa: S110 - its session was ended
        pass
    finally:
        connection.close()


def _sessions(words: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE %s AND pid <> pg_backend_pid()"
            " AND state <> 'idle'",
            [f"%{words}%"],
        )
        return int(cursor.fetchone()[0])


def test_a_child_that_a_handler_forks_ends_with_the_handler() -> None:
    """It came back into the worker's loop, and recorded over its parent's session."""
    pids: list[int] = []

    def fork() -> None:
        if pid := os.fork():
            pids.append(pid)
            os.waitpid(pid, 0)

    tasks = drain(fork, Done)

    assert len(pids) == 1
    assert {task.status for task in tasks} == {TaskStatus.DONE}
    assert written() >= {str(task.pk) for task in tasks}
