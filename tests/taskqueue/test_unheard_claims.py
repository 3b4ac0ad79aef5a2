"""Q5 and Q8: a claim that was committed while its answer got lost is nobody's for no longer than a moment."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from django.db import OperationalError, connection

from taskqueue.handlers import Claim, Done, Fail, Outcome, Registry
from taskqueue.models import Task, TaskStatus, Turn
from taskqueue.services import claims, request_cancel
from taskqueue.worker import WorkerLoop
from taskqueue.worker import loop as worker_loop
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory, claim
from tests.taskqueue.lines import SharedLine

pytestmark = pytest.mark.django_db


class BreakingLine(SharedLine):
    """Breaks at the next claim that finds something: the server has done it, and nobody hears of it."""

    is_to_break = True

    def execute(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        rows = super().execute(statement, values)
        is_claim = "marks" in values and len(rows) > 1
        if is_claim and self.is_to_break:
            self.is_to_break = False
            raise OperationalError("server closed the connection unexpectedly")
        return rows


def worker(line: SharedLine, *, is_short: bool = False) -> WorkerLoop:
    def body(claim: Claim) -> Outcome:
        return Done(note=f"attempt {claim.attempt}")

    registry = Registry()
    registry.handler("test.work", short=is_short)(body)
    return WorkerLoop(registry, line=line)


def test_a_claim_that_was_never_heard_of_is_given_back_and_made_again() -> None:
    task = TaskFactory.create(account="person:1")
    loop = worker(BreakingLine())
    with pytest.raises(OperationalError):
        loop.step()
    task.refresh_from_db()
    assert (task.status, task.worker, task.attempts) == (TaskStatus.RUNNING, loop.name, 1)

    assert loop.step()

    task.refresh_from_db()
    assert (task.status, task.note, task.retries_spent) == (TaskStatus.DONE, "attempt 2", 1)
    assert not Turn.objects.exclude(task_id=None).exists()


def test_what_the_lost_statement_recorded_stays_recorded_and_is_not_run_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The same statement claimed the next task: that one is given back."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    first = TaskFactory.create(parent=parent, priority=20)
    second = TaskFactory.create()
    line = BreakingLine()
    line.is_to_break = False
    loop = worker(line)
    loop.pulse.register()
    loop._advance()
    line.is_to_break = True
    with pytest.raises(OperationalError):
        loop._advance()

    with caplog.at_level(logging.WARNING):
        assert loop.step()

    first.refresh_from_db()
    second.refresh_from_db()
    parent.refresh_from_db()
    assert (first.status, first.note, first.attempts) == (TaskStatus.DONE, "attempt 1", 1)
    assert (second.status, second.note, second.retries_spent) == (TaskStatus.DONE, "attempt 2", 1)
    assert parent.status == TaskStatus.DONE


def test_a_batch_that_was_never_heard_of_is_given_back_whole() -> None:
    TaskFactory.create_batch(6)
    line = BreakingLine()
    line.is_to_break = False
    loop = worker(line, is_short=True)
    loop._short_seconds = 0.0
    loop.step()
    line.is_to_break = True
    with pytest.raises(OperationalError):
        loop.step()
    assert Task.objects.running().count() == 5

    while loop.step():
        pass

    ended = Task.objects.order_by("pk").values_list("status", "note", "resumes")
    assert list(ended) == [("done", "attempt 1", 0)] + [("done", "attempt 2", 1)] * 5


def test_only_what_runs_in_the_workers_name_and_is_not_in_its_hands_is_given_back() -> None:
    in_hand, unheard = RunningTaskFactory.create_batch(2)
    others = RunningTaskFactory.create(worker="worker-2")
    done = DoneTaskFactory.create()

    assert claims.give_back_unknown("worker-1", in_hand=[in_hand.pk]) == 1

    statuses = dict(Task.objects.values_list("pk", "status"))
    assert statuses == {
        in_hand.pk: TaskStatus.RUNNING,
        unheard.pk: TaskStatus.PENDING,
        others.pk: TaskStatus.RUNNING,
        done.pk: TaskStatus.DONE,
    }
    assert "never heard" in Task.objects.get(pk=unheard.pk).note
    assert claim("worker-3") == unheard


def test_a_worker_that_heard_of_everything_gives_nothing_back() -> None:
    task = RunningTaskFactory.create()

    assert claims.give_back_unknown("worker-1", in_hand=[task.pk]) == 0


def test_what_was_to_be_cancelled_meanwhile_is_cancelled() -> None:
    """Q10: nobody else has to take it first."""
    task = TaskFactory.create()
    loop = worker(BreakingLine())
    with pytest.raises(OperationalError):
        loop.step()
    request_cancel(task.pk)

    loop.step()

    task.refresh_from_db()
    assert (task.status, task.note) == (TaskStatus.CANCELLED, "")


def test_what_the_reaper_took_meanwhile_is_not_given_back_again() -> None:
    task = RunningTaskFactory.create(max_attempts=1)
    claims.fail(task.token, error="broken")

    assert claims.give_back_unknown("worker-1", in_hand=[]) == 0
    task.refresh_from_db()
    assert (task.status, task.resumes) == (TaskStatus.FAILED, 0)


def test_a_batch_that_breaks_off_gives_back_what_was_claimed_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next batch is claimed while this one runs; nobody is left to run it."""
    monkeypatch.setattr(worker_loop, "MOST_SHORT", 2)

    def broken(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if '"queue_task"."parent_id" = ' in sql:  # the question that follows a failed child's end
            connection.execute_wrappers.remove(broken)
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, params, many, context)

    def body(claim: Claim) -> Outcome:
        if claim.task_id == failing.pk:
            connection.execute_wrappers.append(broken)
            return Fail("broken")
        return Done(note=f"attempt {claim.attempt}")

    registry = Registry()
    registry.handler("test.work", short=True)(body)
    loop = WorkerLoop(registry, line=SharedLine())
    loop._short_seconds = 0.0
    parent = TaskFactory.create(kind="test.split", status=TaskStatus.WAITING)
    first = TaskFactory.create()
    failing = TaskFactory.create(parent=parent)
    others = TaskFactory.create_batch(4)
    assert loop.step()  # the first, alone
    with pytest.raises(OperationalError):
        loop.step()
    assert Task.objects.running().exists()

    while loop.step():
        pass

    assert not Task.objects.running().exists()
    assert set(
        Task.objects.filter(pk__in=[first.pk, *[task.pk for task in others]]).values_list("status", flat=True)
    ) == {TaskStatus.DONE}


def test_a_claim_that_was_committed_after_its_worker_had_given_up_on_it_is_given_back() -> None:
    """The statement was still under way when what was unknown was given back. The next heartbeat tells."""
    line = SharedLine()
    loop = worker(line)
    loop.pulse.register()
    task = RunningTaskFactory.create(worker=loop.name, account="person:1")
    assert not loop.step()

    loop.pulse._beat()

    assert loop.step()
    task.refresh_from_db()
    assert (task.status, task.note, task.retries_spent) == (TaskStatus.DONE, "attempt 2", 1)


def test_a_heartbeat_during_a_task_gives_nothing_back_that_is_in_hand() -> None:
    task = TaskFactory.create()
    registry = Registry()

    @registry.handler("test.work")
    def body(claim: Claim) -> Outcome:
        loop.pulse._beat()
        return Done(note=f"attempt {claim.attempt}")

    loop = WorkerLoop(registry, line=SharedLine())
    assert loop.step()
    assert not loop.step()

    task.refresh_from_db()
    assert (task.status, task.note, task.resumes) == (TaskStatus.DONE, "attempt 1", 0)
