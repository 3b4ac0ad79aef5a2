"""Signals in quick succession, to supervisor and children: nothing is lost, nobody stays behind."""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from django.db import connection

from taskqueue.models import Task, Turn, Worker
from taskqueue.services import enqueue
from taskqueue.worker import WorkerLoop
from tests.races.fault_kinds import EFFECT, effects, kinds, say_go
from tests.races.faulty_worker import Setup, faulty_worker, session_of
from tests.taskqueue.waiting import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.races,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes"),
]

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
MOST_LOOKS = 20  # at the database between two signals: some meet the same statement, some the next task


def queue() -> list[int]:
    """Quick tasks, short ones, children, and two that do not end before the test says go."""
    ids = [enqueue("fault.waits", priority=5).task_id for _ in range(2)]
    for number in range(20):
        ids.append(enqueue("fault.once", account=str(number % 3)).task_id)
        ids.append(enqueue("fault.short").task_id)
    return [*ids, *(enqueue("fault.split").task_id for _ in range(5))]


def storm(seed: int, supervisor: int, members: set[int]) -> None:
    """Ten signals to whom chance will have it."""
    chance = random.Random(seed)
    for _ in range(10):
        receiver = chance.choice([supervisor, *sorted(members - {supervisor})])
        with suppress(ProcessLookupError):
            os.kill(receiver, chance.choice(SIGNALS))
        for _ in range(chance.randrange(MOST_LOOKS)):
            Worker.objects.exists()


@pytest.mark.parametrize("seed", range(6))
def test_a_storm_of_signals_loses_no_task_and_leaves_no_process(seed: int) -> None:
    """Q12: what was under way is finished or given back, whoever was told what, and how often."""
    setup = Setup(database=str(connection.settings_dict["NAME"]), concurrency=3, grace_seconds=1.0)
    with faulty_worker(setup) as process:
        until(lambda: Worker.objects.count() == 3)
        ids = queue()
        until(lambda: Task.objects.filter(kind=EFFECT).count() >= 2 + 5 * seed)  # another moment each time
        storm(seed, process.pid, session_of(process))
        with suppress(ProcessLookupError):
            process.terminate()  # the storm may have spared it
        until(lambda: process.poll() is not None and not session_of(process))
        # One that it does not handle, or one that came when it had nothing left to do but to go.
        assert process.returncode in (0, *(-number for number in SIGNALS))

    assert not Worker.objects.exists()
    assert not Task.objects.running().exists()
    assert not Turn.objects.exclude(task_id=None).exists()
    say_go()
    drain()
    assert not Task.objects.unfinished().exclude(kind="fault.go").exists()
    family = Task.objects.filter(pk__in=ids) | Task.objects.exclude(parent=None)
    assert all(len(effects(task.pk)) == 1 for task in family)
    assert {task.retries_spent for task in family} <= {0, 1}  # a split gives its attempt back
    assert not family.exclude(errors=[]).exists()


def drain() -> None:
    loop = WorkerLoop(kinds(), is_draining=True)
    assert loop.run()
