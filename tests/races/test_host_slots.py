"""A6 between connections: a host's slots, refusals and answers, whoever asks."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from django.db import transaction
from django.db.models.functions import Now

from taskqueue.errors import HostBusy
from taskqueue.models import HostBudget
from tests.races.test_guarded_writes import after
from tests.taskqueue.connections import at_once
from tests.taskqueue.factories import HostBudgetFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

HOST = "boards.example.com"
LONG_AGO = Now() - timedelta(days=1)


def budget() -> HostBudget:
    return HostBudget.objects.get(host=HOST)


def slot() -> datetime:
    """When the slot is, as the database says: what is written with it is nobody else's until it commits."""
    with transaction.atomic():
        HostBudget.objects.take(HOST)
        taken = budget()
        return taken.next_slot_at - timedelta(seconds=taken.pace_seconds)


def some_slots() -> list[datetime]:
    return [slot() for _ in range(2)]


def is_granted() -> bool:
    try:
        HostBudget.objects.take(HOST)
    except HostBusy:
        return False
    return True


def refuse() -> bool:
    HostBudget.objects.refuse(HOST, 600)
    return True


def accept() -> bool:
    HostBudget.objects.accept(HOST)
    return True


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "first asked now"])
def test_no_slot_is_given_twice_and_between_two_is_the_pace(is_known: bool) -> None:
    """A6: the pace is the fleet's, not a process's."""
    if is_known:
        HostBudgetFactory.create(host=HOST, next_slot_at=LONG_AGO)

    slots = sorted(at for some in at_once([some_slots] * 4) for at in some)

    pace = timedelta(seconds=budget().pace_seconds)
    assert len(slots) == 8
    assert [(one, other) for one, other in pairwise(slots) if other - one < pace] == []
    assert budget().next_slot_at == slots[-1] + pace


def test_of_several_who_want_the_last_slot_that_is_near_one_gets_it() -> None:
    """A6: the others do something else, and have taken nothing."""
    HostBudgetFactory.create(host=HOST, pace_seconds=3_600, ceiling=3_600, next_slot_at=LONG_AGO)

    assert sorted(at_once([is_granted] * 5)) == [False] * 4 + [True]


@pytest.mark.parametrize("takes_first", [True, False])
def test_a_slot_and_a_refusal_at_once_leave_the_host_closed(takes_first: bool) -> None:
    """A6: who waited for a refusal gets no slot, and who got one before it does not reopen the host."""
    HostBudgetFactory.create(host=HOST, next_slot_at=LONG_AGO)
    first, second = (is_granted, refuse) if takes_first else (refuse, is_granted)

    assert after(first, second) is takes_first  # a refusal is written, a slot is not given

    assert HostBudget.objects.closed().filter(host=HOST).exists()
    assert (budget().refused, budget().pace_seconds) == (1, 2)


def test_refusals_and_answers_at_once_are_all_counted_and_all_move_the_pace() -> None:
    """A6: none is computed from a pace that another has changed by then."""
    HostBudgetFactory.create(host=HOST, pace_seconds=4, ceiling=1_000)

    at_once([refuse, accept] * 3)

    assert (budget().refused, budget().accepted) == (3, 3)
    assert budget().pace_seconds == pytest.approx(4 * 2**3 * 0.9**3)


@pytest.mark.parametrize("accepts_first", [True, False])
def test_whichever_of_a_refusal_and_an_answer_waits_starts_from_the_others_pace(accepts_first: bool) -> None:
    """A6."""
    HostBudgetFactory.create(host=HOST, pace_seconds=4)
    first, second = (accept, refuse) if accepts_first else (refuse, accept)

    assert after(first, second)

    assert (budget().refused, budget().accepted) == (1, 1)
    assert budget().pace_seconds == pytest.approx(7.2)


def test_refusals_of_an_unknown_host_at_once_are_all_counted() -> None:
    """A6: one of them makes the row."""
    at_once([refuse] * 4)

    assert (budget().refused, budget().pace_seconds) == (4, 16)
