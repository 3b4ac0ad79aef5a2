"""A worker that dies at each statement it sends, one after the other: nothing is lost, nothing applied twice.

Every point is tried, not a sample: the handler is stopped at its k-th statement for k = 1, 2, … until it
gets through. What a death rolls back is rolled back; the task is reaped and run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count
from django.db.models.functions import Now
from pytest_django import Settings

from boards.models import BoardMember
from catalog.models import Listing, Observation, Posting, Pull, Source
from catalog.services.sources import add_source
from reviews.models import Decision, Filter, Outcome, Verdict
from taskqueue.handlers import Claim, clock, known
from taskqueue.models import HostBudget, Task
from taskqueue.services.claims import promote, reap
from tests.catalog.servers import answer, serve
from tests.factories import make_board
from tests.pipeline import advance_to, settle
from tests.taskqueue.factories import claim as claim_task
from tests.taskqueue.factories import lose

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

BOARD = {
    "jobs": [
        {
            "id": number,
            "title": title,
            "absolute_url": f"https://boards.greenhouse.io/acme/jobs/{number}",
            "location": {"name": "Berlin, Germany"},
            "company_name": "Acme",
            "first_published": "2026-11-02T09:00:00+01:00",
            "content": "&lt;p&gt;We build tools, and the pay is $95,000 - $110,000 a year.&lt;/p&gt;",
        }
        for number, title in enumerate(["Data Engineer", "Night Nurse"], start=1)
    ],
    "meta": {"total": 2},
}


class Died(BaseException):
    """As kill -9 would: no handler of ours may catch it."""


@contextmanager
def dying_at(statement: int) -> Iterator[None]:
    sent = 0

    def count(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal sent
        sent += 1
        if sent == statement:
            raise Died
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        yield


@pytest.fixture
def board_server(settings: Settings) -> Iterator[None]:
    with serve(
        answer(body=json.dumps(BOARD).encode(), headers={"Content-Type": "application/json"})
    ) as server:
        settings.FETCH_ALLOW_PRIVATE_HOSTS = [server.pair]
        settings.FETCH_BASE_URL_OVERRIDES = {"https://boards-api.greenhouse.io": server.base}
        HostBudget.objects.create(
            host="boards-api.greenhouse.io", egress=settings.FETCH_EGRESS, pace_seconds=0.01, floor=0.01
        )
        yield


def run_dying_at(kind: str, statement: int) -> bool:
    """Claim the next task of the kind and run it until its k-th statement; returns whether it died there."""
    task = claim_task(f"doomed-{statement}", {kind: 1000})
    assert task is not None
    claim = Claim(task, proven_until=clock() + 60)
    try:
        with dying_at(statement):
            known().kinds[kind].run(claim)
    except Died:
        died = True
    else:
        died = False
    connection.close()
    lose(task.worker)
    reap()
    Task.objects.filter(status="pending").update(not_before=Now())
    promote()
    return died


def clean() -> None:
    tables = [model._meta.db_table for model in (Task, Filter, Posting, Source)]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")


def state() -> dict[str, Any]:
    """All that a person could see, without ids and times."""
    return {
        "listings": sorted(Listing.objects.values_list("external_key", "kept", "unlisted_at")),
        "postings": sorted(Posting.objects.values_list("canonical_url", "content_hash", "availability")),
        "places": sorted(Posting.objects.annotate(n=Count("places")).values_list("canonical_url", "n")),
        "pay": sorted(Posting.objects.values_list("canonical_url", "compensation__min")),
        "observations": sorted(Observation.objects.values_list("posting__canonical_url", "kind")),
        "decisions": Decision.objects.count(),
        "outcomes": Outcome.objects.count(),
        "verdicts": sorted(Verdict.objects.values_list("posting__canonical_url", "status")),
        "members": sorted(BoardMember.objects.values_list("posting__canonical_url", flat=True)),
        "pulls": set(Pull.objects.exclude(fault="interrupted").values_list("outcome", flat=True)),
    }


@pytest.mark.parametrize(
    "kind", ["catalog.pull", "boards.check", "reviews.plan", "reviews.answer", "boards.publish"]
)
def test_a_death_at_any_statement_changes_nothing_in_the_end(board_server: None, kind: str) -> None:
    """Q5, Q8, R4, V6: the final state is that of a run without faults."""
    undisturbed = _through(kind, None)
    assert len(undisturbed["members"]) == 1

    deaths = 0
    for statement in range(1, 500):
        died: list[bool] = []
        assert _through(kind, statement, died) == undisturbed, f"after a death at statement {statement}"
        if not died[0]:
            break
        deaths += 1
    assert deaths > 1
    assert not died[0], "the handler never got through"


def _through(kind: str, statement: int | None, died: list[bool] | None = None) -> dict[str, Any]:
    """The whole pipeline from nothing, with one death in the first task of `kind`."""
    clean()
    make_board(roles=["data engineer"])
    add_source(url="https://boards.greenhouse.io/acme")
    if statement is not None and died is not None:
        advance_to(kind)
        died.append(run_dying_at(kind, statement))
    settle()
    return state()
