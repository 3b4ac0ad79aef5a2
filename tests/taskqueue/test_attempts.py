"""Q8 and Q14: from what a handler returns or raises to what the row says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from taskqueue.errors import HostBusy
from taskqueue.handlers import (
    Claim,
    Delay,
    Done,
    Every,
    Fail,
    Outcome,
    Park,
    Registry,
    Retry,
    WaitForChildren,
    every,
)
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import request_cancel
from taskqueue.worker import WorkerLoop
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, claim_of
from tests.taskqueue.lines import SharedLine, look

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(hours=1)


class BoardIsDown(Exception):
    """What an app declares to be transient."""


def run(body: Callable[[Claim], Any], **handler_options: Any) -> Task:
    """One task, run by one step of a worker whose only handler is `body`."""
    registry = Registry()
    registry.handler("test.work", **handler_options)(body)
    task = TaskFactory.create(payload={"number": 7})
    assert WorkerLoop(registry, line=SharedLine()).step()
    return Task.objects.get(pk=task.pk)


def raising(error: BaseException) -> Callable[[Claim], Outcome]:
    def body(claim: Claim) -> Outcome:
        raise error

    return body


@pytest.mark.parametrize(
    ("outcome", "status", "spent"),
    [
        (Done(note="ok"), TaskStatus.DONE, 1),
        (Park(until=LATER, note="batch"), TaskStatus.AWAITING_BATCH, 0),
        (Retry(reason="again"), TaskStatus.PENDING, 1),
        (Fail(reason="never"), TaskStatus.FAILED, 1),
        (Delay(until=LATER, reason="busy"), TaskStatus.PENDING, 0),
        (WaitForChildren(note="split"), TaskStatus.WAITING, 0),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, TaskStatus | int) else "",
)
def test_each_outcome_is_a_state_of_the_row(outcome: Outcome, status: TaskStatus, spent: int) -> None:
    task = run(lambda claim: outcome)

    assert (task.status, task.retries_spent, task.worker) == (status, spent, "")


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("server closed the connection"),
        InterfaceError("connection already closed"),
        psycopg.OperationalError("no route"),
        ConnectionResetError("peer"),
        TimeoutError("slow"),
        BoardIsDown("502"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_a_transient_type_is_tried_again(error: Exception) -> None:
    task = run(raising(error), transient=(BoardIsDown,))

    assert (task.status, task.retries_spent) == (TaskStatus.PENDING, 1)
    assert task.error == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    "error",
    [
        BoardIsDown("not declared here"),
        KeyError("source_id"),
        ValueError("connection timed out: words decide nothing"),
        SystemExit(3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_other_error_fails_the_task_with_its_type_its_words_and_its_place(error: BaseException) -> None:
    task = run(raising(error))

    assert (task.status, task.error) == (TaskStatus.FAILED, f"{type(error).__name__}: {error}")
    assert "raise error" in task.errors[0]["error"]


def test_the_history_names_the_handler_s_own_line_however_deep_the_error_was() -> None:
    def body(claim: Claim) -> Outcome:
        Task.objects.filter(pk="ada").exists()  # fails some twenty frames further down
        return Done()

    task = run(body)

    assert 'Task.objects.filter(pk="ada")' in task.errors[0]["error"]
    assert "get_prep_value" in task.errors[0]["error"]


def test_retries_are_as_many_as_the_handler_allows() -> None:
    task = run(raising(TimeoutError()), max_attempts=1)

    assert task.status == TaskStatus.FAILED


def test_a_busy_host_that_nobody_caught_delays_the_task() -> None:
    task = run(raising(HostBusy("boards.example.com", LATER)))

    assert (task.status, task.not_before, task.retries_spent) == (TaskStatus.PENDING, LATER, 0)


def test_a_handler_that_returns_no_outcome_fails() -> None:
    task = run(lambda claim: None)

    assert task.status == TaskStatus.FAILED
    assert "None, which is no outcome" in task.error


def test_an_outcome_that_no_row_can_hold_fails_the_task() -> None:
    task = run(lambda claim: Park(until="some day"))  # type: ignore[arg-type]

    assert task.status == TaskStatus.FAILED
    assert "cannot be recorded" in task.error


def test_the_handler_sees_its_claim() -> None:
    seen: dict[str, Any] = {}

    def body(claim: Claim) -> Outcome:
        seen.update(payload=claim.payload, kind=claim.kind, attempt=claim.attempt, mine=claim.still_mine())
        return Done()

    run(body)

    assert seen == {"payload": {"number": 7}, "kind": "test.work", "attempt": 1, "mine": True}


def test_the_last_progress_is_saved_with_the_end() -> None:
    def body(claim: Claim) -> Outcome:
        claim.progress(1, 3)
        claim.progress(3, 3, "all read")
        return Done()

    task = run(body)

    assert task.progress == {"done": 3, "total": 3, "note": "all read"}
    assert task.progress_at is not None


def test_progress_that_no_row_can_hold_is_saved_without_it() -> None:
    """In the pulse it would stop the heartbeat."""

    def body(claim: Claim) -> Outcome:
        claim.progress(1, 3, "page \x00 with \ud800 halves")
        return Done()

    assert run(body).progress == {"done": 1, "total": 3, "note": "page  with ? halves"}


def test_progress_that_says_the_same_again_moves_no_time() -> None:
    """Q7: alive is not advancing."""
    task = RunningTaskFactory.create(progress={"done": 1, "total": 3, "note": ""}, progress_at=LATER)
    claim = claim_of(task)

    claim.progress(1, 3)
    claim.save_progress()

    assert Task.objects.get(pk=task.pk).progress_at == LATER


@pytest.mark.parametrize(
    "says", [lambda claim: None, lambda claim: claim.progress(1, 3)], ids=["none", "same"]
)
def test_a_heartbeat_without_news_moves_no_time(says: Callable[[Claim], None]) -> None:
    """Q7."""
    task = RunningTaskFactory.create(progress={"done": 1, "total": 3, "note": ""}, progress_at=LATER)
    claim = claim_of(task)
    says(claim)

    assert not look(claim).is_lost

    after = Task.objects.get(pk=task.pk)
    assert (after.progress, after.progress_at) == (task.progress, LATER)


def test_a_heartbeat_with_news_saves_them() -> None:
    task = RunningTaskFactory.create(progress={"done": 1, "total": 3, "note": ""}, progress_at=LATER)
    claim = claim_of(task)
    claim.progress(2, 3)

    assert not look(claim).is_lost

    assert claim.unsaved_progress is None
    after = Task.objects.get(pk=task.pk)
    assert after.progress == {"done": 2, "total": 3, "note": ""}
    assert after.progress_at is not None
    assert after.progress_at < LATER


def test_a_heartbeat_says_how_much_memory_the_process_holds() -> None:
    """A process that grows and grows is seen, and replaced, before the machine runs out of it."""
    pulse = look(claim_of(RunningTaskFactory.create()))

    assert Worker.objects.get().memory_bytes == (pulse._memory_bytes or None)
    assert pulse._memory_bytes == 0 or pulse._memory_bytes > 10**7


def test_a_handler_that_sees_the_cancel_is_acknowledged_as_cancelled() -> None:
    def body(claim: Claim) -> Outcome:
        request_cancel(claim.task_id)
        claim.cancel()  # as the pulse does when its beat brings the flag
        claim.checkpoint()
        return Done()

    assert run(body).status == TaskStatus.CANCELLED


def test_a_handler_that_is_stopped_gives_its_attempt_back() -> None:
    """Q12."""

    def body(claim: Claim) -> Outcome:
        claim.stop()
        claim.checkpoint()
        return Done()

    task = run(body)

    assert (task.status, task.attempts, task.retries_spent) == (TaskStatus.PENDING, 1, 0)


def test_a_handlers_own_net_for_exceptions_does_not_keep_it_running() -> None:
    def body(claim: Claim) -> Outcome:
        claim.stop()
        try:
            with transaction.atomic():
                claim.checkpoint()
        except Exception as error:
            return Fail(reason=str(error))
        return Done()

    assert run(body).status == TaskStatus.PENDING


def test_a_handler_that_lost_its_claim_records_nothing() -> None:
    def body(claim: Claim) -> Outcome:
        Task.objects.filter(pk=claim.task_id).update(attempts=9)
        with transaction.atomic():
            claim.hold()
        return Done()

    task = run(body)

    assert (task.status, task.attempts, task.finished_at) == (TaskStatus.RUNNING, 9, None)


def test_a_worker_runs_only_what_it_was_told_to() -> None:
    registry = Registry()
    for kind in ("test.work", "test.other"):
        registry.handler(kind)(lambda claim: Done())
    other = TaskFactory.create(kind="test.other")
    TaskFactory.create(kind="test.work")
    loop = WorkerLoop(registry, kinds=["test.work"], line=SharedLine())

    assert loop.step()
    assert not loop.step()
    assert Task.objects.get(pk=other.pk).status == TaskStatus.PENDING


def test_two_starts_of_a_worker_have_two_names() -> None:
    """Q5: no restart repeats an incarnation, even within one process."""
    assert WorkerLoop(Registry(), name="w").name != WorkerLoop(Registry(), name="w").name


def test_a_kind_has_one_handler_and_one_schedule() -> None:
    registry = Registry()
    registry.handler("test.work")(lambda claim: Done())
    registry.schedule("test.work")(lambda: every(60))

    with pytest.raises(ValueError, match="two handlers"):
        registry.handler("test.work")(lambda claim: Done())
    with pytest.raises(ValueError, match="two schedules"):
        registry.schedule("test.work")(lambda: Every(60))


def test_the_end_of_the_last_child_ends_the_parent_without_waiting_for_a_tick() -> None:
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    registry = Registry()
    registry.handler("test.part")(lambda claim: Done())
    TaskFactory.create(kind="test.part", parent=parent)

    assert WorkerLoop(registry, line=SharedLine()).step()

    assert Task.objects.get(pk=parent.pk).status == TaskStatus.DONE


class Untold(Exception):
    """Its text cannot be made."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error


