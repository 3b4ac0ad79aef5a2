"""Every guarded write against a rival on another connection, in both orders: who commits first has won."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Now

from taskqueue.models import UNFINISHED, URGENT, Sample, Task, TaskStatus, Token, Turn, Worker
from taskqueue.services import claims, enqueue, request_cancel, retention, retry
from taskqueue.services.claiming import Claimer, Ended
from taskqueue.services.waiting import run_now
from taskqueue.services.watching import note_reaped, sample
from taskqueue.services.workers import bury
from taskqueue.sql import claiming
from tests.taskqueue import factories as made
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import alive, claim, lose
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

T = TypeVar("T")
Write = Callable[[Token], bool]
S = TaskStatus
HOUR = timedelta(hours=1)
give_back = partial(claims.give_back_unknown, "worker-1", in_hand=[])
PAST_CYCLE: dict[str, Any] = {"dedupe_key": "source:1", "key_until": Now() - HOUR}


def record(token: Token, *, is_open: bool) -> bool:
    """By OPEN_STEP, which hands out nothing here, or by STEP, which looks all round for another kind."""
    claimer = Claimer(token.worker, {"test.other": 5})
    return claimer.step([Ended(token)], most=0 if is_open else 1).finished == 1


class Ending(NamedTuple):
    """How a claim can end; the status then, and the status if somebody had asked for a cancel before."""

    write: Write
    alone: TaskStatus
    cancelled: TaskStatus


ENDINGS = {
    "OPEN_STEP": Ending(partial(record, is_open=True), S.DONE, S.DONE),
    "STEP": Ending(partial(record, is_open=False), S.DONE, S.DONE),
    "finish": Ending(claims.finish, S.DONE, S.DONE),
    "park": Ending(partial(claims.park, until=HOUR), S.AWAITING_BATCH, S.CANCELLED),
    "delay": Ending(partial(claims.delay, until=HOUR, reason="busy"), S.PENDING, S.CANCELLED),
    "acknowledge_cancel": Ending(claims.acknowledge_cancel, S.CANCELLED, S.CANCELLED),
    "fail": Ending(partial(claims.fail, error="no board"), S.FAILED, S.CANCELLED),
    "try_again": Ending(partial(claims.try_again, error="no answer"), S.PENDING, S.CANCELLED),
}
each_ending = pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)


def held() -> Token:
    """Of a task that has a lane, and with it a turn."""
    made.TaskFactory.create(account="ada")
    task = claim()
    assert task is not None
    return task.token


def row(token: Token) -> Task:
    return Task.objects.get(pk=token.task_id)


def turns() -> list[int | None]:
    return list(Turn.objects.values_list("task_id", flat=True))


def after(rival: Callable[[], object], write: Callable[[], T]) -> T:
    """What the write returns that began before the rival's was committed, and had to wait for that."""
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert rival()
            late = outlasting.enter_context(meanwhile(write))
            until(lambda: late.done() or somebody_waits())
            assert not late.done()
        return late.result(timeout=30)


def claimed_anew(token: Token) -> bool:
    """The task is in the same worker's hands once more."""
    assert claims.release(token)
    task = claim(token.worker)
    return task is not None and task.token == Token(token.task_id, token.worker, token.attempt + 1)


@each_ending
def test_an_ending_that_waited_for_the_reaper_changes_nothing(end: Ending) -> None:
    """Q5, Q9: nor is a turn given back a second time."""
    token = held()
    lose()

    assert after(claims.reap, partial(end.write, token)) is False

    task = row(token)
    assert (task.status, task.resumes, task.note, len(task.errors)) == (S.PENDING, 0, "", 1)
    assert task.cancel_requested_at is None
    assert turns() == [None]


@each_ending
def test_an_ending_that_is_being_written_is_stepped_over_by_the_reaper_and_is_the_only_one(
    end: Ending,
) -> None:
    """Q5, Q9: whoever waited to give the task back, for another generation, comes too late."""
    token = held()
    lose()

    def ended() -> bool:
        return end.write(token) and elsewhere(claims.reap) == (0, 0)

    assert after(ended, partial(claims.release, token)) is False

    assert claims.reap() == (0, 0)
    task = row(token)
    assert task.status == end.alone
    assert not re.search("the worker was lost|told to stop", f"{task.errors} {task.error} {task.note}")
    assert turns() == [None]


@each_ending
def test_an_ending_that_waited_for_a_cancel_is_cancelled_unless_the_work_is_done(end: Ending) -> None:
    """Q10: a request that was answered with yes is not forgotten by an ending that was under way."""
    token = held()

    assert after(partial(request_cancel, token.task_id), partial(end.write, token)) is True

    assert row(token).status == end.cancelled
    assert turns() == [None]


@each_ending
def test_a_cancel_that_waited_for_an_ending_cancels_what_is_not_over(end: Ending) -> None:
    """Q10: what has ended stays as it ended, and the answer says so."""
    token = held()

    is_changed = after(partial(end.write, token), partial(request_cancel, token.task_id))

    assert is_changed == (end.alone in UNFINISHED)
    assert row(token).status == (S.CANCELLED if end.alone in UNFINISHED else end.alone)


