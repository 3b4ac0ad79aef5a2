"""kill -9 of a part of a fleet member: the rest of it sees to what is left, and nobody waits for a lease."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import enqueue
from tests.races.fault_kinds import effects, hurry, is_done, say_go
from tests.races.faulty_worker import Setup, children_of, faulty_worker, is_running
from tests.taskqueue.waiting import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.races,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes"),
]

AN_HOUR = 3600.0


@contextmanager
def fleet(concurrency: int) -> Iterator[int]:
    """Workers whose leases last for an hour; the pid of their supervisor."""
    setup = Setup(
        database=str(connection.settings_dict["NAME"]), concurrency=concurrency, lease_seconds=AN_HOUR
    )
    with faulty_worker(setup) as process:
        until(lambda: Worker.objects.count() == concurrency)
        yield process.pid


def test_the_task_of_a_killed_child_is_taken_over_at_once_and_its_siblings_go_on() -> None:
    """Q9: its successor says that it is dead."""
    ids = [enqueue("fault.waits").task_id for _ in range(4)]
    with fleet(4) as supervisor:
        until(lambda: all(effects(task_id, "begun") == [1] for task_id in ids))
        before = set(Worker.objects.all())
        dead = Worker.objects.get(name=Task.objects.get(pk=ids[0]).worker)
        os.kill(dead.pid, signal.SIGKILL)

        until(lambda: hurry(ids[0]) and effects(ids[0], "begun") == [1, 2])
        say_go()
        until(lambda: is_done(*ids))
        assert before - set(Worker.objects.alive()) == {dead}
        assert len(children_of(supervisor)) == 5

    assert effects(ids[0]) == [2]
    assert Task.objects.get(pk=ids[0]).errors[0]["worker"] == dead.name
    assert all(effects(task_id) == [1] for task_id in ids[1:])


def test_children_that_are_killed_all_at_once_are_all_followed() -> None:
    ids = [enqueue("fault.waits").task_id for _ in range(4)]
    with fleet(4) as supervisor:
        until(lambda: all(effects(task_id, "begun") == [1] for task_id in ids))
        for pid in children_of(supervisor):
            os.kill(pid, signal.SIGKILL)
        until(lambda: hurry(*ids) and all(effects(task_id, "begun") == [1, 2] for task_id in ids))
        say_go()
        until(lambda: is_done(*ids))
        assert len(children_of(supervisor)) == 5

    assert all(effects(task_id) == [2] for task_id in ids)


def test_children_whose_supervisor_was_killed_finish_or_give_back_and_end() -> None:
    """Q12: as if they had been told to."""
    finishing, stubborn = enqueue("fault.waits").task_id, enqueue("fault.stuck").task_id
    with fleet(3) as supervisor:
        until(lambda: effects(finishing, "begun") == effects(stubborn, "begun") == [1])
        children = children_of(supervisor)
        assert len(children) == 4
        os.kill(supervisor, signal.SIGKILL)
        say_go()
        until(lambda: not any(map(is_running, children)))

    assert not Worker.objects.exists()
    assert (is_done(finishing), effects(finishing)) == (True, [1])
    given_back = Task.objects.get(pk=stubborn)
    assert (given_back.status, given_back.retries_spent, given_back.errors) == (TaskStatus.PENDING, 0, [])


def test_a_killed_ticker_is_replaced_and_what_falls_due_is_run() -> None:
    with fleet(1) as supervisor:
        worker = Worker.objects.get()
        (ticker,) = until(lambda: children_of(supervisor) - {worker.pid})
        os.kill(ticker, signal.SIGKILL)
        until(lambda: children_of(supervisor) - {worker.pid, ticker})

        task_id = enqueue("fault.once", not_before=timezone.now() + timedelta(days=1)).task_id
        Task.objects.filter(pk=task_id).update(not_before=Now())
        until(lambda: is_done(task_id))
        assert list(Worker.objects.all()) == [worker]
