"""SIGSTOP past the lease, then SIGCONT, as of a machine that slept: what it had is another's by then."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import F

from taskqueue.models import Task, Worker
from taskqueue.services import New, enqueue, enqueue_many
from tests.races.fault_kinds import effects, hurry, is_done, is_held, say_go
from tests.races.faulty_worker import Setup, children_of, faulty_worker, is_running
from tests.taskqueue.waiting import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.races,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes"),
]


def database() -> str:
    return str(connection.settings_dict["NAME"])


@contextmanager
def workers(count: int) -> Iterator[int]:
    """So many with a short lease, and the ticker, which reaps; the pid of their supervisor."""
    setup = Setup(database=database(), concurrency=count, lease_seconds=2.0)
    with faulty_worker(setup) as process:
        beating = Worker.objects.filter(last_seen_at__gt=F("started_at"))
        until(lambda: beating.count() == count)
        yield process.pid


@contextmanager
def frozen(worker: Worker) -> Iterator[None]:
    """Nothing of the process runs in the block, which begins when the worker was found to be lost."""
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        until(Worker.objects.filter(pk=worker.pk, lost_at__isnull=False).exists)
        yield
    finally:
        os.kill(worker.pid, signal.SIGCONT)


def owner_of(task_id: int) -> Worker:
    return Worker.objects.get(name=Task.objects.values_list("worker", flat=True).get(pk=task_id))


def has_ended(worker: Worker) -> bool:
    """The process, and nothing is left that says it lives. One that got no answer leaves its row behind."""
    return not is_running(worker.pid) and not Worker.objects.alive().filter(pk=worker.pk).exists()


def test_a_worker_frozen_in_a_handler_writes_nothing_when_it_wakes() -> None:
    task_id = enqueue("fault.waits").task_id
    with workers(2):
        until(lambda: effects(task_id, "begun") == [1])
        late = owner_of(task_id)
        with frozen(late):
            until(lambda: hurry(task_id) and effects(task_id, "begun") == [1, 2])
        until(lambda: has_ended(late))
        say_go()
        until(lambda: is_done(task_id))

    assert effects(task_id) == [2]
    task = Task.objects.get(pk=task_id)
    assert (task.attempts, task.retries_spent, len(task.errors)) == (2, 2, 1)
    assert task.errors[0]["worker"] == late.name


def test_a_worker_that_wakes_when_its_task_is_done_changes_nothing() -> None:
    """Its handler goes on at once: what it was waiting for has happened."""
    task_id = enqueue("fault.waits").task_id
    with workers(2):
        until(lambda: effects(task_id, "begun") == [1])
        late = owner_of(task_id)
        with frozen(late):
            say_go()
            until(lambda: hurry(task_id) and is_done(task_id))
            before = Task.objects.filter(pk=task_id).values().get()
        until(lambda: has_ended(late))

    assert Task.objects.filter(pk=task_id).values().get() == before
    assert effects(task_id) == [2]


def test_a_worker_frozen_in_a_transaction_that_holds_its_claim_loses_the_transaction() -> None:
    """Q9: the reaper ends its session; nobody else could have had the task before."""
    task_id = enqueue("fault.holds").task_id
    with workers(2):
        until(lambda: is_held(task_id))
        late = owner_of(task_id)
        with frozen(late):
            say_go()
            until(lambda: hurry(task_id) and is_done(task_id))
            before = Task.objects.filter(pk=task_id).values().get()
        until(lambda: has_ended(late))

    assert Task.objects.filter(pk=task_id).values().get() == before
    assert effects(task_id) == [2]


def test_a_worker_frozen_while_idle_starts_nothing_when_it_wakes() -> None:
    """Its successor does."""
    with workers(1) as supervisor:
        late = Worker.objects.get()
        with frozen(late):
            task_id = enqueue("fault.once").task_id
        until(lambda: is_done(task_id))
        until(lambda: has_ended(late))
        assert late.pid not in children_of(supervisor)

    assert effects(task_id) == [1]
    assert Task.objects.get(pk=task_id).errors == []


def test_a_worker_frozen_among_short_tasks_records_none_of_them() -> None:
    """What it had done of them and not recorded runs again, and finds that it is done."""
    with workers(1):
        enqueue_many("fault.short", [New() for _ in range(100)])  # more at a time with every batch
        until(lambda: not Task.objects.unfinished().exists())
        with transaction.atomic():
            before, (slow,), after = (
                [enqueue("fault.short", payload=payload).task_id for _ in range(count)]
                for count, payload in ((6, {}), (1, {"waits": True}), (6, {}))
            )
        everything = [*before, slow, *after]
        until(lambda: effects(slow, "begun") == [1])
        late = owner_of(slow)
        in_hand = set(Task.objects.filter(worker=late.name).values_list("pk", flat=True))
        with frozen(late), faulty_worker(Setup(database=database(), concurrency=0)):
            say_go()
            until(lambda: hurry(*everything) and is_done(*everything))
            rows = list(Task.objects.order_by("pk").values())
        until(lambda: has_ended(late))

    assert list(Task.objects.order_by("pk").values()) == rows
    assert {task_id: effects(task_id) for task_id in in_hand} == {
        task_id: [1] if task_id in before else [2] for task_id in in_hand
    }
    assert in_hand & set(before)
    assert in_hand & set(after)
    assert all(len(effects(task_id)) == 1 for task_id in before + after)
