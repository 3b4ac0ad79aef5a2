"""Q3, Q8 and Q12: short tasks are claimed by the dozen, recorded together and answered for one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from taskqueue.handlers import Claim, Done, Fail, Outcome, Registry, Retry, WaitForChildren
from taskqueue.models import Task, TaskStatus
from taskqueue.services import New, enqueue_many, request_cancel
from taskqueue.worker import WorkerLoop, loop
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.lines import SharedLine

pytestmark = pytest.mark.django_db

Body = Callable[[Claim], Outcome]


@pytest.fixture(autouse=True)
def _a_batch_is_as_large_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not as large as the last ones were quick."""
    monkeypatch.setattr(loop, "SHORT_SECONDS", 600.0)
    monkeypatch.setattr(loop, "LONGEST_SHORT_SECONDS", 600.0)


def short(body: Body) -> WorkerLoop:
    registry = Registry()
    registry.handler("test.short", short=True)(body)
    registry.handler("test.long")(body)
    worker = WorkerLoop(registry, line=SharedLine())
    worker._short_seconds = 0.0
    return worker


def queue_up(count: int, kind: str = "test.short") -> None:
    enqueue_many(kind, [New({"number": number}) for number in range(count)])


def statuses() -> list[str]:
    return list(Task.objects.order_by("pk").values_list("status", flat=True))


def test_many_take_no_more_statements_than_a_few() -> None:
    """Those of a batch are claimed in one statement and recorded in one."""
    seen: list[int] = []

    def body(claim: Claim) -> Outcome:
        seen.append(claim.payload["number"])
        return Done()

    counts = []
    for number in (6, 60):
        worker = short(body)
        queue_up(number)
        assert worker.step()  # the first, alone: having met it, the worker claims the next ones together
        with CaptureQueriesContext(connection) as statements:
            assert worker.step()
        counts.append(len(statements))

    assert counts[0] == counts[1]
    assert seen == [*range(6), *range(60)]
    assert set(Task.objects.values_list("status", "attempts")) == {(TaskStatus.DONE, 1)}


def test_what_is_done_is_recorded_in_the_statement_that_claims_the_next_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One commit for both, as for tasks that are claimed one by one."""
    monkeypatch.setattr(loop, "MOST_SHORT", 5)
    monkeypatch.setattr(loop, "BATCHES_IN_A_ROW", 3)
    seen: list[int] = []

    def body(claim: Claim) -> Outcome:
        seen.append(claim.payload["number"])
        return Done()

    worker = short(body)
    worker.pulse.register()
    queue_up(40)

    with CaptureQueriesContext(connection) as statements:
        worker._advance()
        worker._advance()

    # The first, and four batches: while one runs, the next is claimed in the statement that records the last.
    assert len(seen) == 1 + 4 * 5
    assert len(statements) == 1 + 4
    assert statuses().count(TaskStatus.DONE) == 1 + 2 * 5


def test_no_more_than_three_batches_are_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is being recorded, the one that runs and the one that comes next."""
    monkeypatch.setattr(loop, "MOST_SHORT", 4)
    worker = short(lambda claim: Done(note=str(Task.objects.running().count())))
    queue_up(40)
    while worker.step():
        pass

    notes = [int(note) for note in Task.objects.values_list("note", flat=True)]
    assert 4 < max(notes) <= 3 * 4


