"""Q4 between connections: turns that several workers want at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import Count
from pytest_django import Settings

from taskqueue.models import Task, TaskStatus, Turn
from taskqueue.services import claiming, claims
from taskqueue.services.claiming import Claimer, Ended
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import DoneTaskFactory, TaskFactory, alive, claim
from tests.taskqueue.fleets import KINDS, queue_up
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


@pytest.fixture(autouse=True)
def _settings_are_read_anew() -> Iterator[None]:
    """A worker's statement holds the settings that it began with."""
    claiming.step_statements.cache_clear()
    yield
    claiming.step_statements.cache_clear()


def work_off(worker: str) -> tuple[int, int]:
    """How many tasks the worker did until it found none, and the most it ever saw running in one lane."""
    claimer = Claimer(alive(worker).name, KINDS)
    lanes = Task.objects.running().exclude(lane="").order_by().values("lane").annotate(n=Count("*"))
    done, most, ended = 0, 0, list[Ended]()
    while claimed := claimer.step(ended).claimed:
        most = max(most, *lanes.values_list("n", flat=True))
        ended = [Ended(task.token) for task in claimed]
        done += len(claimed)
    return done, most


@pytest.mark.parametrize("turns", [1, 3])
def test_workers_side_by_side_never_take_more_turns_than_there_are(settings: Settings, turns: int) -> None:
    settings.QUEUE_ACCOUNT_TURNS = turns
    for account in ("person:1", "person:2"):
        queue_up(account, 60)

    results = at_once([partial(work_off, f"worker-{number}") for number in range(4)])

    assert max(most for _, most in results) <= turns
    # A worker that found every turn taken went home; what is left is nobody's fault and is there for all.
    left = work_off("worker-9")[0]
    assert sum(done for done, _ in results) + left == 120
    assert set(Task.objects.values_list("status", "attempts")) == {(TaskStatus.DONE, 1)}
    assert not Turn.objects.exclude(task_id=None).exists()


def test_a_lane_whose_turn_another_worker_is_taking_is_stepped_over_without_waiting() -> None:
    Turn.objects.create(lane="account:a", number=1)
    queue_up("a", 2)
    queue_up("b", 1)
    with transaction.atomic():
        first = claim("worker-1")
        second = elsewhere(partial(claim, "worker-2"))

    assert first is not None
    assert second is not None
    assert (first.account, second.account) == ("a", "b")


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "rolled back"])
def test_of_two_that_make_a_lanes_first_turn_one_gets_it_and_the_other_something_else(
    is_committed: bool,
) -> None:
    """The loser does not go away empty-handed while another account waits: a draining one would end."""
    queue_up("a", 2)
    queue_up("b", 1)
    with ExitStack() as outlasting:
        with transaction.atomic():
            first = claim("worker-1")
            other = outlasting.enter_context(meanwhile(partial(claim, "worker-2")))
            until(somebody_waits)
            transaction.set_rollback(not is_committed)
        second = other.result(timeout=30)

    assert first is not None
    assert second is not None
    assert (first.account, second.account) == ("a", "b" if is_committed else "a")
    assert Turn.objects.filter(lane="account:a").count() == 1


def test_a_turn_that_was_freed_and_taken_while_somebody_tidied_up_stays_taken() -> None:
    """Two tickers find the same stale turn; between them a worker takes it."""
    gone, next_one = DoneTaskFactory.create(account="a"), TaskFactory.create(account="a")
    turn = Turn.objects.create(lane="account:a", number=1, task_id=gone.pk)
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert claims.free_turns() == 1
            claimed = claim("worker-1")
            second = outlasting.enter_context(meanwhile(claims.free_turns))
            until(somebody_waits)
        assert second.result(timeout=30) == 0

    turn.refresh_from_db()
    assert claimed == next_one
    assert turn.task_id == next_one.pk


def test_a_turn_is_free_for_others_when_the_end_of_its_task_commits_and_not_before() -> None:
    first, second = TaskFactory.create_batch(2, account="a")
    claimed = claim("worker-1")
    assert claimed == first
    with transaction.atomic():
        assert claimed is not None
        assert claims.finish(claimed.token)
        assert elsewhere(partial(claim, "worker-2")) is None

    assert claim("worker-2") == second


def test_a_worker_that_dies_with_its_session_leaves_no_turn_taken() -> None:
    """Its claim was never committed."""
    TaskFactory.create(account="a")

    def die() -> None:
        with transaction.atomic():
            assert claim("worker-1") is not None
            connection.close()

    elsewhere(die)

    assert not Turn.objects.exclude(task_id=None).exists()
    assert claim("worker-2") is not None
