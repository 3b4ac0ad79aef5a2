"""Q5, Q6 and Q9 between connections: the holder, its heartbeat and the reaper."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue.errors import Cancelled
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import claims, request_cancel
from taskqueue.sql import claiming, leaving
from taskqueue.worker.line import Line
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, alive, claim, claim_of, lose
from tests.taskqueue.lines import look
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def expire(task: Task) -> None:
    lose(task.worker)


def status_of(task: Task) -> str:
    return Task.objects.values_list("status", flat=True).get(pk=task.pk)


def test_a_held_claim_lets_its_heartbeat_pass() -> None:
    """And its progress, which is written to the very row."""
    task = RunningTaskFactory.create()
    claim = claim_of(task)
    claim.progress(1, 3)
    with transaction.atomic():
        assert claims.hold(task.token)
        assert not elsewhere(partial(look, claim)).is_lost
        assert elsewhere(Task.objects.filter(progress__done=1).exists)
    assert claim.still_mine()


def test_a_held_claim_lets_a_cancel_be_asked_for() -> None:
    task = RunningTaskFactory.create()
    with transaction.atomic():
        assert claims.hold(task.token)
        assert elsewhere(partial(request_cancel, task.pk))


def test_a_held_claim_is_not_reaped_until_its_transaction_ends() -> None:
    """What commits with the hold was written under a current claim, even when the lease ends meanwhile."""
    task = RunningTaskFactory.create()
    expire(task)
    with transaction.atomic():
        assert claims.hold(task.token)
        assert elsewhere(claims.reap) == (0, 0)
        assert elsewhere(partial(status_of, task)) == TaskStatus.RUNNING

    assert claims.reap() == (1, 0)


def test_a_hold_that_comes_after_the_reaper_waits_and_finds_the_claim_lost() -> None:
    task = RunningTaskFactory.create()
    expire(task)

    def hold() -> bool:
        with transaction.atomic():
            return claims.hold(task.token)

    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.reap() == (1, 0)
            held = outlasting.enter_context(meanwhile(hold))
            until(somebody_waits)
        assert held.result(timeout=30) is False


def test_a_completion_that_meets_the_reaper_wins_or_loses_whole() -> None:
    """The finish locks first and the reaper steps over it; the row is done, and stays done."""
    task = RunningTaskFactory.create()
    expire(task)
    with transaction.atomic():
        assert claims.finish(task.token)
        assert elsewhere(claims.reap) == (0, 0)

    assert claims.reap() == (0, 0)
    assert status_of(task) == TaskStatus.DONE


def test_a_completion_after_the_reaper_changes_nothing() -> None:
    task = RunningTaskFactory.create()
    expire(task)
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.reap() == (1, 0)
            late = outlasting.enter_context(meanwhile(partial(claims.finish, task.token)))
            until(somebody_waits)
        assert late.result(timeout=30) is False

    assert status_of(task) == TaskStatus.PENDING


def test_a_reaper_that_died_half_way_keeps_no_other_from_the_rest() -> None:
    """Q9: it had declared the worker lost, and not cut the session in which that holds its claim."""
    task = RunningTaskFactory.create(worker="frozen:0123456789abcdef")
    Worker.objects.update(lease_expires_at=Now(), lost_at=Now())
    frozen = Line(task.worker)
    frozen.execute("BEGIN", {})
    frozen.execute(claiming.HOLD_CLAIM, {"task": task.pk, "worker": task.worker, "attempt": task.attempts})

    assert claims.reap() == (1, 0)

    assert status_of(task) == TaskStatus.PENDING
    frozen.close()


@pytest.mark.parametrize("statement", ["UPDATE queue_worker", "pg_terminate_backend"])
def test_a_reaper_that_is_frozen_half_way_keeps_no_other_from_the_rest(statement: str) -> None:
    """Q9: nothing that it wrote is open while it asks for the next step."""
    task = RunningTaskFactory.create()
    expire(task)
    reaped: list[tuple[int, int]] = []

    def freeze(execute: Any, text: str, *rest: Any) -> Any:
        answer = execute(text, *rest)
        if statement in text:
            reaped.append(elsewhere(claims.reap))
        return answer

    with connection.execute_wrapper(freeze):
        assert claims.reap() == (0, 0)

    assert reaped == [(1, 0)]
    assert status_of(task) == TaskStatus.PENDING


def test_many_reapers_reap_each_task_once() -> None:
    tasks = RunningTaskFactory.create_batch(30)
    for task in tasks:
        expire(task)

    counts = at_once([claims.reap] * 4)

    assert sum(reaped for reaped, _ in counts) == 30
    assert {len(errors) for errors in Task.objects.values_list("errors", flat=True)} == {1}


def test_a_reaper_that_meets_an_uncommitted_beat_steps_over_it() -> None:
    """The lease that it sees is over by then; the one that is being written is not."""
    task = RunningTaskFactory.create()
    nearly_over = Now() + timedelta(milliseconds=300)
    Worker.objects.update(lease_expires_at=nearly_over)
    with transaction.atomic():
        assert not look(claim_of(task)).is_lost
        until(lambda: elsewhere(Worker.objects.filter(lease_expires_at__lte=Now()).exists))
        assert elsewhere(claims.reap) == (0, 0)

    assert claims.reap() == (0, 0)
    assert Worker.objects.get().lost_at is None
    assert status_of(task) == TaskStatus.RUNNING


def test_a_beat_that_comes_after_the_reapers_mark_waits_and_finds_itself_lost() -> None:
    """Q6: sent while the lease still held, it would otherwise extend it and bring a dead worker back."""
    claim = claim_of(RunningTaskFactory.create())
    with ExitStack() as outlasting:
        with transaction.atomic():
            Worker.objects.update(lost_at=Now())  # the reaper's mark; its lease, as the beat sees it, holds
            beat = outlasting.enter_context(meanwhile(partial(look, claim)))
            until(somebody_waits)
        assert beat.result(timeout=30).is_lost

    assert not claim.still_mine()


def test_a_claim_that_comes_after_the_reapers_mark_gets_nothing() -> None:
    """Q5: a worker that cannot prove its lease starts nothing, even with the answer on its way."""
    TaskFactory.create()
    alive("worker-1")
    lose()
    with transaction.atomic():
        claims.reap()
        assert elsewhere(partial(claim, "worker-1")) is None

    assert claim("worker-1") is None
    assert claim("worker-2") is not None


def test_what_a_reaper_saw_and_another_worker_has_taken_over_since_is_left_alone() -> None:
    """Q5: the reaper names the generation, as everybody does: what it saw may be old by the time it writes.

    Its worker was late and gave the task back, and another took it. The statement is made to wait where it
    would step over the row, or there would be no telling that it comes in between.
    """
    task = RunningTaskFactory.create()
    alive("worker-2")
    Worker.objects.filter(name="worker-1").update(lost_at=Now())
    waiting = leaving.LOST_ATTEMPTS.replace("SKIP LOCKED", "")

    def reap() -> list[tuple[int, str]]:
        with connection.cursor() as cursor:
            cursor.execute(leaving.FAIL_ATTEMPTS.format(failed=waiting))
            return list(cursor.fetchall())

    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.release(task.token)
            claimed = claim("worker-2")
            reaper = outlasting.enter_context(meanwhile(reap))
            until(somebody_waits)
        assert reaper.result(timeout=30) == []

    assert claimed is not None
    assert Task.objects.get().token == claimed.token


def test_a_cancel_that_meets_a_claim_flags_or_ends_but_is_never_lost() -> None:
    task = TaskFactory.create()
    with ExitStack() as outlasting:
        with transaction.atomic():
            claimed = claim("w1")
            assert claimed is not None
            cancel = outlasting.enter_context(meanwhile(partial(request_cancel, task.pk)))
            until(somebody_waits)
        assert cancel.result(timeout=30)

    assert status_of(task) == TaskStatus.RUNNING
    held = claim_of(claimed)
    look(held)
    with pytest.raises(Cancelled):
        held.checkpoint()
