"""What other queues' users reported about limits and fairness: who may run at once, and who goes first (Q4).

A test is named after the report it would have failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models.functions import Now
from pytest_django import Settings

from taskqueue.models import Task, TaskStatus, Turn
from taskqueue.services import claims, enqueue_many, retention
from taskqueue.services.claiming import Claimer, step_statements
from taskqueue.services.lanes import Lanes
from taskqueue.services.tasks import New
from tests.taskqueue.connections import at_once, meanwhile, somebody_waits
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, alive, claim
from tests.taskqueue.lines import SharedLine
from tests.taskqueue.waiting import until

KINDS = {"test.work": 5}


@pytest.fixture(autouse=True)
def _fresh_statements() -> None:
    step_statements.cache_clear()  # the settings of other tests are written into those that are kept


def lanes_of_running() -> Counter[str]:
    return Counter(Task.objects.running().values_list("lane", flat=True))


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
@pytest.mark.parametrize("is_made", [True, False], ids=["its turn has a row", "it has none yet"])
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_pgqueuer_761_two_open_claims_never_share_the_last_turn(is_made: bool, end: str) -> None:
    """concurrency_limit=1 was counted in a snapshot: two workers counted none, and two ran (Q4, E4)."""
    TaskFactory.create_batch(2, account="ada")
    if is_made:
        Turn.objects.create(lane="account:ada", number=1)
    with ExitStack() as outlasting:
        with transaction.atomic():
            mine = claim("w1")
            assert mine is not None
            other = outlasting.enter_context(meanwhile(partial(claim, "w2")))
            until(lambda: other.done() or somebody_waits())
            transaction.set_rollback(end == "rollback")
        theirs = other.result(timeout=30)

    assert theirs is None or end == "rollback"
    assert lanes_of_running() == {"account:ada": 1} or (theirs is None and end == "rollback")
    assert [turn.task_id for turn in Turn.objects.exclude(task_id=None)] == list(
        Task.objects.running().values_list("pk", flat=True)
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_pgqueuer_761_workers_that_claim_side_by_side_keep_to_every_limit(settings: Settings) -> None:
    TaskFactory.create_batch(12, account="ada")
    TaskFactory.create_batch(12, host="boards.example.com")

    def claim_all(name: str) -> int:
        return sum(1 for _ in range(12) if claim(name))

    at_once([partial(claim_all, f"w{number}") for number in range(4)])

    assert lanes_of_running() == {"account:ada": 1, "host:boards.example.com": settings.QUEUE_HOST_TURNS}


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_pgqueuer_761_the_last_turn_of_a_host_goes_to_one_of_two() -> None:
    """E4: three of four turns are taken, and two workers want the fourth."""
    TaskFactory.create_batch(5, host="boards.example.com")
    for number in range(3):
        assert claim(f"w{number}") is not None
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claim("w4") is not None
            other = outlasting.enter_context(meanwhile(partial(claim, "w5")))
            until(lambda: other.done() or somebody_waits())
        assert other.result(timeout=30) is None

    assert lanes_of_running() == {"host:boards.example.com": 4}


@pytest.mark.django_db
def test_pgqueuer_761_the_queue_of_one_does_not_slide_on_to_its_second_task() -> None:
    """SKIP LOCKED slid on from the first job of a full queue to its next one. A full lane has none (Q4)."""
    TaskFactory.create_batch(3, account="ada")

    assert claim("w1") is not None
    assert claim("w1") is None
    assert claim("w2") is None
    assert not Task.objects.claimable(KINDS).exists()


@pytest.mark.django_db
def test_good_job_1578_more_blocked_lanes_than_a_claim_looks_into_hide_no_free_one() -> None:
    """Free jobs starved behind blocked ones. The walk goes on from where the last one ended (Q4)."""
    _full_lanes(2 * Lanes.PROBES + 10)
    last = TaskFactory.create(account="zoe")

    task = claim()

    assert task is not None
    assert task.pk == last.pk


@pytest.mark.django_db
@pytest.mark.parametrize("most", [1, 64])
@pytest.mark.parametrize("lanes", [0, Lanes.PROBES - 1, Lanes.PROBES, 2 * Lanes.PROBES + 10])
def test_good_job_1578_a_claim_that_finds_only_blocked_lanes_comes_to_an_end(lanes: int, most: int) -> None:
    """Whoever walks on must know when it has been everywhere: or it looks for ever and stops for nobody."""
    _full_lanes(lanes)
    statements: list[str] = []

    def limited(statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        statements.append(statement)
        assert len(statements) < 10
        return SharedLine().execute(statement, values)

    claimer = Claimer(alive("w").name, KINDS, limited)
    assert claimer.step(most=most).claimed == []
    assert claimer.step(most=most).claimed == []


@pytest.mark.django_db
def test_e05_two_thousand_tasks_of_one_account_delay_anothers_by_one_turn() -> None:
    """One account owned 90 % of the backlog: with locks, all others waited for half a minute (Q4)."""
    enqueue_many("test.work", [New(account="ada")] * 2_000)
    late = TaskFactory.create(account="bob")
    claimer = Claimer(alive("w").name, KINDS)

    first = claimer.step().claimed[0]
    assert claims.finish(first.token)
    second = claimer.step().claimed[0]

    assert {first.account, second.account} == {"ada", "bob"}
    assert late.pk in (first.pk, second.pk)


@pytest.mark.django_db
def test_solid_queue_689_pruning_old_turns_takes_none_from_a_lane(settings: Settings) -> None:
    """A semaphore's count went wrong with its upkeep. A lane whose first turn is pruned has all (Q4)."""
    settings.QUEUE_ACCOUNT_TURNS = 2
    RunningTaskFactory.create(account="ada")
    Turn.objects.create(lane="account:ada", number=1, taken_at=Now() - timedelta(days=2))
    Turn.objects.create(lane="account:ada", number=2, task_id=Task.objects.get().pk)
    retention.prune()
    TaskFactory.create_batch(2, account="ada")

    assert Task.objects.claimable(KINDS).count() == 2
    assert claim() is not None
    assert claim() is None


