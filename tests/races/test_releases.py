"""Two releases at once, of which one knows a kind that the other does not: forward, back and forward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import enqueue
from tests.races.fault_kinds import effects, is_done
from tests.races.faulty_worker import Setup, faulty_worker
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

OLD_KIND, NEW_KIND = "fault.once", "fault.split"  # the children of a split are short tasks, new as well
NEW_KINDS = ("split", "short")


@contextmanager
def release(name: str, *, without: tuple[str, ...] = ()) -> Iterator[None]:
    """Workers of that release, until they are told to stop."""
    setup = Setup(
        database=str(connection.settings_dict["NAME"]), release=name, without=without, concurrency=2
    )
    with faulty_worker(setup) as process:
        until(lambda: Worker.objects.filter(release=name).count() == 2)
        yield
        process.terminate()
        assert process.wait(30) == 0
    assert not Worker.objects.filter(release=name).exists()


def new_and_old() -> tuple[int, int]:
    """A task of each kind, the one that not everybody knows before the other."""
    return enqueue(NEW_KIND, priority=1).task_id, enqueue(OLD_KIND).task_id


def is_untouched(task_id: int) -> bool:
    return Task.objects.filter(pk=task_id, status=TaskStatus.PENDING, attempts=0, errors=[]).exists()


def releases(kind: str) -> set[str]:
    """That have run tasks of the kind."""
    return set(Task.objects.filter(kind=kind).exclude(release="").values_list("release", flat=True))


def test_a_new_kind_waits_for_a_release_that_knows_it_through_deploy_and_rollback() -> None:
    """Q3, Q14: unknown is no failure, whatever else goes on meanwhile."""
    first = new_and_old()
    with release("old", without=NEW_KINDS):
        until(lambda: is_done(first[1]))
        assert is_untouched(first[0])

        with release("new"):  # beside the old one
            until(lambda: is_done(first[0]))
            second = new_and_old()
            until(lambda: is_done(*second))

        third = new_and_old()  # the new release was taken back
        until(lambda: is_done(third[1]))
        assert is_untouched(third[0])

        with release("newer"):
            until(lambda: is_done(third[0]))

    assert releases(NEW_KIND) | releases("fault.short") == {"new", "newer"}
    assert all(effects(task_id) == [1] for task_id in first + second + third)
    assert not Task.objects.unfinished().exists()


def test_a_task_of_a_new_kind_that_a_rollback_interrupts_waits_whole() -> None:
    """Q12: given back by the release that ran it, left alone by the one that cannot."""
    with release("old", without=("stuck",)):
        with release("new"):
            task_id = enqueue("fault.stuck").task_id
            until(lambda: effects(task_id, "begun") == [1])
        other = enqueue(OLD_KIND).task_id
        until(lambda: is_done(other))

    task = Task.objects.get(pk=task_id)
    assert (task.status, task.attempts, task.retries_spent, task.release) == ("pending", 1, 0, "new")
