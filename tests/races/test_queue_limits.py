"""Q8, Q9 and Q12 with real processes: a handler that takes too long or too much costs itself and no other."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import New, enqueue, enqueue_many
from tests.taskqueue.kinds import GO, marks, pids
from tests.taskqueue.processes import MOST_SHORT, runworker
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

MEGABYTE = 1_000_000


def is_done(task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=TaskStatus.DONE).exists()


def hurry_failed() -> int:
    """Another try waits up to ten seconds; the test does not."""
    return Task.objects.filter(status=TaskStatus.PENDING, position=None, attempts__gt=0).update(
        not_before=Now()
    )


def test_a_handler_over_its_time_loses_its_process_and_an_attempt() -> None:
    """It has no checkpoint that could stop it. What comes next is not kept waiting for it."""
    task_id = enqueue("test.overlong").task_id
    with runworker():
        until(lambda: marks("begun") == [1])
        other = enqueue("test.quick").task_id
        until(lambda: is_done(other))
        until(Task.objects.filter(pk=task_id).exclude(errors=[]).exists)
        enqueue(GO)
        until(lambda: hurry_failed() or is_done(task_id))
        until(lambda: is_done(task_id))

    # The wait before another try is drawn by lot: there may have been one before the test said go.
    task = Task.objects.get(pk=task_id)
    assert [error["attempt"] for error in task.errors] == list(range(1, task.attempts))
    assert all("ran for longer than 0:00:00.5" in error["error"] for error in task.errors)
    assert task.retries_spent == task.attempts == len(set(pids("begun")))
    assert marks("begun") == list(range(1, task.attempts + 1))


def test_a_worker_that_holds_too_much_memory_is_replaced_between_two_tasks() -> None:
    """No task is lost or tried again for it; what a handler has left behind goes with its process."""
    with runworker(max_bytes=250 * MEGABYTE):
        first = until(Worker.objects.first)
        hoarding = enqueue("test.greedy", payload={"bytes": 250 * MEGABYTE}).task_id
        until(lambda: is_done(hoarding))
        until(lambda: not Worker.objects.filter(pk=first.pk).exists())  # it left in good order
        other = enqueue("test.quick").task_id
        until(lambda: is_done(other))

    assert marks("done") == [1, 1]
    assert len(set(pids("done"))) == 2


@pytest.mark.parametrize("ends", ["crash", "stuck"])
def test_a_batch_whose_process_ends_is_repeated_and_nothing_beside_it(ends: str) -> None:
    """Nothing of it was recorded: at most what was in hand is repeated.

    In hand are a batch that is being recorded, the one that runs and the next one. What gave no cause spends
    no retry where the process could still give it back.
    """
    briefs = [{"ends": ends} if number == 43 else {} for number in range(90)]
    enqueue_many("test.brief", [New({**brief, "number": n}) for n, brief in enumerate(briefs)])
    with runworker():
        until(lambda: Task.objects.filter(kind="test.brief", attempts__gt=1).exists() or hurry_failed())
        enqueue(GO)
        until(lambda: hurry_failed() or not Task.objects.unfinished().filter(kind="test.brief").exists())
        until(lambda: not Task.objects.unfinished().filter(kind="test.brief").exists())

    tasks = Task.objects.filter(kind="test.brief")
    repeated = tasks.filter(attempts__gt=1)
    culprit = tasks.get(payload__number=43)
    assert not tasks.exclude(status=TaskStatus.DONE).exists()
    assert 1 < repeated.count() <= 3 * MOST_SHORT
    assert repeated.filter(pk=culprit.pk).exists()
    assert set(repeated.exclude(pk=culprit.pk).values_list("resumes", flat=True)) == {
        0 if ends == "crash" else 1
    }
    assert len(marks("begun")) - len(briefs) <= 2 * MOST_SHORT
    if ends == "stuck":
        assert "ran for longer" in culprit.errors[0]["error"]
        assert culprit.resumes == 0