@pytest.mark.parametrize("error", [OperationalError("away"), ValueError("none"), SystemExit()], ids=repr)
def test_an_error_whose_text_cannot_be_made_fails_its_task_alone(error: BaseException) -> None:
    task = run(raising(Untold(error)))

    assert task.status == TaskStatus.FAILED
    assert task.error == f"Untold: (its text cannot be made: {type(error).__name__})"


NO_TEXT: list[Any] = [None, 7]


@pytest.mark.parametrize("text", NO_TEXT)
@pytest.mark.parametrize(
    "outcome", [Fail, Retry, partial(Park, LATER), Done], ids=["fail", "retry", "park", "done"]
)
def test_an_outcome_that_says_no_text_fails_the_task(outcome: Callable[[Any], Outcome], text: Any) -> None:
    task = run(lambda claim: outcome(text))

    assert task.status == (TaskStatus.DONE if outcome is Done and text is None else TaskStatus.FAILED)
    assert task.status == TaskStatus.DONE or "AttributeError" in task.error


def test_progress_that_no_page_could_show_is_refused() -> None:
    task = run(lambda claim: claim.progress(10**5000))

    assert (task.status, task.progress) == (TaskStatus.FAILED, None)
    assert "2**53" in task.error


@pytest.mark.parametrize("payload", ['{"n": 1e5000}', "[" * 5000 + "]" * 5000], ids=["a number", "nesting"])
def test_a_payload_that_cannot_be_read_fails_its_task_with_the_reason(payload: str) -> None:
    """The database holds what this process cannot read; it ended the worker."""
    task, other = TaskFactory.create_batch(2)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE queue_task SET payload = %s::jsonb WHERE id = %s", [payload, task.pk])
    registry = Registry()
    registry.handler("test.work")(lambda claim: Done())
    loop = WorkerLoop(registry, line=SharedLine())

    assert [loop.step(), loop.step(), loop.step()] == [True, True, False]

    rows = Task.objects.defer("payload").in_bulk([task.pk, other.pk])
    assert (rows[task.pk].status, rows[other.pk].status) == (TaskStatus.FAILED, TaskStatus.DONE)
    assert "UnreadablePayload: the payload cannot be read" in rows[task.pk].error
