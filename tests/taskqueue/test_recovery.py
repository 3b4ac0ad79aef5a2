"""Q8, Q9 and Q12: what becomes of an attempt that did not end well."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.models import Task, TaskStatus, Token, Worker
from taskqueue.services import claims, retry
from tests.taskqueue.factories import (
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    claim,
    claim_of,
    lose,
)
from tests.taskqueue.lines import look

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(hours=1)


def reloaded(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


@pytest.mark.parametrize(
    ("give_back", "status"),
    [
        (lambda token: claims.delay(token, until=LATER, reason="busy"), TaskStatus.PENDING),
        (lambda token: claims.park(token, until=LATER, note="batch 7"), TaskStatus.AWAITING_BATCH),
        (claims.release, TaskStatus.PENDING),
        (claims.wait, TaskStatus.WAITING),
    ],
    ids=["delay", "park", "release", "wait"],
)
def test_an_attempt_given_back_spends_no_retry_and_keeps_its_number(
    give_back: Callable[[Token], bool], status: TaskStatus
) -> None:
    task = RunningTaskFactory.create(attempts=3, resumes=1)
    assert task.retries_spent == 2

    assert give_back(task.token)

    after = reloaded(task)
    assert (after.status, after.attempts, after.resumes, after.retries_spent) == (status, 3, 2, 1)


def test_a_delay_and_a_park_are_due_when_they_say() -> None:
    delayed, parked, released = RunningTaskFactory.create_batch(3)
    claims.delay(delayed.token, until=LATER, reason="busy")
    claims.park(parked.token, until=LATER)
    claims.release(released.token)

    assert reloaded(delayed).not_before == reloaded(parked).not_before == LATER
    assert reloaded(released).not_before == released.not_before
    assert (reloaded(delayed).note, reloaded(delayed).error) == ("busy", "")


@pytest.mark.parametrize(("spent", "longest"), [(1, 10), (2, 20), (4, 80), (12, 3600), (40, 3600)])
def test_another_try_waits_longer_each_time_up_to_an_hour(spent: int, longest: int) -> None:
    task = RunningTaskFactory.create(attempts=spent + 2, resumes=2, max_attempts=100)
    before = timezone.now()

    assert claims.try_again(task.token, error="timeout")

    after = reloaded(task)
    assert (after.status, after.error) == (TaskStatus.PENDING, "timeout")
    assert before <= after.not_before <= timezone.now() + timedelta(seconds=longest)


def test_the_waits_are_spread() -> None:
    """Full jitter: tasks that failed together do not come back together."""
    tasks = RunningTaskFactory.create_batch(20, attempts=10, max_attempts=100)
    for task in tasks:
        claims.try_again(task.token, error="timeout")

    waits = [(reloaded(task).not_before - timezone.now()).total_seconds() for task in tasks]
    assert max(waits) - min(waits) > 360  # of 3,600: uniform draws are closer once in 10^17


def test_a_wait_that_the_handler_names_replaces_the_exponential_one() -> None:
    task = RunningTaskFactory.create()
    claims.try_again(task.token, error="come back", after=timedelta(hours=2))

    wait = reloaded(task).not_before - timezone.now()
    assert timedelta(minutes=119) < wait <= timedelta(hours=2)


def test_retries_spent_fail_the_task_with_its_payload_and_its_history() -> None:
    task = RunningTaskFactory.create(
        payload={"batch_ids": ["b1", "b2"]}, attempts=4, resumes=2, max_attempts=2
    )

    assert claims.try_again(task.token, error="timeout", detail="\nin fetch")

    after = reloaded(task)
    assert (after.status, after.error, after.worker) == (TaskStatus.FAILED, "timeout", "")
    assert after.payload == {"batch_ids": ["b1", "b2"]}
    assert after.finished_at is not None
    [entry] = after.errors
    assert (entry["attempt"], entry["worker"], entry["error"]) == (4, "worker-1", "timeout\nin fetch")


def test_every_failed_attempt_is_kept() -> None:
    TaskFactory.create()
    for number in (1, 2):
        task = claim(f"worker-{number}")
        assert task is not None
        claims.try_again(task.token, error=f"timeout {number}", after=timedelta(0))
        claims.promote()

    assert [entry["error"] for entry in Task.objects.get().errors] == ["timeout 1", "timeout 2"]


def test_a_terminal_error_fails_at_once() -> None:
    task = RunningTaskFactory.create(max_attempts=5)

    assert claims.fail(task.token, error="no such board")

    assert reloaded(task).status == TaskStatus.FAILED


def test_text_that_the_database_cannot_hold_is_recorded_without_it() -> None:
    task = RunningTaskFactory.create()

    assert claims.fail(task.token, error="page \x00 with \ud800 halves")

    assert reloaded(task).error == "page  with ? halves"


def test_success_forgets_the_last_error_but_not_the_history() -> None:
    task = RunningTaskFactory.create(error="timeout", errors=[{"error": "timeout"}])

    assert claims.finish(task.token, note="12 seen")

    after = reloaded(task)
    assert (after.status, after.error, after.note) == (TaskStatus.DONE, "", "12 seen")
    assert after.errors == [{"error": "timeout"}]


def test_the_reaper_takes_only_leases_that_ended(caplog: pytest.LogCaptureFixture) -> None:
    expired = {"worker": "worker-2"}
    alive = RunningTaskFactory.create()
    again = RunningTaskFactory.create(attempts=2, max_attempts=3, **expired)
    lost = RunningTaskFactory.create(attempts=3, max_attempts=3, payload={"batch_ids": ["b1"]}, **expired)
    given_back = RunningTaskFactory.create(attempts=3, resumes=2, max_attempts=3, **expired)
    unwanted = RunningTaskFactory.create(cancel_requested_at=Now(), **expired)
    lose("worker-2")

    with caplog.at_level(logging.WARNING):
        assert claims.reap() == (3, 1)

    assert reloaded(alive).status == TaskStatus.RUNNING
    assert reloaded(again).status == reloaded(given_back).status == TaskStatus.PENDING
    assert reloaded(unwanted).status == TaskStatus.CANCELLED
    assert (reloaded(lost).status, reloaded(lost).payload) == (TaskStatus.FAILED, {"batch_ids": ["b1"]})
    assert "its lease ended" in reloaded(lost).error
    assert reloaded(again).errors[0]["worker"] == "worker-2"
    assert "tasks_reaped=3 tasks_lost=1" in caplog.text


def test_a_lost_worker_stays_lost_and_claims_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Q5, Q6: its next beat tells it; until then it gets nothing more."""
    claimed = claim_of(RunningTaskFactory.create())
    TaskFactory.create()
    lose()
    claims.reap()
    Worker.objects.update(lease_expires_at=LATER)

    assert claim() is None
    assert look(claimed).is_lost
    assert not claimed.still_mine()
    assert Worker.objects.get().lost_at is not None
    assert "was declared lost" in caplog.text


def test_what_runs_in_the_name_of_a_worker_that_nobody_knows_is_reaped() -> None:
    """Its row is gone: it left in good order, or is long dead; its task did not."""
    task = RunningTaskFactory.create()
    Worker.objects.all().delete()

    assert claims.reap() == (1, 0)
    assert reloaded(task).status == TaskStatus.PENDING


def test_a_retry_by_hand_gives_all_retries_back_without_going_back_a_generation() -> None:
    task = FailedTaskFactory.create(attempts=5, resumes=1, max_attempts=4)

    assert retry(task.pk)

    after = reloaded(task)
    assert (after.status, after.attempts, after.retries_spent) == (TaskStatus.PENDING, 5, 0)
    assert (after.error, after.finished_at) == ("", None)
    claimed = claim("worker-2", {"test.work": 4})
    assert claimed is not None
    assert claimed.attempts == 6


@pytest.mark.parametrize("factory", [TaskFactory, RunningTaskFactory])
def test_a_retry_of_what_has_not_ended_changes_nothing(factory: type[TaskFactory]) -> None:
    task = factory.create()

    assert not retry(task.pk)

    assert reloaded(task).status == task.status
