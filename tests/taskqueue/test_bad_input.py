"""Q11 and Q14: input that no handler and no service can use, with the product's own kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from pytest_django import Settings

from boards.models import BoardRun
from catalog.models import Pull
from reviews.models import Decision, ReviewRun
from taskqueue.errors import ClaimLost, PayloadTooLarge
from taskqueue.handlers import Claim, Done, Outcome, Registry, known
from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue, enqueue_children, request_cancel, retry
from taskqueue.services.families import end_parents
from taskqueue.worker import WorkerLoop
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory, claim_of, lose
from tests.taskqueue.lines import SharedLine

pytestmark = pytest.mark.django_db

NO_ID = 2**40


def loop() -> WorkerLoop:
    """Of the product's kinds and of one that is in order."""

    def work(claim: Claim) -> Outcome:
        return Done()

    kinds = Registry(kinds=dict(known().kinds))
    kinds.handler("test.work")(work)
    return WorkerLoop(kinds, line=SharedLine())


def delete_by_hand(task: Task) -> None:
    """As an operator with psql would; the foreign key is looked at when the transaction ends, or here."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM queue_task WHERE id = %s", [task.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


UNUSABLE: list[tuple[str, Mapping[str, Any] | list[Any] | str | None, str]] = [
    ("catalog.pull", {}, "KeyError: 'source_id'"),
    ("catalog.pull", {"source_id": "twelve"}, "ValueError: Field 'id' expected a number but got 'twelve'"),
    ("catalog.pull", {"source_id": [1]}, "TypeError: Field 'id' expected a number but got [1]"),
    ("catalog.pull", [12], "TypeError: list indices must be integers"),
    ("reviews.check", {}, "KeyError: 'filter_id'"),
    ("reviews.plan", {}, "KeyError: 'run_id'"),
    ("reviews.plan", {"run_id": {}}, "TypeError: Field 'id' expected a number but got {}"),
    ("reviews.plan", {"run_id": NO_ID}, "there is no review run"),
    ("reviews.answer", {}, "KeyError: 'decision_ids'"),
    ("reviews.answer", {"decision_ids": 7, "run_id": 1}, "TypeError: 'int' object is not iterable"),
    ("reviews.answer", {"decision_ids": []}, "KeyError: 'run_id'"),
    ("reviews.answer", {"decision_ids": ["x"], "run_id": 1}, "expected a number but got 'x'"),
    ("reviews.answer", {"decision_ids": [NO_ID], "run_id": NO_ID}, "there is no review run"),
    ("boards.check", {"board": 1}, "KeyError: 'board_id'"),
    ("boards.publish", {}, "KeyError: 'run_id'"),
    ("boards.publish", {"run_id": "latest"}, "expected a number but got 'latest'"),
    ("boards.publish", {"run_id": NO_ID}, "there is no board run"),
    ("boards.publish", "7", "TypeError: string indices must be integers"),
    ("boards.refresh", {}, "KeyError: 'user_id'"),
    ("boards.refresh", {"user_id": "ada"}, "expected a number but got 'ada'"),
]


@pytest.mark.parametrize(("kind", "payload", "words"), UNUSABLE)
def test_a_payload_that_no_handler_can_use_fails_at_once_and_says_why(
    kind: str, payload: Any, words: str
) -> None:
    """Q14: for good, for it would fail again; the worker goes on to the next task."""
    bad = TaskFactory.create(kind=kind, payload=payload, priority=40)
    good = TaskFactory.create()
    worker = loop()

    assert worker.step()
    assert worker.step()

    bad.refresh_from_db()
    good.refresh_from_db()
    assert (bad.status, bad.attempts, good.status) == (TaskStatus.FAILED, 1, TaskStatus.DONE)
    assert words in bad.error
    assert words in bad.errors[0]["error"]
    assert bad.payload == payload
    assert not any(model.objects.exists() for model in (Pull, ReviewRun, Decision, BoardRun))


@pytest.mark.parametrize(
    ("kind", "name", "note"),
    [
        ("catalog.pull", "source_id", "the source is gone or switched off"),
        ("reviews.check", "filter_id", "the filter is gone or disabled"),
        ("boards.check", "board_id", "the board is gone or not public"),
    ],
)
def test_scheduled_work_whose_object_has_gone_is_done_and_says_so(kind: str, name: str, note: str) -> None:
    """Q14: it was queued before; there is nothing to do and nobody to tell."""
    task = TaskFactory.create(kind=kind, payload={name: NO_ID})

    assert loop().step()

    task.refresh_from_db()
    assert (task.status, task.note, task.errors) == (TaskStatus.DONE, note, [])


@pytest.mark.parametrize("remove", [Task.delete, delete_by_hand], ids=["ORM", "SQL"])
@pytest.mark.parametrize("status", [TaskStatus.WAITING, TaskStatus.PENDING, TaskStatus.DONE])
def test_a_parent_cannot_be_deleted_while_it_has_a_child(
    remove: Callable[[Task], object], status: TaskStatus
) -> None:
    """Q11, Q14."""
    parent = DoneTaskFactory.create() if status == TaskStatus.DONE else TaskFactory.create(status=status)
    child = TaskFactory.create(parent=parent)

    with pytest.raises((ProtectedError, IntegrityError)), transaction.atomic():
        remove(parent)

    assert set(Task.objects.values_list("pk", "parent_id")) == {(parent.pk, None), (child.pk, parent.pk)}


def test_a_child_of_a_parent_that_never_was_is_not_queued() -> None:
    """Q11: nobody would end with it."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at the end of the caller's transaction

    with pytest.raises(IntegrityError, match="parent_id"), transaction.atomic():
        enqueue("test.work", parent=NO_ID)

    assert not Task.objects.exists()


