"""Q4: accounts take turns, hosts have theirs, and whose turn it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from taskqueue.models import HostBudget, Task, Token, Turn
from taskqueue.services import claiming, claims, request_cancel, retention
from taskqueue.services.claiming import Claimer, Ended
from taskqueue.services.lanes import Lanes
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory, claim, lose
from tests.taskqueue.fleets import KINDS, Fleet, accounts_of, queue_up

pytestmark = pytest.mark.django_db

HOST = "boards.example.com"
LATER = timezone.now() + timedelta(hours=1)
LONG_AGO = timezone.now() - timedelta(hours=1)


@pytest.fixture(autouse=True)
def _settings_are_read_anew() -> Iterator[None]:
    """A worker's statement holds the settings that it began with."""
    claiming.step_statements.cache_clear()
    yield
    claiming.step_statements.cache_clear()


def running() -> Counter[str]:
    return Counter(Task.objects.running().values_list("lane", flat=True))


def keep_busy(account: str) -> None:
    """A worker has the account's one turn; another task of it waits."""
    holder = RunningTaskFactory.create(account=account, worker="worker-9")
    Turn.objects.create(lane=f"account:{account}", number=1, task_id=holder.pk)
    queue_up(account, 1)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("busy", ["000", "n", "zzz"], ids=["first by name", "in between", "last by name"])
def test_ten_thousand_tasks_of_one_account_delay_fifty_others_by_a_turn_for_each_worker(
    busy: str, workers: int
) -> None:
    queue_up(busy, 10_000)
    singles = {f"{letter}{number:02}" for number in range(25) for letter in "ax"}
    for account in singles:
        TaskFactory.create(account=account)

    claimed = accounts_of(Fleet(workers).work(50 + workers))

    assert singles <= set(claimed)


@pytest.mark.parametrize("turns", [1, 3])
def test_an_account_has_no_more_tasks_running_than_it_has_turns(settings: Settings, turns: int) -> None:
    settings.QUEUE_ACCOUNT_TURNS = turns
    queue_up("person:1", 10)
    queue_up("person:2", 10)

    Fleet(8).grab()

    assert running() == {"account:person:1": turns, "account:person:2": turns}
    assert not Task.objects.claimable(KINDS).exists()
    assert Task.objects.in_line(KINDS).count() == 20 - 2 * turns


def test_a_fleet_that_works_gives_every_turn_to_somebody(settings: Settings) -> None:
    settings.QUEUE_ACCOUNT_TURNS = 3
    queue_up("person:1", 40)
    fleet = Fleet(3)
    for _ in range(20):
        assert len(fleet.work(1)) == 1
        assert running()["account:person:1"] <= 3


def test_an_accounts_own_tasks_go_by_priority_and_age() -> None:
    now = timezone.now()
    late = TaskFactory.create(account="a", not_before=now - timedelta(minutes=1))
    early = TaskFactory.create(account="a", not_before=now - timedelta(minutes=2))
    better = TaskFactory.create(account="a", priority=20)

    assert Fleet().work(3) == [better, early, late]


@pytest.mark.parametrize("probes", [2, 3, 5, 6, 128])
def test_an_account_that_waits_has_its_turn_before_another_has_its_second(
    monkeypatch: pytest.MonkeyPatch, probes: int
) -> None:
    """Whether or not one walk meets all of them."""
    monkeypatch.setattr(Lanes, "PROBES", probes)
    for account in "abcde":
        queue_up(account, 3)

    claimed = accounts_of(Fleet().work(15))

    assert claimed == list("abcde") * 3


def test_the_fleets_own_tasks_and_the_lanes_alternate() -> None:
    TaskFactory.create_batch(10)
    for account in "abcde":
        queue_up(account, 2)

    claimed = accounts_of(Fleet().work(10))

    assert claimed == ["a", "", "b", "", "c", "", "d", "", "e", ""]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_flood_of_the_fleets_own_tasks_keeps_no_account_waiting(workers: int) -> None:
    """Nor at the end of the walk through the lanes: it begins anew while the flood goes on."""
    TaskFactory.create_batch(100)
    for account in "abc":
        queue_up(account, 5)

    claimed = accounts_of(Fleet(workers).work(60))

    assert Counter(claimed)["a"] == Counter(claimed)["b"] == Counter(claimed)["c"] == 5


