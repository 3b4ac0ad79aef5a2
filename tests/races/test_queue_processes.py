"""Q5, Q9, Q10 and Q12 with real processes: signals, kills and crashes."""

from __future__ import annotations

import os
import signal
import subprocess
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, enqueue
from taskqueue.worker import WorkerLoop
from tests.taskqueue.factories import RunningTaskFactory, lose
from tests.taskqueue.kinds import GO, all_kinds, marks
from tests.taskqueue.lines import SharedLine
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


def is_alone() -> bool:
    """Whether nobody but the test has a session in its database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return bool(cursor.fetchone()[0] == 0)


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


def sessions() -> dict[str, int]:
    """How many each process of a fleet has, by the name that it gives them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name, count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1"
        )
        return dict(cursor.fetchall())


def test_a_worker_has_its_handlers_connection_and_the_queues_and_no_third() -> None:
    """While one handler is at work, others have been, and short ones were recorded beside the next claim."""
    at_work = enqueue("test.stubborn").task_id
    others = [enqueue(kind).task_id for kind in ("test.quick", "test.brief") for _ in range(8)]

    with runworker("--concurrency", "2"):
        until(lambda: status_of(at_work) == TaskStatus.RUNNING and all(map(is_done, others)))
        counts = sessions()

    of_workers = {claims.session_name(name) for name in Worker.objects.values_list("name", flat=True)}
    assert len(of_workers) == 2
    assert of_workers <= counts.keys()
    assert max(counts[name] for name in of_workers) <= 2


def test_a_killed_workers_task_is_taken_over_and_done_once() -> None:
    """Q9: the whole process tree dies at once, as with its machine; nobody tells anybody."""
    task_id = enqueue("test.stubborn").task_id
    with runworker(lease_seconds=2) as process:
        until(lambda: marks("begun") == [1])
        dead = Worker.objects.get(name=Task.objects.get(pk=task_id).worker)
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
    assert WorkerLoop(all_kinds(), line=SharedLine()).step()
    assert marks("done") == [2]


def test_a_worker_whose_supervisor_was_killed_stops_by_itself() -> None:
    """And so does the ticker, which has no row but a session."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # what other tests have left there
    with runworker() as process:
        until(Worker.objects.exists)
        process.kill()
        until(lambda: not Worker.objects.exists())
        until(is_alone)


def test_what_becomes_due_and_what_is_lost_is_seen_to_while_every_worker_is_busy() -> None:
    """Q2, Q9: by the ticker, a process of its own beside them."""
    lost = RunningTaskFactory.create(kind="test.unknown", worker="worker-9")
    lose("worker-9")
    enqueue("test.stubborn")
    with runworker():
        until(lambda: marks("begun") == [1])
        later = enqueue("test.quick", not_before=timezone.now() + timedelta(seconds=0.2)).task_id
        until(Task.objects.in_line(["test.quick"]).filter(pk=later).exists)
        until(lambda: status_of(lost.pk) == TaskStatus.PENDING)
        enqueue(GO)
        until(lambda: is_done(later))
