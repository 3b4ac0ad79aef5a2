"""What other queues' users reported about keys, families and deploys (Q1, Q11, Q14).

A test is named after the report it would have failed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue import tasks
from taskqueue.errors import KeyHeld
from taskqueue.handlers import Registry
from taskqueue.models import Task, TaskStatus
from taskqueue.services import (
    Enqueued,
    claims,
    enqueue,
    enqueue_children,
    enqueue_many,
    request_cancel,
    retention,
    retry,
    watching,
)
from taskqueue.services.families import end_parent, end_parents
from taskqueue.services.tasks import New
from taskqueue.worker import WorkerLoop
from taskqueue.worker.ticks import tick
from tests.taskqueue.connections import at_once, meanwhile, somebody_waits
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
    claim,
    claim_of,
    lose,
)
from tests.taskqueue.lines import SharedLine
from tests.taskqueue.waiting import until

OLD = timedelta(days=settings.QUEUE_RETENTION_DAYS + 1)


def lost_with(worker: str) -> None:
    lose(worker)
    claims.reap()


def status_of(task: Task) -> str:
    return Task.objects.values_list("status", flat=True).get(pk=task.pk)


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_oban_1087_nobody_is_told_of_a_conflict_with_a_row_that_never_came_to_be() -> None:
    """Look, then insert: the loser heard "conflict", the winner rolled back, nothing was queued (Q1)."""
    with ExitStack() as outlasting:
        with transaction.atomic():
            mine = enqueue("test.work", key="work:1")
            other = outlasting.enter_context(meanwhile(partial(enqueue, "test.work", key="work:1")))
            until(somebody_waits)
            transaction.set_rollback(True)
        result = other.result(timeout=30)

    task = Task.objects.get()
    assert result == Enqueued(task_id=task.pk, created=True)
    assert task.pk != mine.task_id


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("end", "is_free"),
    [
        (lambda task: None, False),
        (lambda task: claims.park(task.token, until=task.started_at + timedelta(hours=1)), False),
        (lambda task: claims.try_again(task.token, error="broken"), False),
        (lambda task: claims.release(task.token), False),
        (lambda task: claims.wait(task.token), False),
        (lambda task: claims.finish(task.token), True),
        (lambda task: claims.fail(task.token, error="broken"), True),
        (lambda task: claims.acknowledge_cancel(task.token), True),
    ],
    ids=["running", "parked", "tried again", "given back", "waiting", "done", "failed", "cancelled"],
)
def test_e08_a_key_is_free_when_its_task_has_ended_and_not_before(
    end: Callable[[Task], object], is_free: bool
) -> None:
    task_id = enqueue("test.work", key="work:1").task_id
    task = claim()
    assert task is not None
    task.started_at = Task.objects.get().started_at
    end(task)

    again = enqueue("test.work", key="work:1")
    assert again.created is is_free
    assert (again.task_id == task_id) is not is_free


@pytest.mark.django_db
def test_oban_1416_a_duplicate_key_stops_no_other_task() -> None:
    """One unique violation inside the bulk promotion stopped every queue. A key never moves (Q1)."""
    soon = Now() + timedelta(hours=1)
    TaskFactory.create(dedupe_key="held", not_before=soon, position=None)
    TaskFactory.create_batch(3, not_before=soon, position=None)

    assert enqueue_many("test.work", [New(key=key) for key in ("a", "held", "b")]) == 2
    Task.objects.update(not_before=Now())
    assert claims.promote() == 4


@pytest.mark.django_db
def test_pg_boss_535_a_retry_of_what_lost_its_key_meanwhile_disturbs_nobody() -> None:
    """Moving a job back into the queue broke on the key of its successor, and with it every fetch (Q1)."""
    enqueue("test.work", key="work:1")
    task = claim()
    assert task is not None
    claims.fail(task.token, error="broken")
    successor = enqueue("test.work", key="work:1")
    assert successor.created

    with pytest.raises(KeyHeld):
        retry(task.pk)

    assert Task.objects.get(pk=task.pk).status == TaskStatus.FAILED
    claimed = claim()
    assert claimed is not None
    assert claimed.pk == successor.task_id


@pytest.mark.django_db
def test_river_1105_a_worker_that_does_not_know_a_kind_leaves_it_alone_and_rescues_it_whole() -> None:
    """During a deploy the old release discarded jobs of the new kinds (Q3, Q9, Q14)."""
    TaskFactory.create(kind="test.new")
    held = RunningTaskFactory.create(kind="test.new", priority=1)
    lose()

    assert claim("old-release", kinds={"test.work": 5}) is None
    assert claims.reap() == (1, 0)

    assert set(Task.objects.values_list("kind", "status")) == {("test.new", TaskStatus.PENDING)}
    held.refresh_from_db()
    assert held.retries_spent == 1  # of five
    assert claim("new-release", kinds={"test.new": 5}) is not None


@pytest.mark.django_db
def test_e17_a_kind_that_no_live_worker_runs_is_shown() -> None:
    """After a rollback the new kind waits, loses nothing, and somebody is told (Q14, D4)."""
    TaskFactory.create_batch(2, kind="test.new")
    TaskFactory.create(kind="test.work")
    WorkerFactory.create(kinds=["test.work"])

    orphans = {kind.kind: kind.counts["in_line"] for kind in watching.kinds() if not kind.has_worker}
    assert orphans == {"test.new": 2}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda child: claims.finish(child.token), TaskStatus.DONE),
        (lambda child: claims.fail(child.token, error="broken"), TaskStatus.FAILED),
        (lambda child: claims.acknowledge_cancel(child.token), TaskStatus.DONE),
        (lambda child: request_cancel(child.pk) and claims.release(child.token), TaskStatus.DONE),
        (lambda child: lost_with(child.worker), TaskStatus.FAILED),
    ],
    ids=["done", "failed", "cancelled", "cancelled while it was given back", "lost with its worker"],
)
def test_oban_954_a_parent_ends_however_its_last_child_did(
    end: Callable[[Task], object], status: TaskStatus
) -> None:
    """The callback never fired: it was queued after the job, and cancelled jobs did not count (Q11)."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    DoneTaskFactory.create(parent=parent)
    last = RunningTaskFactory.create(parent=parent, attempts=5, max_attempts=5)
    assert end_parents() == 0

    end(last)

    assert end_parents() == 1
    assert status_of(parent) == status


