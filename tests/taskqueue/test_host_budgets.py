"""A6: the pace towards a host is one row that the fleet shares."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from taskqueue.errors import HostBusy
from taskqueue.models import HostBudget
from tests.taskqueue.factories import HostBudgetFactory

pytestmark = pytest.mark.django_db

HOST = "boards.example.com"
NEAR = timedelta(seconds=5)  # how far a slow machine may be behind


def budget() -> HostBudget:
    return HostBudget.objects.get(host=HOST, egress="default")


def test_the_first_request_waits_for_nothing_and_the_next_for_its_turn() -> None:
    HostBudgetFactory.create(host=HOST, pace_seconds=4, next_slot_at=timezone.now() - timedelta(days=1))

    assert HostBudget.objects.take(HOST) == 0
    assert 0 < HostBudget.objects.take(HOST) <= 4
    assert 4 < HostBudget.objects.take(HOST) <= 8


def test_an_unknown_host_gets_a_budget_with_its_first_request() -> None:
    assert HostBudget.objects.take(HOST) == 0
    assert budget().pace_seconds == HostBudget.FIRST_PACE_SECONDS


def test_a_slot_is_one_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        HostBudget.objects.take(HOST)


def test_a_slot_too_far_away_is_refused_and_not_taken() -> None:
    until = timezone.now() + timedelta(seconds=HostBudget.LONGEST_WAIT_SECONDS + 60)
    HostBudgetFactory.create(host=HOST, next_slot_at=until)

    with pytest.raises(HostBusy, match=HOST) as busy:
        HostBudget.objects.take(HOST)

    assert busy.value.until == until
    assert budget().next_slot_at == until


def test_a_refusal_halves_the_speed_down_to_the_ceiling() -> None:
    HostBudgetFactory.create(host=HOST, pace_seconds=16, ceiling=60)
    paces = []
    for _ in range(3):
        HostBudget.objects.refuse(HOST)
        paces.append(budget().pace_seconds)

    assert paces == [32, 60, 60]
    assert budget().refused == 3


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(None, 30), (1, 30), (-5, 30), (600, 600), (10**9, 86_400)],
    ids=["nothing", "too short", "negative", "plausible", "for ever"],
)
def test_a_refusal_closes_the_host_for_half_a_minute_to_a_day(asked: float | None, seconds: int) -> None:
    before = timezone.now()

    HostBudget.objects.refuse(HOST, asked)

    closed = budget().next_slot_at - before
    assert timedelta(seconds=seconds) <= closed < timedelta(seconds=seconds) + NEAR
    with pytest.raises(HostBusy):
        HostBudget.objects.take(HOST)


def test_a_shorter_refusal_does_not_reopen_a_host() -> None:
    HostBudget.objects.refuse(HOST, 3_600)
    until = budget().next_slot_at

    HostBudget.objects.refuse(HOST, 60)

    assert budget().next_slot_at == until


def test_answers_ease_the_pace_down_to_the_floor_and_then_write_nothing() -> None:
    HostBudgetFactory.create(host=HOST, pace_seconds=0.28, floor=0.25)
    HostBudget.objects.accept(HOST)
    HostBudget.objects.accept(HOST)
    eased = budget()
    assert (eased.pace_seconds, eased.accepted) == (0.25, 2)

    HostBudget.objects.accept(HOST)

    assert budget().accepted == 2


def test_another_address_has_a_pace_of_its_own(settings: Settings) -> None:
    HostBudget.objects.refuse(HOST, 600)
    settings.FETCH_EGRESS = "elsewhere"

    assert HostBudget.objects.take(HOST) == 0
    HostBudget.objects.accept(HOST)
    assert budget().refused == 1
