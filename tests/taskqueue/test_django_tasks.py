"""Django's Tasks API on this queue: what its users rely on, and what the queue adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.dispatch import Signal
from django.utils import timezone
from django_tasks import TaskResult, TaskResultStatus, default_task_backend
from django_tasks.checks import check_tasks
from django_tasks.exceptions import InvalidTaskError, TaskResultDoesNotExist, TaskResultMismatch
from django_tasks.signals import task_enqueued, task_finished, task_started
from pytest_django import Settings

from taskqueue.django_tasks import KIND, AttemptFailed, current_claim, perform, task_of
from taskqueue.errors import Cancelled, ClaimLost, ShuttingDown
from taskqueue.handlers import Claim, Registry, known
from taskqueue.models import Task, TaskStatus
from taskqueue.services import enqueue, request_cancel
from taskqueue.worker import WorkerLoop
from tests.claims import claimed
from tests.taskqueue import some_tasks
from tests.taskqueue.connections import elsewhere, working
from tests.taskqueue.waiting import until
from tests.worker_process import worker

pytestmark = pytest.mark.django_db(transaction=True)

TASKS = {
    "default": {"BACKEND": "taskqueue.django_tasks.QueueBackend", "QUEUES": ["default", "mail"]},
    "immediate": {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"},
}
LATER = timezone.now() + timedelta(hours=1)


@pytest.fixture(autouse=True)
def _tasks(settings: Settings) -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # as many connections as a worker has, not as the tests had
    settings.TASKS = TASKS
    some_tasks.called.clear()


def fleet() -> WorkerLoop:
    """A worker with the product's own handler."""
    return WorkerLoop(Registry(kinds={KIND: known().kinds[KIND]}))


def refreshed(result: TaskResult[Any]) -> TaskResult[Any]:
    result.refresh()
    return result


def ended(result: TaskResult[Any]) -> TaskResult[Any]:
    until(lambda: refreshed(result).is_finished)
    return result


def run(result: TaskResult[Any]) -> TaskResult[Any]:
    """The result once a worker has run everything up to it."""
    with working(fleet()):
        return ended(result)


def payload(task: str = "tests.taskqueue.some_tasks.add", **changes: Any) -> dict[str, Any]:
    options = {"backend": "default", "queue": "default", "priority": 0, "run_after": None}
    return {"task": task, "args": [1], "kwargs": {}, **options, **changes}


@contextmanager
def told(*signals: Signal) -> Iterator[list[tuple[str, str, int]]]:
    """What receivers of the signals heard: the result's id, status and number of errors at that moment."""
    heard: list[tuple[str, str, int]] = []

    def receiver(sender: type, task_result: TaskResult[Any], **kwargs: Any) -> None:
        heard.append((task_result.id, str(task_result.status), len(task_result.errors)))

    for signal in signals:
        signal.connect(receiver)
    try:
        yield heard
    finally:
        for signal in signals:
            signal.disconnect(receiver)


def test_a_function_runs_on_the_fleet_and_its_value_is_read_back() -> None:
    result = some_tasks.add.enqueue(2, second=3)
    assert (result.status, result.attempts, result.started_at) == (TaskResultStatus.READY, 0, None)

    with working(fleet()) as loop:
        ended(result)

    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, 5)
    assert (result.worker_ids, result.attempts, result.errors) == ([loop.name], 1, [])
    assert result.enqueued_at is not None
    assert result.started_at is not None
    assert result.finished_at is not None
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert result.last_attempted_at == result.started_at
    assert Task.objects.get(pk=result.id).subject == "tests.taskqueue.some_tasks.add"


def test_another_process_reads_the_result_by_its_id() -> None:
    queued = some_tasks.add.using(priority=7, queue_name="mail", run_after=LATER)
    result = queued.enqueue(2, second=3)

    found = some_tasks.add.get_result(result.id)

    assert found.task == queued
    assert (found.args, found.kwargs, found.backend) == ([2], {"second": 3}, "default")
    assert found.status == TaskResultStatus.READY
    with pytest.raises(TaskResultMismatch):
        some_tasks.note.get_result(result.id)


@pytest.mark.parametrize("result_id", ["0", "", "x", "-1", "²", "9" * 40, "None"])
def test_an_unknown_id_has_no_result(result_id: str) -> None:
    with pytest.raises(TaskResultDoesNotExist):
        default_task_backend.get_result(result_id)


def test_other_tasks_of_the_queue_have_no_result_here() -> None:
    other = enqueue("test.work", payload=payload())
    with pytest.raises(TaskResultDoesNotExist):
        default_task_backend.get_result(str(other.task_id))


def test_a_task_is_part_of_the_callers_transaction() -> None:
    """Q1: nobody sees it before the commit, and a rollback takes it back."""
    with transaction.atomic():
        result = some_tasks.add.enqueue(1)
        assert elsewhere(Task.objects.filter(kind=KIND).exists) is False
        transaction.set_rollback(True)

    with pytest.raises(TaskResultDoesNotExist):
        result.refresh()