def test_slower_tasks_are_claimed_by_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a batch takes a twentieth of a second, whatever they do."""
    monkeypatch.setattr(loop, "SHORT_SECONDS", 0.05)
    worker = short(lambda claim: Done())
    worker._short_seconds = 0.01

    assert worker._most_short() == 5

    worker._short_seconds = 1.0
    assert worker._most_short() == 1


def test_others_get_their_turn_after_some_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "MOST_SHORT", 4)
    monkeypatch.setattr(loop, "BATCHES_IN_A_ROW", 1)
    order: list[str] = []

    def body(claim: Claim) -> Outcome:
        order.append(claim.kind.removeprefix("test."))
        return Done()

    worker = short(body)
    queue_up(1)
    queue_up(2, kind="test.long")
    queue_up(20)
    while worker.step():
        pass

    assert order == ["short"] * (1 + 2 * 4) + ["long"] * 2 + ["short"] * 12


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Fail(reason="never"), TaskStatus.FAILED),
        (Retry(reason="again"), TaskStatus.PENDING),
        (WaitForChildren(), TaskStatus.WAITING),
        (ValueError("broken"), TaskStatus.FAILED),
        (SystemExit(3), TaskStatus.FAILED),
    ],
    ids=["fails", "tries again", "splits", "raises", "leaves"],
)
def test_one_that_ends_otherwise_ends_alone(outcome: Outcome | BaseException, status: TaskStatus) -> None:
    def body(claim: Claim) -> Outcome:
        if claim.payload["number"] != 3:
            return Done()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    worker = short(body)
    queue_up(7)
    worker.step()

    worker.step()

    assert statuses() == ["done", "done", "done", status, "done", "done", "done"]


def test_a_slow_one_gives_the_rest_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others need not wait for it; no retry is spent, and the order stays."""

    def body(claim: Claim) -> Outcome:
        if claim.payload["number"] == 3:
            monkeypatch.setattr(loop, "LONGEST_SHORT_SECONDS", 0.0)  # that is how long it took
        return Done()

    worker = short(body)
    queue_up(7)
    worker.step()
    worker.step()

    assert statuses() == ["done"] * 4 + ["pending"] * 3
    rest = Task.objects.filter(status=TaskStatus.PENDING)
    assert {(task.retries_spent, task.worker) for task in rest} == {(0, "")}
    assert list(Task.objects.claimable(["test.short"]).in_claim_order()) == list(rest.order_by("pk"))


def test_a_worker_that_is_told_to_stop_finishes_one_and_gives_the_rest_back() -> None:
    """Q12."""

    def body(claim: Claim) -> Outcome:
        if claim.payload["number"] == 3:
            worker.stop()
        return Done()

    worker = short(body)
    queue_up(7)
    worker.step()
    worker.step()

    assert statuses() == ["done"] * 4 + ["pending"] * 3
    assert {task.retries_spent for task in Task.objects.filter(status=TaskStatus.PENDING)} == {0}


def test_a_cancel_reaches_one_of_them_and_not_the_others() -> None:
    """Q10: between two of them, as the pulse hears of it."""

    def body(claim: Claim) -> Outcome:
        if claim.payload["number"] == 3:
            request_cancel(Task.objects.get(payload__number=5).pk)
            worker.pulse._beat()
        assert claim.payload["number"] != 5
        return Done()

    worker = short(body)
    queue_up(7)
    worker.step()
    worker.step()

    assert statuses() == ["done"] * 5 + ["cancelled", "done"]


def test_one_that_was_lost_meanwhile_is_not_started_and_the_others_are_recorded() -> None:
    """Q5."""

    def body(claim: Claim) -> Outcome:
        if claim.payload["number"] == 3:
            Task.objects.filter(payload__number=5).update(worker="successor", attempts=2)
            worker.pulse._beat()
        assert claim.payload["number"] != 5
        return Done()

    worker = short(body)
    queue_up(7)
    worker.step()
    worker.step()

    assert statuses() == ["done"] * 5 + ["running", "done"]


def test_the_last_child_among_them_ends_its_parent() -> None:
    """Q11."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    worker = short(lambda claim: Done())
    for number in range(3):
        TaskFactory.create(kind="test.short", parent=parent, payload={"number": number})
    worker.step()
    worker.step()

    assert Task.objects.get(pk=parent.pk).status == TaskStatus.DONE


def test_progress_of_each_is_saved_with_its_end() -> None:
    def body(claim: Claim) -> Outcome:
        claim.progress(claim.payload["number"], 7)
        return Done()

    worker = short(body)
    queue_up(7)
    worker.step()
    worker.step()

    said = Task.objects.order_by("pk").values_list("progress__done", flat=True)
    assert list(said) == list(range(7))
    assert not Task.objects.filter(progress_at=None).exists()


def test_a_kind_that_is_not_short_is_never_claimed_by_the_dozen() -> None:
    worker = short(lambda claim: Done(note=str(Task.objects.running().count())))
    queue_up(5, kind="test.long")
    while worker.step():
        pass

    assert list(Task.objects.values_list("status", "note")) == [("done", "1")] * 5
