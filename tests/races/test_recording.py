"""Readings recorded side by side: overlapping boards in opposite order, a stale reading, a newer one."""

from __future__ import annotations

import random
from functools import partial

import pytest
from django.db import connection

from catalog.adapters.base import ParsedListing
from catalog.errors import Overtaken
from catalog.models import Listing, Posting, Pull, Source
from catalog.services import listings as recording
from catalog.services.listings import Recorded, record_listings
from catalog.services.spool import Spool
from taskqueue.handlers import Claim
from tests.catalog.test_recording import listing
from tests.claims import claimed
from tests.factories import PullFactory, SourceFactory
from tests.taskqueue.connections import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def record(source: Source, pull: Pull, shown: list[ParsedListing], *, complete: bool = True) -> Recorded:
    with Spool() as spool:
        spool.add(shown)
        return record_listings(
            claim=CLAIMS[source.pk], source_id=source.pk, pull_id=pull.pk, spool=spool, complete=complete
        )


CLAIMS: dict[int, Claim] = {}


def test_overlapping_boards_in_opposite_order_never_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A8: postings are inserted and locked in one order, whatever the order in which sources show them."""
    monkeypatch.setattr(recording, "CHUNK", 7)
    chance = random.Random(3)
    sources = [SourceFactory.create() for _ in range(4)]
    for source in sources:
        CLAIMS[source.pk] = claimed("catalog.pull", source_id=source.pk)
    for turn in range(4):
        boards = []
        for number, source in enumerate(sources):
            keys = chance.sample(range(40), 30)
            shown = [listing(str(key), title=f"Engineer {turn}") for key in keys]
            boards.append((source, PullFactory.create(source=source), shown if number % 2 else shown[::-1]))

        at_once([partial(record, *board) for board in boards])

    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(deadlocks) FROM pg_stat_database WHERE datname = current_database()")
        assert cursor.fetchone() == (0,)
    assert Posting.objects.count() == 40
    assert not Listing.objects.filter(kept=True, posting=None).exists()


def test_boards_whose_postings_go_in_opposite_order_never_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A8: what a listing no longer shows is locked in the same pass as what others show."""
    monkeypatch.setattr(recording, "CHUNK", 5)
    sources = [SourceFactory.create(title_pattern="engineer") for _ in range(4)]
    for source in sources:
        CLAIMS[source.pk] = claimed("catalog.pull", source_id=source.pk)
    chance = random.Random(5)
    for _ in range(6):
        boards = []
        for number, source in enumerate(sources):
            shown = [listing(str(key), title=chance.choice(["Engineer", "Nurse"])) for key in range(20)]
            boards.append((source, PullFactory.create(source=source), shown if number % 2 else shown[::-1]))

        at_once([partial(record, *board) for board in boards])

    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(deadlocks) FROM pg_stat_database WHERE datname = current_database()")
        assert cursor.fetchone() == (0,)
    kept = Listing.objects.filter(kept=True, unlisted_at=None)
    assert not kept.exclude(posting__availability="open").exists()
    assert not Posting.objects.exclude(pk__in=kept.values("posting")).exclude(availability="unknown").exists()


def test_an_older_reading_never_overwrites_a_newer_one() -> None:
    source = SourceFactory.create()
    CLAIMS[source.pk] = claimed("catalog.pull", source_id=source.pk)
    older, newer = PullFactory.create(source=source), PullFactory.create(source=source)
    record(source, newer, [listing(title="New title")])
    Pull.objects.filter(pk=newer.pk).update(outcome=Pull.Outcome.COMPLETE)

    with pytest.raises(Overtaken):
        record(source, older, [listing(title="Old title")])

    assert Posting.objects.get().title == "New title"


def test_a_board_interrupted_between_two_transactions_is_recorded_by_the_next_pull(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "CHUNK", 10)
    source = SourceFactory.create()
    CLAIMS[source.pk] = claimed("catalog.pull", source_id=source.pk)
    shown = [listing(str(key)) for key in range(25)]
    pull = PullFactory.create(source=source)
    with Spool() as spool:
        spool.add(shown)
        with pytest.raises(RuntimeError, match="cut"):
            record_listings(
                claim=CLAIMS[source.pk],
                source_id=source.pk,
                pull_id=pull.pk,
                spool=spool,
                complete=True,
                finish=_cut,
            )
    assert Posting.objects.count() == 25

    recorded = record(source, PullFactory.create(source=source), shown)

    assert (recorded.seen, recorded.new, recorded.changed, recorded.unlisted) == (25, 0, 0, 0)
    assert Posting.objects.count() == 25


def _cut(recorded: Recorded) -> None:
    raise RuntimeError("cut")
