"""What other queues' users reported about dead and slow workers: who is alive, and who takes over (Q5, Q9).

A test is named after the report it would have failed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue.handlers import Claim, Done, Outcome, Registry
from taskqueue.models import Task, TaskStatus, Turn, Worker
from taskqueue.services import claims, enqueue, retention
from taskqueue.services.claiming import Claimer, Ended
from taskqueue.sql import claiming as sql
from taskqueue.worker import WorkerLoop
from taskqueue.worker.attempts import attempt, nothing
from taskqueue.worker.ticks import tick
from tests.taskqueue.connections import at_once, elsewhere
from tests.taskqueue.factories import (
    HostBudgetFactory,
    RunningTaskFactory,
    TaskFactory,
    alive,
    claim,
    claim_of,
    lose,
)
from tests.taskqueue.lines import SharedLine

KINDS = {"test.work": 5}


def states(**fields: Any) -> list[tuple[str, int]]:
    return list(Task.objects.filter(**fields).order_by("pk").values_list("status", "attempts"))


def noting(ran: list[int]) -> Callable[[Claim], Outcome]:
    """A handler that leaves its task's number."""

    def body(claim: Claim) -> Outcome:
        ran.append(claim.task_id)
        return Done()

    return body


def registry_of(body: Callable[[Claim], Outcome], *, short: bool = False) -> Registry:
    registry = Registry()
    registry.handler("test.work", short=short)(body)
    return registry


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_river_1302_rescue_does_not_rerun_a_task_that_finished_while_it_looked() -> None:
    """The rescuer read who was stuck, then wrote by id: a job that ended in between ran again.

    Every write names worker, generation and status, and the rescue's own test is part of its write (Q5, Q9).
    """
    task = RunningTaskFactory.create()
    lose()

    def finish_just_before(execute: Any, statement: str, *rest: Any) -> Any:
        if "errors = errors ||" in statement:  # the worker is declared lost, its tasks are not yet looked at
            assert elsewhere(partial(claims.finish, task.token))
        return execute(statement, *rest)

    with connection.execute_wrapper(finish_just_before):
        assert claims.reap() == (0, 0)

    assert states() == [(TaskStatus.DONE, 1)]
    assert Task.objects.get().errors == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_river_1302_of_a_rescue_and_a_completion_that_race_exactly_one_wins() -> None:
    tasks = RunningTaskFactory.create_batch(60)
    lose()
    finished: list[int] = []

    def finish_all() -> tuple[int, int]:
        finished.extend(task.pk for task in tasks if claims.finish(task.token))
        return 0, 0

    reaped, lost = (sum(counts) for counts in zip(*at_once([finish_all, claims.reap]), strict=True))

    assert (len(finished) + reaped, lost) == (60, 0)
    for task in Task.objects.all():
        assert (task.status == TaskStatus.DONE, len(task.errors)) == (
            (True, 0) if task.pk in finished else (False, 1)
        )


@pytest.mark.django_db
def test_hexpm_1825_a_task_that_runs_for_hours_is_not_rescued_for_its_age() -> None:
    """Rescue went by age: a job of 47 minutes ran two or three times a night. Alive is who beats (Q5, Q6)."""
    task = RunningTaskFactory.create(started_at=Now() - timedelta(hours=12))
    Worker.objects.update(started_at=Now() - timedelta(days=3))

    assert claims.reap() == (0, 0)
    task.refresh_from_db()
    assert (task.status, task.worker) == (TaskStatus.RUNNING, "worker-1")