@pytest.mark.parametrize("flood", [0, 30], ids=["nothing else to do", "the fleet's own tasks besides"])
def test_a_free_lane_behind_more_busy_ones_than_one_look_covers_is_found(
    monkeypatch: pytest.MonkeyPatch, flood: int
) -> None:
    """The walk goes on where it stopped, not from the start, where it would meet the same lanes again."""
    monkeypatch.setattr(Lanes, "PROBES", 3)
    for number in range(10):
        keep_busy(f"busy:{number}")
    TaskFactory.create_batch(flood)
    queue_up("free", 1)

    claimed = accounts_of(Fleet().work(1 if not flood else 12))

    assert claimed.count("free") == 1
    assert set(claimed) <= {"free", ""}


@pytest.mark.parametrize("most", [1, 5])
def test_a_claim_that_finds_only_busy_lanes_comes_to_an_end(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(Lanes, "PROBES", 3)
    for number in range(10):
        keep_busy(f"busy:{number}")

    assert Fleet().work(3, most=most) == []


@pytest.mark.parametrize("account", ["", "a"], ids=["the fleet's", "an account's"])
def test_kinds_that_this_release_does_not_know_hide_no_others(account: str) -> None:
    """Q14: they wait in front, and the next in the same line passes them."""
    TaskFactory.create_batch(3, kind="test.unknown", account=account, not_before=LONG_AGO, priority=1)
    TaskFactory.create(kind="test.unknown", account="b", priority=1)
    known = TaskFactory.create(account=account)

    assert Fleet().grab() == [known]


def test_a_flood_of_an_account_keeps_the_fleets_own_tasks_waiting_no_longer_than_a_turn() -> None:
    queue_up("a", 100)
    TaskFactory.create_batch(5)

    claimed = accounts_of(Fleet(2).work(12))

    assert claimed.count("") == 5


def test_what_somebody_waits_for_goes_before_everything_else() -> None:
    queue_up("a", 5)
    TaskFactory.create_batch(5, not_before=LONG_AGO)
    urgent = TaskFactory.create(priority=10)
    urgent_of_account = TaskFactory.create(priority=5, account="b")

    assert Fleet().work(2) == [urgent_of_account, urgent]


@pytest.mark.parametrize("urgent", ["", "b{}"], ids=["the fleet's", "of accounts"])
@pytest.mark.parametrize("others", ["", "a"], ids=["the fleet's", "an account's"])
def test_after_eight_urgent_tasks_in_a_row_another_gets_one(urgent: str, others: str) -> None:
    for number in range(20):
        TaskFactory.create(account=urgent.format(number), priority=10)
    waiting = TaskFactory.create_batch(2, account=others)

    claimed = Fleet().work(22)

    assert [claimed[8], claimed[17]] == waiting
    assert len(claimed) == 22  # and none of the turns is lost when nobody else is there


def test_what_is_urgent_is_found_in_the_turn_of_others_when_nobody_else_is_there() -> None:
    """Also what joined its line before those that were claimed."""
    TaskFactory.create_batch(claiming.URGENT_IN_A_ROW, priority=10)
    fleet = Fleet()
    fleet.work(claiming.URGENT_IN_A_ROW)
    before_them = TaskFactory.create(priority=1)

    assert fleet.work(1) == [before_them]


def test_a_flood_of_urgent_tasks_of_a_busy_account_hides_nobody_elses() -> None:
    """Only so many are looked at, all of them its own."""
    keep_busy("busy")
    TaskFactory.create_batch(2 * claiming.LOOKED_AT, account="busy", priority=1)
    others = [
        TaskFactory.create(account="calm", priority=10),
        TaskFactory.create(account="other"),
        TaskFactory.create(priority=10),
        TaskFactory.create(),
    ]

    claimed = Fleet().grab()

    assert {task.pk for task in claimed} == {task.pk for task in others}


def test_a_host_is_asked_by_so_many_at_once_and_others_meanwhile(settings: Settings) -> None:
    TaskFactory.create_batch(10, host=HOST)
    other = TaskFactory.create(host="jobs.example.org")

    claimed = Fleet(3).grab()

    assert running() == {f"host:{HOST}": settings.QUEUE_HOST_TURNS, "host:jobs.example.org": 1}
    assert other in claimed


def test_an_accounts_task_takes_the_accounts_turn_and_not_the_hosts(settings: Settings) -> None:
    for number in range(10):
        TaskFactory.create(host=HOST, account=f"person:{number}")
    TaskFactory.create_batch(10, host=HOST)

    assert len(Fleet().grab()) == 10 + settings.QUEUE_HOST_TURNS


def test_a_closed_host_keeps_its_own_tasks_and_those_of_accounts_that_ask_it() -> None:
    """A6: the account's next task passes."""
    TaskFactory.create_batch(3, host=HOST)
    TaskFactory.create(host=HOST, account="a", priority=1)
    passes = TaskFactory.create(account="a")
    HostBudget.objects.refuse(HOST)

    assert Fleet().grab() == [passes]
    assert list(Task.objects.claimable(KINDS)) == []


def _reap(worker: str) -> tuple[int, int]:
    lose(worker)
    return claims.reap()


ENDINGS: dict[str, Callable[[Token], object]] = {
    "done": claims.finish,
    "recorded": lambda token: Claimer(token.worker, KINDS).step([Ended(token)], most=0).finished == 1,
    "failed": lambda token: claims.fail(token, error="broken"),
    "tried again": lambda token: claims.try_again(token, error="timeout"),
    "parked": lambda token: claims.park(token, until=LATER),
    "delayed": lambda token: claims.delay(token, until=LATER, reason="busy"),
    "split": claims.wait,
    "released": claims.release,
    "cancelled": lambda token: request_cancel(token.task_id) and claims.acknowledge_cancel(token),
    "reaped": lambda token: _reap(token.worker) == (1, 0),
    "never heard of": lambda token: claims.give_back_unknown(token.worker, in_hand=[]) == 1,
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_the_end_of_an_attempt_frees_its_turn(end: Callable[[Token], object]) -> None:
    TaskFactory.create_batch(2, account="a")
    first = claim("worker-1")
    assert first is not None
    assert Turn.objects.get().task_id == first.pk
    assert claim("worker-2") is None

    assert end(first.token)

    assert Turn.objects.get().task_id is None
    assert claim("worker-2") is not None


def test_a_lost_claim_frees_no_turn_that_is_its_successors() -> None:
    """Turns are given back by task, not by number: the reaper gave this one to another task."""
    first = TaskFactory.create(account="a", max_attempts=1)
    second = TaskFactory.create(account="a")
    late = claim("worker-1")
    assert late == first
    assert late is not None
    lose("worker-1")
    claims.reap()
    assert claim("worker-2") == second

    assert not claims.finish(late.token)
    assert claim("worker-3") is None

    assert Turn.objects.get().task_id == second.pk


def test_turns_of_what_does_not_run_are_found_and_freed() -> None:
    """Of rows that were deleted or changed by hand."""
    kept = RunningTaskFactory.create(account="a")
    done = DoneTaskFactory.create(account="b")
    Turn.objects.create(lane="account:a", number=1, task_id=kept.pk)
    Turn.objects.create(lane="account:b", number=1, task_id=done.pk)
    Turn.objects.create(lane="account:c", number=1, task_id=done.pk + 1_000)
    Turn.objects.create(lane="account:d", number=1)

    assert claims.free_turns() == 2

    assert list(Turn.objects.exclude(task_id=None).values_list("lane", flat=True)) == ["account:a"]
    assert claims.free_turns() == 0


def test_turns_that_nobody_took_for_a_day_go() -> None:
    yesterday = timezone.now() - timedelta(hours=25)
    Turn.objects.create(lane="account:a", number=1, taken_at=yesterday)
    taken = Turn.objects.create(lane="account:b", number=1, task_id=7, taken_at=yesterday)
    recent = Turn.objects.create(lane="account:c", number=1)

    retention.prune()

    assert set(Turn.objects.all()) == {taken, recent}
    TaskFactory.create(account="a")
    assert claim() is not None


def test_a_lane_has_all_its_turns_whatever_rows_of_them_there_are(settings: Settings) -> None:
    """Retention leaves the ones that are taken, and these need not be the first."""
    holder = RunningTaskFactory.create(host=HOST, worker="worker-9")
    Turn.objects.create(lane=f"host:{HOST}", number=settings.QUEUE_HOST_TURNS, task_id=holder.pk)
    TaskFactory.create_batch(10, host=HOST)

    claimed = Fleet().grab()

    assert len(claimed) == settings.QUEUE_HOST_TURNS - 1


def test_fewer_turns_than_before_are_given_once_the_settings_say_so(settings: Settings) -> None:
    """A new release may allow less: what runs, runs on."""
    settings.QUEUE_ACCOUNT_TURNS = 3
    queue_up("a", 10)
    first = Fleet(3).grab()
    assert len(first) == 3
    settings.QUEUE_ACCOUNT_TURNS = 1
    claiming.step_statements.cache_clear()

    assert claim("worker-9") is None
    for task in first:
        claims.finish(task.token)

    assert len(Fleet(2).grab()) == 1