@each_ending
def test_an_ending_leaves_the_next_generation_alone(end: Ending) -> None:
    """Q5: not even the same worker's. Its turn stays taken, too."""
    token = held()

    assert after(partial(claimed_anew, token), partial(end.write, token)) is False

    assert (row(token).status, row(token).attempts, row(token).resumes) == (S.RUNNING, 2, 1)
    assert turns() == [token.task_id]


@pytest.mark.parametrize("is_reaped", [True, False], ids=["reaper", "next generation"])
def test_progress_that_waited_for_the_end_of_its_claim_is_not_saved(is_reaped: bool) -> None:
    """Q5, Q7: a handler that runs on says nothing about its successor."""
    token = held()
    if is_reaped:
        lose()
    rival = claims.reap if is_reaped else partial(claimed_anew, token)

    assert after(rival, partial(claims.save_progress, token, {"done": 1})) is False

    assert (row(token).progress, row(token).progress_at) == (None, None)


def test_the_reaper_steps_over_progress_that_is_being_saved() -> None:
    """Q7, Q9: it reaps the task at the next tick, with the progress."""
    token = held()
    lose()
    with transaction.atomic():
        assert claims.save_progress(token, {"done": 1})
        assert elsewhere(claims.reap) == (0, 0)

    assert claims.reap() == (1, 0)
    assert row(token).progress == {"done": 1}


@pytest.mark.parametrize("is_claimed", [False, True], ids=["pending", "claimed"])
def test_a_retry_that_waited_for_another_changes_nothing(is_claimed: bool) -> None:
    """Q5, Q8: the task may run again by then; it is not taken from the worker that has it."""
    task = made.FailedTaskFactory.create()

    def retried() -> bool:
        return retry(task.pk) and (not is_claimed or claim("worker-2") == task)

    assert after(retried, partial(retry, task.pk)) is False

    task.refresh_from_db()
    assert (task.status, task.worker) == ((S.RUNNING, "worker-2") if is_claimed else (S.PENDING, ""))
    assert (task.attempts, task.resumes) == (1 + is_claimed, 1)


@pytest.mark.parametrize("change", [retry, run_now])
def test_a_claim_steps_over_what_is_being_retried_or_hurried(change: Callable[[int], bool]) -> None:
    """Q3: nor does it wait for it."""
    task = (made.FailedTaskFactory if change is retry else made.TaskFactory).create()
    with transaction.atomic():
        assert change(task.pk)
        assert elsewhere(claim) is None

    assert claim() == task
    assert Task.objects.get().priority == (50 if change is retry else URGENT)


def test_a_cancel_of_the_parent_that_waited_for_a_childs_retry_cancels_both() -> None:
    """Q10: the retry has the parent's row, or the child would be pending under a cancelled parent."""
    parent = made.TaskFactory.create(status=S.WAITING)
    child = made.FailedTaskFactory.create(parent=parent)

    assert after(partial(retry, child.pk), partial(request_cancel, parent.pk)) is True

    assert set(Task.objects.values_list("status", flat=True)) == {S.CANCELLED}


def test_a_retry_that_waited_for_a_cancel_runs_what_it_was_asked_to_run() -> None:
    """Q8, Q10: it came last, and takes back nothing else of what was cancelled."""
    parent = made.TaskFactory.create(status=S.WAITING)
    child = made.FailedTaskFactory.create(parent=parent)
    other = made.TaskFactory.create(parent=parent)

    assert after(partial(request_cancel, parent.pk), partial(retry, child.pk)) is True

    assert set(Task.objects.filter(status=S.CANCELLED)) == {parent, other}
    assert Task.objects.get(cancel_requested_at=None).status == S.PENDING


@pytest.mark.parametrize("is_reaped", [True, False], ids=["the reaper", "STEP"])
def test_giving_back_the_unheard_leaves_alone_what_has_ended_meanwhile(is_reaped: bool) -> None:
    """Q5: the statement that the worker did not hear of may still run, and record its task as done."""
    token = held()
    if is_reaped:
        lose()
    rival = claims.reap if is_reaped else partial(record, token, is_open=False)

    assert after(rival, give_back) == 0

    assert (row(token).status, row(token).resumes) == (S.PENDING if is_reaped else S.DONE, 0)
    assert turns() == [None]


@pytest.mark.parametrize("is_open", [True, False], ids=["OPEN_STEP", "STEP"])
def test_what_is_being_given_back_is_neither_reaped_nor_recorded_as_done(is_open: bool) -> None:
    """Q5, Q9: a task that no handler began spends no retry."""
    token = held()
    lose()

    def given_back() -> bool:
        return give_back() == 1 and elsewhere(claims.reap) == (0, 0)

    assert after(given_back, partial(record, token, is_open=is_open)) is False

    assert claims.reap() == (0, 0)
    assert (row(token).status, row(token).retries_spent, row(token).errors) == (S.PENDING, 0, [])