@pytest.mark.django_db
def test_graphile_169_a_lease_that_is_renewed_outlasts_any_fixed_time() -> None:
    """A fixed time of invisibility, shorter than the job, made it run twice. The lease is renewed (Q6)."""
    RunningTaskFactory.create()
    beat = {"worker": "worker-1", "lease": 60, "memory": None}
    Worker.objects.update(lease_expires_at=Now() + timedelta(milliseconds=500))  # it is nearly over

    assert len(SharedLine().execute(sql.BEAT, beat)) == 1

    assert Worker.objects.filter(lease_expires_at__gt=Now() + timedelta(seconds=55)).exists()
    assert claims.reap() == (0, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("forget", [retention.prune, Worker.objects.all().delete], ids=["pruned", "deleted"])
def test_procrastinate_1518_a_task_whose_workers_row_has_gone_is_rescued(
    forget: Callable[[], object],
) -> None:
    """The row of the dead worker was pruned first, and the look for stalled jobs joined on it (Q9)."""
    RunningTaskFactory.create()
    Worker.objects.update(last_seen_at=Now() - timedelta(days=2), lease_expires_at=Now() - timedelta(days=2))
    forget()
    assert not Worker.objects.exists()

    assert claims.reap() == (1, 0)
    assert states() == [(TaskStatus.PENDING, 1)]


@pytest.mark.django_db
def test_procrastinate_1518_a_restarted_worker_is_not_taken_for_the_one_that_died() -> None:
    """A worker was called after its pod or host: the new process kept the dead one's jobs "doing" (Q5)."""
    before, after = (WorkerLoop(Registry(), name="pod-7", line=SharedLine()) for _ in range(2))
    assert before.name != after.name
    RunningTaskFactory.create(worker=before.name)
    lose(before.name)
    after.pulse.register()

    assert claims.reap() == (1, 0)
    assert [worker.name for worker in Worker.objects.alive()] == [after.name]


@pytest.mark.django_db
def test_solid_queue_761_a_late_finish_gives_back_no_turn_a_second_time() -> None:
    """A live worker was pruned; its late finish raised the semaphore once more: limit 1, eleven at once (Q4).

    Turns are rows that name their task, and only that task's end frees them.
    """
    TaskFactory.create_batch(3, account="ada")
    first = claim("worker-1")
    assert first is not None
    lose("worker-1")
    assert claims.reap() == (1, 0)
    second = claim("worker-2")
    assert second is not None

    late = Claimer("worker-1", KINDS).step([Ended(first.token)])
    assert (late.finished, late.claimed) == (0, [])
    assert not claims.finish(first.token)
    assert not claims.release(first.token)

    assert [turn.task_id for turn in Turn.objects.all()] == [second.pk]
    assert claim("worker-3") is None


@pytest.mark.django_db
@pytest.mark.parametrize("is_found_out", [True, False], ids=["declared lost", "lease over"])
def test_solid_queue_455_a_worker_that_counts_as_dead_is_given_nothing(is_found_out: bool) -> None:
    """Jobs were claimed in the name of workers whose registration had gone; nobody rescued those (Q3, Q5)."""
    TaskFactory.create()
    lose(alive("worker-1").name)
    if is_found_out:
        claims.reap()

    for name in ("worker-1", "nobody"):
        assert Claimer(name, KINDS).step(most=2).claimed == []
    assert states() == [(TaskStatus.PENDING, 0)]


@pytest.mark.django_db
def test_solid_queue_778_a_worker_that_cannot_beat_starts_nothing_more(settings: Any) -> None:
    """Heartbeats failed and the process went on as a zombie. Fencing: no proof of a lease, no start (Q5)."""
    settings.QUEUE_LEASE_SECONDS = 0  # what it can prove has ended when it hears that it was given
    ran: list[int] = []
    loop = WorkerLoop(registry_of(noting(ran)), line=SharedLine())
    task = TaskFactory.create()
    loop.pulse.register()
    Worker.objects.update(lease_expires_at=Now() + timedelta(hours=1))  # the database would still let it

    assert not loop.step()
    assert ran == []
    task.refresh_from_db()
    assert task.attempts == 0


@pytest.mark.django_db
def test_solid_queue_778_what_is_in_hand_when_the_proof_ends_is_not_begun() -> None:
    """The lease is proven when the task is claimed and no more when its turn comes: it is not begun (Q5)."""
    ran: list[int] = []
    task = RunningTaskFactory.create()
    held = claim_of(task, proven_until=0.0)

    kind = registry_of(noting(ran)).kinds["test.work"]
    assert attempt(kind, held) is nothing
    assert ran == []


def test_pgqueuer_430_a_lease_lasts_for_six_beats() -> None:
    """Heartbeats were buffered for as long as the lease: running jobs were picked again (Q6)."""
    assert settings.QUEUE_LEASE_SECONDS >= 6 * settings.QUEUE_HEARTBEAT_SECONDS


@pytest.mark.django_db
def test_pgqueuer_475_a_rescue_waits_for_no_limit() -> None:
    """The dead row filled the concurrency limit, and the rescue obeyed the limit: nothing ran any more.

    Full lanes, closed hosts and kinds that nobody here knows do not keep a task from being rescued (Q9).
    """
    TaskFactory.create_batch(2, account="ada")
    assert claim("worker-1") is not None
    RunningTaskFactory.create(kind="test.unknown", host="boards.example.com")
    HostBudgetFactory.create(next_slot_at=Now() + timedelta(hours=1))
    lose("worker-1")

    assert claims.reap() == (2, 0)
    assert claim("worker-2") is not None


@pytest.mark.django_db
def test_graphile_254_a_lane_whose_turn_was_left_taken_opens_again() -> None:
    """Only the job itself freed its named queue, and then the row was gone: locked for ever (Q4)."""
    TaskFactory.create(account="ada")
    gone = TaskFactory.create(account="ada", status=TaskStatus.DONE, finished_at=Now())
    Turn.objects.create(lane="account:ada", number=1, task_id=gone.pk)
    assert claim() is None

    tick(Registry())

    assert claim() is not None


@pytest.mark.django_db
def test_procrastinate_1408_the_rescue_is_no_task_that_could_itself_be_stuck() -> None:
    """Stalled jobs were retried by a periodic job, which stalled. A tick needs no task and no free worker."""
    RunningTaskFactory.create()
    lose()

    tick(Registry())

    assert states() == [(TaskStatus.PENDING, 1)]


@pytest.mark.django_db
def test_river_1135_a_key_is_held_until_the_attempt_has_ended_and_the_loser_stops() -> None:
    """Declared dead, its unique key free, the old job ran on beside a second one (Q1, Q5)."""
    task_id = enqueue("test.work", key="work:1").task_id
    first = claim("worker-1")
    assert first is not None
    held = claim_of(first)
    lose("worker-1")

    assert not enqueue("test.work", key="work:1").created  # its lease is over, and nobody knows yet
    claims.reap()
    assert not enqueue("test.work", key="work:1").created

    second = claim("worker-2")
    assert second is None  # it waits, as after any failure
    with pytest.raises(BaseException, match=f"task {task_id}, attempt 1"), transaction.atomic():
        held.hold()
    assert not held.still_mine()


@pytest.mark.django_db
def test_django_tasks_46_what_a_dead_worker_ran_does_not_run_for_ever() -> None:
    """Nobody looked after RUNNING rows. After its last attempt a task has failed, its reasons kept (Q8)."""
    task = RunningTaskFactory.create(attempts=5, max_attempts=5)
    lose()

    assert claims.reap() == (0, 1)
    task.refresh_from_db()
    assert (task.status, [entry["worker"] for entry in task.errors]) == (TaskStatus.FAILED, ["worker-1"])


@pytest.mark.django_db
@pytest.mark.parametrize("error", [ImportError("no module"), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_django_tasks_190_no_exception_of_a_task_takes_the_worker_along(error: BaseException) -> None:
    """An import error outside the task's try left the worker stuck on it: here it fails the attempt (Q14)."""

    def body(claim: Claim) -> Outcome:
        if claim.payload:
            raise error
        return Done()

    loop = WorkerLoop(registry_of(body), line=SharedLine())
    broken = TaskFactory.create(payload={"broken": True}, priority=40)
    sound = TaskFactory.create()

    assert loop.step()
    assert loop.step()

    broken.refresh_from_db()
    sound.refresh_from_db()
    assert (broken.status, sound.status) == (TaskStatus.FAILED, TaskStatus.DONE)
    assert type(error).__name__ in broken.error