@pytest.mark.django_db
def test_solid_queue_735_an_end_without_a_turn_gives_nobody_one() -> None:
    """Releasing twice raised the limit. A turn is a row that names its task: it is freed once (Q4)."""
    TaskFactory.create_batch(3, account="ada")
    first = claim("w1")
    assert first is not None
    assert claims.finish(first.token)
    second = claim("w2")
    assert second is not None

    assert not claims.finish(first.token)
    assert claims.free_turns() == 0
    assert claim("w3") is None
    assert Turn.objects.get().task_id == second.pk


@pytest.mark.django_db
@pytest.mark.parametrize(
    "leave",
    [claims.finish, claims.release, claims.wait, claims.acknowledge_cancel, partial(claims.fail, error="")],
    ids=["done", "given back", "split", "cancelled", "failed"],
)
def test_solid_queue_735_an_end_frees_the_turn_of_its_task_and_no_other(leave: claims.Write) -> None:
    TaskFactory.create_batch(3, host="boards.example.com")
    held = [task for name in ("w1", "w2", "w3") if (task := claim(name))]

    assert leave(held[1].token)

    taken = Turn.objects.exclude(task_id=None).values_list("task_id", flat=True)
    assert set(taken) == {held[0].pk, held[2].pk}


@pytest.mark.django_db(transaction=True)
@pytest.mark.races
def test_e04_who_loses_a_turn_that_both_were_making_finds_other_work() -> None:
    """Two workers want the first turn of a new lane. One gets it, and the other is not sent to sleep (Q3)."""
    TaskFactory.create_batch(2, account="ada")
    TaskFactory.create(account="zoe")
    with ExitStack() as outlasting:
        with transaction.atomic():
            mine = claim("w1")
            assert mine is not None
            assert mine.account == "ada"
            other = outlasting.enter_context(meanwhile(partial(claim, "w2")))
            until(lambda: other.done() or somebody_waits())
        task = other.result(timeout=30)

    assert task is not None
    assert task.account == "zoe"


def _full_lanes(count: int) -> None:
    """Each has a task that runs and one that waits."""
    Task.objects.bulk_create(
        Task(kind="test.work", account=f"full-{number:04}", position=Now(), status=TaskStatus.PENDING)
        for number in range(count)
    )
    Turn.objects.bulk_create(
        Turn(lane=f"account:full-{number:04}", number=1, task_id=0) for number in range(count)
    )