@pytest.mark.django_db
@pytest.mark.parametrize("children", [0, 1, 1_000])
def test_e10_a_parent_of_any_number_of_children_ends_with_the_last(children: int) -> None:
    parent = RunningTaskFactory.create()
    payloads = [{"number": number} for number in range(children)]
    assert enqueue_children(claim_of(parent), "test.work", payloads) == children
    assert claims.wait(parent.token)

    Task.objects.filter(parent=parent).update(status=TaskStatus.DONE, position=None, finished_at=Now())
    assert end_parents() == 1
    assert status_of(parent) == TaskStatus.DONE


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_oban_949_the_last_children_that_end_together_end_their_parent() -> None:
    """Each of the last two saw the other still running, and neither fired the callback (Q11)."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    children = RunningTaskFactory.create_batch(6, parent=parent)

    def end(child: Task) -> None:
        assert claims.finish(child.token)
        end_parent(parent.pk)  # as a worker does after each

    at_once([partial(end, child) for child in children])

    assert status_of(parent) == TaskStatus.DONE or end_parents() == 1
    assert status_of(parent) == TaskStatus.DONE


@pytest.mark.django_db
def test_oban_1022_a_process_that_dies_after_its_last_child_leaves_no_parent_waiting() -> None:
    """Who ran the last job was to queue the callback, and died. Anybody's tick ends the parent (Q11)."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    child = RunningTaskFactory.create(parent=parent)
    claims.finish(child.token)  # and nothing more is heard of that worker
    assert status_of(parent) == TaskStatus.WAITING

    tick(Registry())
    assert status_of(parent) == TaskStatus.DONE


@pytest.mark.django_db
@pytest.mark.parametrize("open_child", [TaskStatus.PENDING, TaskStatus.AWAITING_BATCH, TaskStatus.WAITING])
def test_good_job_1387_retention_cuts_no_family_that_has_an_open_member(open_child: TaskStatus) -> None:
    """The callback found its batch pruned. A family goes as a whole, once all of it is old (Q14)."""
    parent = FailedTaskFactory.create(finished_at=Now() - OLD)
    DoneTaskFactory.create(parent=parent, finished_at=Now() - OLD)
    grandchild = TaskFactory.create(
        parent=DoneTaskFactory.create(parent=parent, finished_at=Now() - OLD),
        status=open_child,
        position=None,
    )

    assert retention.prune() == 0

    Task.objects.filter(pk=grandchild.pk).update(status=TaskStatus.DONE, finished_at=Now() - OLD)
    assert retention.prune() == 4


@pytest.mark.django_db
def test_pg_boss_521_retention_takes_nothing_that_has_not_ended() -> None:
    """About a million queued jobs vanished: they were old (Q14)."""
    long_ago = timezone.now() - timedelta(days=999)
    for status in (TaskStatus.PENDING, TaskStatus.AWAITING_BATCH, TaskStatus.WAITING):
        TaskFactory.create(status=status, created_at=long_ago, not_before=long_ago)
    RunningTaskFactory.create(created_at=long_ago, started_at=long_ago)
    DoneTaskFactory.create(created_at=long_ago)
    DoneTaskFactory.create(finished_at=Now() - OLD)

    assert retention.prune() == 1
    assert Task.objects.count() == 5


@pytest.mark.django_db
def test_django_tasks_190_a_function_that_this_release_lacks_fails_its_task_alone() -> None:
    """The worker stuck on an import error, and the task was RUNNING for ever (Q8, Q14)."""
    registry = Registry()
    registry.handler("test.call", max_attempts=1)(tasks.run)
    task = TaskFactory.create(kind="test.call", payload={"task": "no.such.module.function"})
    loop = WorkerLoop(registry, line=SharedLine())

    assert loop.step()
    assert status_of(task) == TaskStatus.FAILED
    assert not loop.step()