@pytest.mark.parametrize(("theirs", "ours"), [(-100, 150), (0, 50), (100, -50)])
def test_a_higher_priority_of_theirs_is_a_lower_one_of_the_queue(theirs: int, ours: int) -> None:
    result = some_tasks.add.using(priority=theirs).enqueue(1)

    assert Task.objects.get(pk=result.id).priority == ours


def test_the_higher_priority_runs_first() -> None:
    last = some_tasks.note.using(priority=-100).enqueue("low")
    some_tasks.note.enqueue("normal")
    some_tasks.note.using(priority=100).enqueue("high")

    run(last)

    assert some_tasks.called == ["high", "normal", "low"]


def test_run_after_is_when_it_may_start() -> None:
    later = some_tasks.note.using(run_after=LATER).enqueue("later")
    now = some_tasks.note.enqueue("now")

    run(now)

    assert Task.objects.get(pk=later.id).not_before == LATER
    assert refreshed(later).status == TaskResultStatus.READY
    assert some_tasks.called == ["now"]


def test_what_the_function_raises_is_final_and_named() -> None:
    result = run(some_tasks.sell.enqueue("tea"))

    assert (result.status, result.attempts) == (TaskResultStatus.FAILED, 1)
    [error] = result.errors
    assert error.exception_class is some_tasks.OutOfStock
    assert "no tea:\nsold yesterday" in error.traceback
    assert "some_tasks.py" in error.traceback
    assert "in sell" in error.traceback
    with pytest.raises(ValueError, match="failed"):
        result.return_value  # noqa: B018
    row = Task.objects.get(pk=result.id)
    assert row.error == "Raised: tests.taskqueue.some_tasks.OutOfStock: no tea:\nsold yesterday"


@pytest.mark.parametrize(
    ("task", "error"),
    [
        (some_tasks.call_out, ConnectionResetError),
        (some_tasks.leave, SystemExit),
        (some_tasks.give_an_object, TypeError),
    ],
    ids=["a type that the queue's own kinds try again", "an exit", "a value that is not JSON"],
)
def test_no_failure_of_the_function_is_tried_again(task: Any, error: type[BaseException]) -> None:
    """The API knows no second try; the function knows best which of its errors another one cures."""
    result = run(task.enqueue())

    assert (result.status, result.attempts) == (TaskResultStatus.FAILED, 1)
    assert [failed.exception_class for failed in result.errors] == [error]


def test_no_value_is_a_value() -> None:
    result = run(some_tasks.note.enqueue("nothing"))

    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, None)


def test_an_async_function_is_queued_run_and_read_back() -> None:
    result = run(async_to_sync(some_tasks.double.aenqueue)(21))

    found: TaskResult[Any] = async_to_sync(some_tasks.double.aget_result)(result.id)
    assert found.return_value == 42


def test_a_function_is_told_which_attempt_it_is() -> None:
    result = run(some_tasks.attempt.enqueue())

    assert result.return_value == [1, result.id]


def test_a_lost_workers_task_is_run_again() -> None:
    """Q9: a real worker process, which the function takes down. The attempt is in the result."""
    result = some_tasks.crash_once.enqueue()
    with worker(TASKS=TASKS):
        ended(result)

    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, 2)
    [lost] = result.errors
    assert lost.exception_class is AttemptFailed
    assert "worker was lost" in lost.traceback
    assert result.attempts == 2
    assert len(set(result.worker_ids)) == 2
    assert all(result.worker_ids)


def test_a_running_function_shows_its_progress_and_can_be_cancelled() -> None:
    """Q10, through the claim; for the API's readers a cancelled task has failed, and they see why."""
    result = some_tasks.work_on.enqueue()
    with told(task_finished) as heard, working(fleet()):
        until(Task.objects.filter(pk=result.id, progress__done=1).exists)
        assert refreshed(result).status == TaskResultStatus.RUNNING
        request_cancel(int(result.id))
        ended(result)

    assert Task.objects.get(pk=result.id).status == TaskStatus.CANCELLED
    assert result.status == TaskResultStatus.FAILED
    assert [error.exception_class for error in result.errors] == [Cancelled]
    assert heard == [(result.id, TaskResultStatus.FAILED, 1)]


def test_outside_a_task_there_is_no_claim() -> None:
    claim = claimed(KIND, **payload())
    perform(claim, task_of(claim.payload))

    assert current_claim() is None


def test_an_import_error_is_a_failed_attempt_and_the_worker_goes_on() -> None:
    """A newer release's function, while an older worker still runs: it is tried again, later."""
    missing = enqueue(KIND, payload=payload("tests.taskqueue.not_yet.send"), priority=0).task_id
    run(some_tasks.add.enqueue(1))

    row = Task.objects.get(pk=missing)
    assert (row.status, len(row.errors)) == (TaskStatus.PENDING, 1)
    assert row.not_before > timezone.now()
    assert row.error == "builtins.ModuleNotFoundError: No module named 'tests.taskqueue.not_yet'"
    with pytest.raises(ModuleNotFoundError):
        default_task_backend.get_result(str(missing))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (payload("os.system", args=["true"]), "os.system is not a task"),
        (payload("tests.taskqueue.some_tasks.not_a_task", args=[]), "is not a task"),
        (payload(backend="immediate"), "'immediate' is not a backend of this queue"),
        (payload(backend="elsewhere"), "elsewhere"),
        (payload(queue="unknown"), "'unknown' is not valid"),
        ({"args": [1]}, "KeyError: 'task'"),
    ],
)
def test_nothing_but_a_task_of_this_backend_is_called(wrong: Mapping[str, Any], reason: str) -> None:
    """Q14: refused with the reason, at once."""
    refused = enqueue(KIND, payload=wrong, priority=0).task_id
    run(some_tasks.add.enqueue(1))

    row = Task.objects.get(pk=refused)
    assert row.status == TaskStatus.FAILED
    assert reason in row.error
    assert some_tasks.called == []


