"""What a reading makes of the catalog: contracts A1 to A5, A7, A9."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.adapters.base import ParsedListing, Pay
from catalog.models import Compensation, Listing, Observation, Posting, PostingText, Source
from catalog.services.facts import derive_facts
from catalog.services.listings import Recorded, record_listings
from catalog.services.spool import Spool
from tests.claims import claimed
from tests.factories import PullFactory, SourceFactory

pytestmark = pytest.mark.django_db


def listing(key: str = "1", **fields: object) -> ParsedListing:
    plain = {
        "external_id": key,
        "url": f"https://boards.greenhouse.io/acme/jobs/{key}",
        "title": "Data Engineer",
        "company": "Acme",
        "locations": ("Berlin, Germany",),
        "posted_at": "2026-11-02T09:00:00+01:00",
        "description_html": "<p>Build pipelines.</p>",
        "description_text": "Build pipelines.",
    }
    return ParsedListing(**{**plain, **fields})  # type: ignore[arg-type]


def record(source: Source, *listings: ParsedListing, complete: bool = True) -> Recorded:
    claim = claimed("catalog.pull")
    with Spool() as spool:
        spool.add(listings)
        recorded = record_listings(
            claim=claim,
            source_id=source.pk,
            pull_id=PullFactory.create(source=source).pk,
            spool=spool,
            complete=complete,
        )
    derive_facts(claim)
    return recorded


def test_a_listing_becomes_a_posting_with_its_text_places_and_first_observation() -> None:
    source = SourceFactory.create()

    recorded = record(source, listing())

    posting = Posting.objects.get()
    assert recorded == Recorded(seen=1, kept=1, new=1, changed=0, unlisted=0)
    assert (posting.title, posting.company, posting.availability) == ("Data Engineer", "Acme", "open")
    assert posting.text is not None
    assert posting.text.text == "Build pipelines."
    assert [(place.country, place.city) for place in posting.places.all()] == [("DE", "Berlin")]
    assert [seen.kind for seen in posting.observations.all()] == ["appeared"]


def test_a_listing_that_the_pattern_misses_is_recorded_and_not_admitted() -> None:
    """A1: recorded before judging, with the pattern that decided."""
    source = SourceFactory.create(title_pattern="data")

    record(source, listing("1"), listing("2", title="Head of Sales"))

    missed = Listing.objects.get(external_key="2")
    assert (missed.kept, missed.ruling, missed.posting) == (False, "pattern_miss", None)
    assert missed.rule is not None
    assert missed.rule.pattern == "data"
    assert Posting.objects.count() == 1


def test_a_pattern_that_changes_withdraws_a_posting_without_closing_it() -> None:
    source = SourceFactory.create()
    record(source, listing())
    Source.objects.update(title_pattern="nurse")

    record(source, listing())

    posting = Posting.objects.get()
    assert posting.availability == "unknown"
    assert [seen.kind for seen in posting.observations.all()] == ["appeared", "filtered"]
    assert not Posting.objects.listed().exists()


def test_absence_from_a_complete_reading_is_unlisted_and_never_closed() -> None:
    """A2, A3."""
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"))

    recorded = record(source, listing("1"))

    gone = Posting.objects.get(listings__external_key="2")
    assert recorded.unlisted == 1
    assert gone.availability == "unknown"
    assert [seen.kind for seen in gone.observations.all()] == ["appeared", "unlisted"]


@pytest.mark.parametrize("complete", [True, False])
def test_an_empty_or_partial_reading_unlists_nothing(complete: bool) -> None:
    """A2: an empty list is never proof, whatever it claims; a partial one neither."""
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"))

    record(source, *([] if complete else [listing("1")]), complete=complete)

    assert Listing.objects.listed().count() == 2
    assert Posting.objects.filter(availability="open").count() == 2


def test_a_listing_that_comes_back_reopens_its_posting() -> None:
    """A3: re-listing reopens the question."""
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"))
    record(source, listing("1"))

    record(source, listing("1"), listing("2"))

    back = Posting.objects.get(listings__external_key="2")
    assert back.availability == "open"
    assert [seen.kind for seen in back.observations.all()] == ["appeared", "unlisted", "reappeared"]


def test_a_board_seen_again_unchanged_writes_no_row() -> None:
    """A7."""
    source = SourceFactory.create()
    board = [listing(str(number)) for number in range(30)]
    record(source, *board)
    before = list(Posting.objects.order_by("pk").values_list("pk", "changed_at"))

    with CaptureQueriesContext(
        connection,
    ) as seen:
        recorded = record(source, *board)

    writes = [q["sql"] for q in seen.captured_queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert recorded.changed == recorded.new == 0
    assert not [sql for sql in writes if "catalog_listing" in sql or '"catalog_posting"' in sql]
    assert list(Posting.objects.order_by("pk").values_list("pk", "changed_at")) == before


def test_a_changed_text_is_a_new_version_and_the_old_one_is_kept() -> None:
    """A5."""
    source = SourceFactory.create()
    record(source, listing())
    before = Posting.objects.get().content_hash

    record(source, listing(description_text="Build better pipelines.", description_html="<p>…</p>"))

    posting = Posting.objects.get()
    assert posting.text is not None
    assert posting.text.text == "Build better pipelines."
    assert posting.content_hash != before
    assert PostingText.objects.count() == 2


def test_a_listing_without_a_text_takes_none_away() -> None:
    """A5: whole text or none; an absent description is no evidence of an empty one."""
    source = SourceFactory.create()
    record(source, listing())

    record(source, listing(description_text="", description_html="", title="Senior Data Engineer"))

    posting = Posting.objects.get()
    assert posting.title == "Senior Data Engineer"
    assert posting.text is not None


def test_the_same_url_at_two_sources_is_one_posting_led_by_the_first() -> None:
    """A4."""
    first, second = SourceFactory.create(), SourceFactory.create()
    record(first, listing())

    record(second, listing(title="Data Engineer (via partner)"))

    posting = Posting.objects.get()
    assert posting.title == "Data Engineer"
    assert posting.listings.count() == 2


def test_the_lead_passes_on_when_the_first_source_stops_showing_it() -> None:
    first, second = SourceFactory.create(), SourceFactory.create()
    record(first, listing("1"), listing("9"))
    record(second, listing("1", title="Data Engineer II"))
    record(first, listing("9"))

    record(second, listing("1", title="Data Engineer III"))

    posting = Posting.objects.get(listings__source=second)
    assert (posting.title, posting.availability) == ("Data Engineer III", "open")


def test_stated_pay_is_kept_and_pay_in_the_text_keeps_its_sentence() -> None:
    source = SourceFactory.create()
    stated = Pay(min=90000, max=110000, currency="EUR", period="year")
    sentence = "The pay range for this role is $95,000 - $110,000 a year."

    record(source, listing("1", compensation=stated), listing("2", description_text=f"Join us. {sentence}"))

    first, second = Compensation.objects.order_by("posting__canonical_url")
    assert (first.min, first.currency, first.basis) == (Decimal(90000), "EUR", "structured")
    assert (second.min, second.max, second.basis) == (Decimal(95000), Decimal(110000), "text")
    assert second.sentence in sentence


def test_pay_that_a_source_withdraws_is_unknown_again() -> None:
    """A9."""
    source = SourceFactory.create()
    record(source, listing(compensation=Pay(min=1000, max=None, currency="EUR", period="month")))

    record(source, listing())

    assert not Compensation.objects.exists()


@pytest.mark.parametrize("stated", [None, "1970-01-01T00:00:00+00:00", "soon", "2999-01-01"])
def test_a_date_that_is_missing_or_rubbish_stays_unknown(stated: str | None) -> None:
    """A9."""
    record(SourceFactory.create(), listing(posted_at=stated))

    posting = Posting.objects.get()
    assert (posting.posted_at, posting.posted_on) == (None, None)


def test_a_day_is_kept_as_a_day() -> None:
    """A9: a date without a zone is a day, not an instant."""
    record(SourceFactory.create(), listing(posted_at="2026-11-02"))

    posting = Posting.objects.get()
    assert posting.posted_at is None
    assert str(posting.posted_on) == "2026-11-02"


def test_a_talent_pool_is_recorded_and_not_admitted() -> None:
    record(
        SourceFactory.create(), listing(title="Spontaneous Application", description_text="Send us your CV.")
    )

    assert Listing.objects.get().ruling == "drop_box"
    assert not Posting.objects.exists()


def test_two_listings_of_one_posting_in_one_reading_share_it() -> None:
    url = "https://boards.greenhouse.io/acme/jobs/7"

    record(
        SourceFactory.create(), replace(listing("a"), url=url), replace(listing("b"), url=url + "?gh_src=x")
    )

    assert Posting.objects.get().listings.count() == 2
    assert Observation.objects.count() == 2
