"""Why a task is not claimed: the words follow the predicate that the claim itself asks (Q3, Q4)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.models import HostBudget, Task, TaskStatus, Turn, Worker, conditions
from taskqueue.services import claims, request_cancel
from taskqueue.services.waiting import ANYBODY, WORDS, is_free, run_now, why_they_wait, why_waiting
from taskqueue.services.watching import live_kinds
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    claim,
    lose,
)
from tests.taskqueue.factories import WorkerFactory as BareWorkerFactory

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=5)


def worker(name: str = "worker-1") -> Worker:
    """Alive, and able to run what the tests queue."""
    return BareWorkerFactory.create(name=name, kinds=["test.work"])


def ready() -> Task:
    return TaskFactory.create()


def not_due() -> Task:
    return TaskFactory.create(not_before=timezone.now() + LATER, note="the host was busy")


def due_and_not_in_line() -> Task:
    task = TaskFactory.create(not_before=timezone.now() - LATER)
    Task.objects.update(position=None)
    return task


def awaiting_batch() -> Task:
    return TaskFactory.create(status=TaskStatus.AWAITING_BATCH, not_before=timezone.now() + LATER)


def of_unknown_kind() -> Task:
    return TaskFactory.create(kind="test.unknown")


def of_closed_host() -> Task:
    HostBudget.objects.refuse("closed.example.com", 3_600)
    return TaskFactory.create(host="closed.example.com")


def of_busy_account() -> Task:
    TaskFactory.create(account="7", priority=1)
    assert claim()
    return TaskFactory.create(account="7")


def of_busy_host() -> Task:
    for _ in range(4):
        TaskFactory.create(host="a.example.com", priority=1)
        assert claim()
    return TaskFactory.create(host="a.example.com")


def of_free_account() -> Task:
    Turn.objects.create(lane="account:7", number=1)
    return TaskFactory.create(account="7")


def running() -> Task:
    return RunningTaskFactory.create()


def cancelled() -> Task:
    task = TaskFactory.create()
    assert request_cancel(task.pk)
    return task


def with_children() -> Task:
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    DoneTaskFactory.create(parent=parent, kind="test.unknown")
    TaskFactory.create(parent=parent, kind="test.unknown")
    return parent


CASES: list[tuple[Callable[[], Task], str]] = [
    (ready, f"{ANYBODY}; 0 of its kind are before it; 0 of the 1 workers that run test.work are at work"),
    (not_due, "it is not due until 20"),
    (not_due, "UTC: the host was busy"),
    (due_and_not_in_line, "and not yet in line: no ticker seems to run"),
    (awaiting_batch, "it awaits a batch, which is looked at again at 20"),
    (of_unknown_kind, "none of the 1 live workers runs test.unknown"),
    (of_closed_host, "closed.example.com takes no request before 20"),
    (of_busy_account, "its account has its turn taken by task "),
    (of_busy_host, "its host has all its 4 turns taken by task "),
    (of_free_account, f"{ANYBODY}; 0 of its account are before it"),
    (running, "UTC, in worker-1"),
    (cancelled, "it has ended: cancelled at 20"),
    (with_children, "it waits for its children: 1 done, 1 pending"),
]


@pytest.mark.parametrize(
    ("make", "words"), CASES, ids=[f"{make.__name__}-{n}" for n, (make, _) in enumerate(CASES)]
)
def test_the_reason_is_the_predicate_s_own(make: Callable[[], Task], words: str) -> None:
    worker()
    task = make()

    reasons = why_waiting(task)

    assert words in " ".join(map(str, reasons))
    assert Task.objects.claimable(live_kinds()).filter(pk=task.pk).exists() == is_free(reasons)
    claimed = claim()
    assert (claimed is not None and claimed.pk == task.pk) == is_free(reasons)


def test_every_part_of_the_predicate_has_words() -> None:
    assert set(WORDS) == set(conditions([]))


def test_every_part_that_does_not_hold_is_named() -> None:
    task = of_busy_account()
    lose()
    HostBudget.objects.refuse("closed.example.com", 3_600)
    Task.objects.filter(pk=task.pk).update(host="closed.example.com", position=None, not_before=Now() + LATER)

    reasons = [reason.words for reason in why_waiting(task)]

    assert len(reasons) == 4
    assert reasons[1] == "no worker is alive"


def test_the_task_that_has_the_turn_is_named() -> None:
    worker()
    first = TaskFactory.create(account="7")
    assert claim()

    (reason,) = why_waiting(TaskFactory.create(account="7"))

    assert reason.task_ids == (first.pk,)
    assert str(first.pk) in reason.words


def test_a_lane_s_lowered_number_of_turns_counts_as_the_claim_counts_it() -> None:
    """Q4: the second turn is taken, the first is free, and one is what the account may have."""
    worker()
    holder = RunningTaskFactory.create(account="7")
    Turn.objects.create(lane="account:7", number=1)
    Turn.objects.create(lane="account:7", number=2, task_id=holder.pk)
    task = TaskFactory.create(account="7")

    assert why_waiting(task)[0].words.startswith(ANYBODY)
    assert Task.objects.claimable(live_kinds()).filter(pk=task.pk).exists()
    assert claim() == task


def test_those_before_it_are_counted_in_its_own_line() -> None:
    worker()
    worker("worker-2")
    RunningTaskFactory.create(worker="worker-2")
    TaskFactory.create(account="8")
    for _ in range(2):
        TaskFactory.create(account="7")

    (reason,) = why_waiting(TaskFactory.create(account="7"))

    assert "2 of its account are before it" in reason.words
    assert "1 of the 2 workers that run test.work are at work" in reason.words


def test_many_take_no_more_queries_than_one(django_assert_max_num_queries: Any) -> None:
    worker()
    makers = (ready, of_busy_account, of_busy_host, of_closed_host, with_children, running, not_due)
    tasks = [make() for make in makers] + [ready() for _ in range(20)]

    with django_assert_max_num_queries(5):
        reasons = why_they_wait(tasks)

    assert set(reasons) == {task.pk for task in tasks}


def test_a_task_that_is_gone_says_so() -> None:
    task = ready()
    Task.objects.all().delete()

    assert [str(reason) for reason in why_waiting(task)] == ["it is gone"]


@pytest.mark.parametrize("make", [not_due, awaiting_batch])
def test_what_is_not_due_runs_now_when_somebody_says_so(make: Callable[[], Task]) -> None:
    for _ in range(3):
        TaskFactory.create(not_before=timezone.now() - timedelta(hours=1))
    task = make()

    assert run_now(task.pk)

    assert claim() == task


def test_what_is_in_line_goes_to_its_head_once() -> None:
    for _ in range(3):
        TaskFactory.create(not_before=timezone.now() - timedelta(hours=1))
    task = TaskFactory.create()

    assert run_now(task.pk)
    assert not run_now(task.pk)

    assert claim() == task


@pytest.mark.parametrize("make", [running, cancelled, with_children, FailedTaskFactory.create])
def test_what_does_not_wait_for_its_time_is_left_alone(make: Callable[[], Task]) -> None:
    """The loser of a guarded write."""
    task = make()
    before = Task.objects.values().get(pk=task.pk)

    assert not run_now(task.pk)

    assert Task.objects.values().get(pk=task.pk) == before


def test_run_now_waits_for_the_account_s_turn_all_the_same() -> None:
    """Q4."""
    task = of_busy_account()

    run_now(task.pk)

    assert claim() is None


def test_a_retry_that_was_put_off_keeps_its_attempts_when_hurried() -> None:
    """Q8: hurrying spends nothing and gives nothing back."""
    TaskFactory.create()
    held = claim()
    assert held is not None
    claims.try_again(held.token, error="away", after=LATER)

    assert run_now(held.pk)

    again = claim()
    assert again is not None
    assert (again.pk, again.attempts) == (held.pk, 2)
    assert Task.objects.get(pk=held.pk).resumes == 0