def test_a_task_that_no_worker_would_find_is_not_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidTaskError, match="not_a_task is not a task"):
        some_tasks.under_another_name.enqueue()
    monkeypatch.setattr(some_tasks.add.func, "__module__", "__main__")
    with pytest.raises(InvalidTaskError, match="is in a script"):
        some_tasks.add.enqueue(1)
    monkeypatch.setattr(some_tasks.add.func, "__module__", "tests.taskqueue.gone")
    with pytest.raises(InvalidTaskError, match="would not find"):
        some_tasks.add.enqueue(1)

    assert not Task.objects.exists()


@pytest.mark.parametrize("argument", [object(), float("nan"), "a\x00b", ["\\\x00"], "\ud800", {1: {2}}])
def test_an_argument_that_no_row_can_hold_is_refused_before_the_database_is_asked(argument: Any) -> None:
    """The caller's transaction is not broken by it."""
    with transaction.atomic():
        with pytest.raises((TypeError, ValueError)):
            some_tasks.note.enqueue(argument)
        assert not Task.objects.exists()


@pytest.mark.parametrize(
    ("argument", "kept"),
    [(("a", 1), ["a", 1]), ({1: "a"}, {"1": "a"}), ("\\u0000", "\\u0000"), ("ü🙂\n", "ü🙂\n"), (b"ab", "ab")],
)
def test_a_function_gets_its_arguments_as_json_keeps_them(argument: Any, kept: Any) -> None:
    result = some_tasks.note.enqueue(argument)
    assert result.args == [kept]

    run(result)

    assert some_tasks.called == [kept]


def test_receivers_hear_of_each_step() -> None:
    with told(task_enqueued, task_started, task_finished) as heard:
        well = some_tasks.add.enqueue(1)
        badly = run(some_tasks.sell.enqueue("tea"))

    assert heard == [
        (well.id, TaskResultStatus.READY, 0),
        (badly.id, TaskResultStatus.READY, 0),
        (well.id, TaskResultStatus.RUNNING, 0),
        (well.id, TaskResultStatus.SUCCESSFUL, 0),
        (badly.id, TaskResultStatus.RUNNING, 0),
        (badly.id, TaskResultStatus.FAILED, 1),
    ]


def test_a_receiver_that_fails_is_not_the_tasks_fault() -> None:
    def broken(**kwargs: Any) -> None:
        raise RuntimeError("no such channel")

    task_started.connect(broken)
    try:
        result = run(some_tasks.add.enqueue(1))
    finally:
        task_started.disconnect(broken)

    assert result.status == TaskResultStatus.SUCCESSFUL


def test_a_lost_claim_tells_nobody_of_an_end() -> None:
    """Q5: the end is the next worker's to tell."""
    claim = claimed(KIND, **payload())
    claim.lose()
    with told(task_finished) as heard:
        perform(claim, task_of(claim.payload))

    assert heard == []


@pytest.mark.parametrize(
    ("tell", "stopped"), [(Claim.lose, ClaimLost), (Claim.stop, ShuttingDown)], ids=["lost", "given back"]
)
def test_a_function_that_stops_because_it_runs_again_has_not_ended(
    tell: Callable[[Claim], None], stopped: type[BaseException]
) -> None:
    """Q5, Q12: the function calls `checkpoint`; what stops it goes on to the worker."""
    claim = claimed(KIND, **payload("tests.taskqueue.some_tasks.work_on", args=[]))
    tell(claim)
    with told(task_finished) as heard, pytest.raises(stopped):
        perform(claim, task_of(claim.payload))

    assert heard == []


def test_a_function_that_asks_a_busy_host_waits_for_it() -> None:
    """Q8: no failure. The attempt was given back: it counts, and nobody says whose it was."""
    result = some_tasks.ask.enqueue(LATER.isoformat())
    with told(task_finished) as heard:
        ended_after = run(some_tasks.add.enqueue(1))

    row = Task.objects.get(pk=result.id)
    assert (row.status, row.not_before, row.retries_spent) == (TaskStatus.PENDING, LATER, 0)
    assert (refreshed(result).status, result.errors) == (TaskResultStatus.READY, [])
    assert result.worker_ids == [""]
    assert heard == [(ended_after.id, TaskResultStatus.SUCCESSFUL, 0)]


def test_the_apis_own_checks_pass() -> None:
    assert list(check_tasks()) == []