def beat(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(claiming.BEAT, {"worker": name, "lease": 60, "memory": None})
        return len(cursor.fetchall())


def test_a_beat_that_waited_for_the_burial_finds_its_lease_over() -> None:
    """Q6: the last beat of a process that has died brings it back no more."""
    name = alive("worker-1:abc").name

    def buried() -> int:
        with connection.cursor() as cursor:
            cursor.execute(claiming.BURY, {"name": "%:abc"})
            return int(cursor.rowcount)

    assert after(buried, partial(beat, name)) == 0

    assert not Worker.objects.alive().exists()


def test_a_burial_that_waited_for_a_beat_ends_the_lease_and_frees_the_tasks() -> None:
    """Q9: nobody waits for the lease that the dead process's last beat has extended."""
    task = made.RunningTaskFactory.create(worker="worker-1:abc")

    after(partial(beat, task.worker), partial(bury, "abc"))

    assert not Worker.objects.alive().exists()
    assert Task.objects.get().status == S.PENDING


@pytest.mark.parametrize("rival", ["claim", "cancel"])
def test_hurrying_a_task_that_was_taken_out_of_line_meanwhile_changes_nothing(rival: str) -> None:
    """Q3, Q10: it would stand in line while it runs, or after it has ended."""
    task = made.TaskFactory.create()
    taken = claim if rival == "claim" else partial(request_cancel, task.pk)

    assert after(taken, partial(run_now, task.pk)) is False

    task.refresh_from_db()
    assert (task.status, task.priority) == (S.RUNNING if rival == "claim" else S.CANCELLED, 50)
    assert task.position is None


def test_a_cancel_that_waited_for_a_task_to_be_hurried_cancels_it() -> None:
    """Q10."""
    task = made.TaskFactory.create()

    assert after(partial(run_now, task.pk), partial(request_cancel, task.pk)) is True

    task.refresh_from_db()
    assert (task.status, task.position) == (S.CANCELLED, None)


def test_an_enqueueing_that_waited_for_its_key_to_be_freed_has_it() -> None:
    """Q1."""
    old = made.DoneTaskFactory.create(**PAST_CYCLE)

    enqueued = after(retention.free_keys, partial(enqueue, "test.work", key="source:1"))

    assert (enqueued.created, enqueued.task_id != old.pk) == (True, True)
    assert Task.objects.holding("source:1").get().pk == enqueued.task_id


def test_an_enqueueing_before_its_key_is_freed_learns_who_has_it_and_keeps_nobody_waiting() -> None:
    """Q1: it touches no row that others use."""
    old = made.DoneTaskFactory.create(**PAST_CYCLE)
    with transaction.atomic():
        enqueued = enqueue("test.work", key="source:1")
        assert elsewhere(retention.free_keys) == 1

    assert (enqueued.created, enqueued.task_id) == (False, old.pk)
    assert enqueue("test.work", key="source:1").created


def test_the_key_of_a_task_that_runs_is_not_freed_but_by_the_record_of_its_end() -> None:
    """Q1: neither waits for the other."""
    task = made.RunningTaskFactory.create(**PAST_CYCLE)
    with transaction.atomic():
        assert retention.free_keys() == 0
        assert elsewhere(partial(enqueue, "test.work", key="source:1")).task_id == task.pk
    with transaction.atomic():
        assert record(task.token, is_open=True)
        assert elsewhere(retention.free_keys) == 0

    assert not Task.objects.holding("source:1").exists()


def test_the_key_of_a_task_that_is_being_retried_stays_its_own() -> None:
    """Q1: of an ended task that is pending again by the time the key would be freed."""
    task = made.FailedTaskFactory.create(**PAST_CYCLE)
    with transaction.atomic():
        assert retry(task.pk)
        assert elsewhere(retention.free_keys) == 0

    assert retention.free_keys() == 0
    assert enqueue("test.work", key="source:1").task_id == task.pk


def test_a_turn_that_is_being_taken_is_not_pruned() -> None:
    """Q4: else two tasks of one account would run at once."""
    made.TaskFactory.create_batch(2, account="ada")
    Turn.objects.create(lane="account:ada", number=1, taken_at=Now() - timedelta(days=2))
    with transaction.atomic():
        assert (first := claim()) is not None
        elsewhere(retention.prune)

    assert turns() == [first.pk]
    assert claim("worker-2") is None


def test_a_claim_steps_over_a_lane_whose_turn_is_being_pruned_and_makes_a_new_one_later() -> None:
    """Q4."""
    task = made.TaskFactory.create(account="ada")
    Turn.objects.create(lane="account:ada", number=1, taken_at=Now() - timedelta(days=2))
    with transaction.atomic():
        retention.prune()
        assert elsewhere(claim) is None
    assert turns() == []

    assert claim() == task
    assert turns() == [task.pk]


def test_what_several_reapers_found_in_one_minute_adds_up_beside_its_sample() -> None:
    """Q9: also where they make the minute's row together."""
    calls: list[Callable[[], object]] = [partial(note_reaped, reaped=2, lost=1), sample]
    at_once(calls * 3)

    assert Sample.objects.aggregate(reaped=Sum("reaped"), lost=Sum("lost")) == {"reaped": 6, "lost": 3}
    assert Sample.objects.exclude(depth=None).exists()
