"""Q4: a lane's turn from one of its tasks to the next, in the statement that claims."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from taskqueue.models import Turn
from taskqueue.services import claims
from taskqueue.services.claiming import Claimer, Ended
from tests.taskqueue.factories import TaskFactory, alive, claim
from tests.taskqueue.fleets import KINDS, Fleet, accounts_of, queue_up, ticking

pytestmark = pytest.mark.django_db


def test_an_account_may_have_any_name() -> None:
    """A worker tells the lanes that it knows in the words of its next claim."""
    names = [
        '"',
        "\\",
        "a,b",
        "{}",
        "NULL",
        "a\nb",
        "'; --",
        "%(lanes)s",
        "ä",
        "\U0001f600",
        " a ",
        "host:a",
    ]
    for name in names:
        queue_up(name, 2)

    claimed = accounts_of(Fleet().work(2 * len(names)))

    assert claimed == sorted(names) * 2


def test_a_turn_is_passed_on_in_the_statement_that_records_the_end() -> None:
    """A busy account costs no second commit a task."""
    queue_up("a", 3)
    claimer = Claimer(alive("w").name, KINDS, clock=ticking())
    [first] = claimer.step().claimed

    with CaptureQueriesContext(connection) as sent:
        [second] = claimer.step([Ended(first.token)]).claimed

    assert len(sent) == 1
    assert [(turn.lane, turn.task_id) for turn in Turn.objects.all()] == [("account:a", second.pk)]


def test_the_turn_of_a_lost_claim_is_not_passed_on() -> None:
    """Q5: the task was given to another worker, in whose name the turn is taken."""
    TaskFactory.create_batch(2, account="a")
    late = claim("worker-1")
    assert late is not None
    assert claims.release(late.token)
    assert claim("worker-2") == late

    step = Claimer("worker-1", KINDS).step([Ended(late.token)])

    assert (step.finished, step.claimed) == (0, [])
    assert [(turn.lane, turn.task_id) for turn in Turn.objects.all()] == [("account:a", late.pk)]
