"""Q5, Q9, Q10 and Q12 with real processes: signals, kills and crashes."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import enqueue
from taskqueue.worker import WorkerLoop
from tests.taskqueue.kinds import GO, all_kinds, marks
from tests.taskqueue.processes import runworker
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def status_of(task_id: int) -> str:
    return Task.objects.values_list("status", flat=True).get(pk=task_id)


def is_done(task_id: int) -> bool:
    return status_of(task_id) == TaskStatus.DONE


def hurry_after_reaping(task_id: int) -> None:
    """Another try waits up to ten seconds; the test does not."""
    reaped = Task.objects.filter(pk=task_id, status=TaskStatus.PENDING, attempts__gt=0)
    until(lambda: reaped.update(not_before=Now()))


def ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def test_draining_runs_everything_but_what_is_excluded_and_ends_with_0() -> None:
    tasks = [enqueue("test.quick").task_id for _ in range(6)]
    excluded = enqueue("test.polite").task_id

    with runworker("--concurrency", "2", "--drain", "--exclude-kinds", "test.polite") as process:
        until(lambda: ended(process))

    assert process.returncode == 0
    assert all(is_done(task_id) for task_id in tasks)
    assert marks("done") == [1] * 6
    assert status_of(excluded) == TaskStatus.PENDING
    assert not Worker.objects.exists()


def test_a_killed_workers_task_is_taken_over_and_done_once() -> None:
    """Q9: the whole process tree dies at once, as with its machine; nobody tells anybody."""
    task_id = enqueue("test.stubborn").task_id
    with runworker(lease_seconds=2) as process:
        dead = until(Worker.objects.filter(task=task_id).first)
        until(lambda: marks("begun") == [1])
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert (list(Worker.objects.all()), status_of(task_id)) == ([dead], TaskStatus.RUNNING)

    enqueue(GO)
    with runworker(lease_seconds=2):
        hurry_after_reaping(task_id)
        until(lambda: is_done(task_id))

    assert marks("begun") == [1, 2]
    assert marks("done") == [2]
    task = Task.objects.get(pk=task_id)
    assert (task.retries_spent, task.errors[0]["worker"]) == (2, dead.name)


def test_a_crash_of_one_task_stops_neither_the_others_nor_the_fleet() -> None:
    crash = enqueue("test.suicidal").task_id
    with runworker(lease_seconds=2):
        until(lambda: marks("begun") == [1])
        other = enqueue("test.quick").task_id
        hurry_after_reaping(crash)
        until(lambda: is_done(other) and is_done(crash))

    assert marks("begun") == [1, 2]


def test_a_worker_that_is_told_to_stop_finishes_within_the_grace() -> None:
    """Q12."""
    task_id = enqueue("test.stubborn").task_id
    with runworker() as process:
        until(lambda: marks("begun") == [1])
        process.send_signal(signal.SIGTERM)
        enqueue(GO)
        until(lambda: ended(process))

    assert process.returncode == 0
    assert is_done(task_id)


@pytest.mark.parametrize(
    ("kind", "signals", "grace_seconds"),
    [
        ("test.polite", [signal.SIGTERM], 2),
        ("test.stubborn", [signal.SIGTERM], 2),
        ("test.stubborn", [signal.SIGTERM, signal.SIGINT], 600),
    ],
    ids=["at a checkpoint", "by force", "at once when asked twice"],
)
def test_a_worker_that_is_told_to_stop_gives_its_task_back(
    kind: str, signals: list[signal.Signals], grace_seconds: int
) -> None:
    """Q12: the attempt is given back and another worker takes the task."""
    task_id = enqueue(kind).task_id
    with runworker(grace_seconds=grace_seconds) as process:
        until(lambda: marks("begun") == [1])
        for number in signals:
            process.send_signal(number)
        until(lambda: ended(process))

    task = Task.objects.get(pk=task_id)
    assert (task.status, task.attempts, task.retries_spent) == (TaskStatus.PENDING, 1, 0)
    assert marks("stopped") == ([1] if kind == "test.polite" else [])
    assert process.returncode == 0
    assert not Worker.objects.exists()

    enqueue(GO)
    assert WorkerLoop(all_kinds()).step()
    assert marks("done") == [2]


def test_a_worker_whose_supervisor_was_killed_stops_by_itself() -> None:
    with runworker() as process:
        until(Worker.objects.exists)
        process.kill()
        until(lambda: not Worker.objects.exists())