@pytest.mark.parametrize("ask", [request_cancel, retry], ids=["cancel", "retry"])
def test_a_task_that_is_no_more_has_nothing_to_be_changed(ask: Callable[[int], bool]) -> None:
    """Q10: its page may still be open."""
    assert ask(NO_ID) is False


def lose_and_reap(task: Task) -> None:
    lose(task.worker)
    claims.reap()


LEAVE_THE_HAND: dict[str, Callable[[Task], object]] = {
    "deleted": delete_by_hand,
    "done": lambda task: claims.finish(task.token),
    "cancelled": lambda task: claims.acknowledge_cancel(task.token),
    "given back": lambda task: claims.release(task.token),
    "reaped": lose_and_reap,
    "another generation": lambda task: Task.objects.filter(pk=task.pk).update(attempts=2),
}


@pytest.mark.parametrize("leave", LEAVE_THE_HAND.values(), ids=LEAVE_THE_HAND)
def test_nobody_gets_children_under_a_parent_that_is_not_held(leave: Callable[[Task], object]) -> None:
    """Q5, Q11."""
    task = RunningTaskFactory.create()
    held = claim_of(task)
    leave(task)

    with pytest.raises(ClaimLost, match=f"task {held.task_id}, attempt 1"):
        enqueue_children(held, "test.part", [{"chunk": 1}])

    assert not Task.objects.filter(kind="test.part").exists()


def test_what_becomes_of_a_task_that_vanished_while_it_ran_hurts_no_worker() -> None:
    """Q5: its row was deleted by hand; whatever its handler returns is recorded nowhere."""

    def vanish(claim: Claim) -> Outcome:
        Task.objects.filter(pk=claim.task_id).delete()
        return Done()

    kinds = Registry()
    kinds.handler("test.vanish")(vanish)
    kinds.handler("test.work")(lambda claim: Done())
    TaskFactory.create(kind="test.vanish", account="ada", priority=40)
    other = TaskFactory.create(account="ada")
    worker = WorkerLoop(kinds, line=SharedLine())

    assert worker.step()
    assert claims.free_turns() == 1  # a tick does that
    assert worker.step()

    other.refresh_from_db()
    assert (Task.objects.count(), other.status) == (1, TaskStatus.DONE)


def test_a_parent_whose_children_were_deleted_by_hand_ends() -> None:
    """Q11: nothing waits for ever for what is not there."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    delete_by_hand(TaskFactory.create(parent=parent))

    assert end_parents() == 1

    parent.refresh_from_db()
    assert parent.status == TaskStatus.DONE


def test_children_with_a_payload_too_large_are_none(settings: Settings) -> None:
    """Q14: the parent's attempt fails with the reason, and not half of the work is queued."""
    settings.QUEUE_PAYLOAD_MAX_BYTES = 100
    held = claim_of(RunningTaskFactory.create())

    with pytest.raises(PayloadTooLarge, match=r"test\.part task is .* of 100 allowed"):
        enqueue_children(held, "test.part", [{"chunk": 1}, {"chunk": "x" * 200}])

    assert not Task.objects.filter(kind="test.part").exists()
