"""What one odd posting, one killed pull or one silent platform must not do to the rest: A2, A3, A4, A7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from catalog.adapters.base import ParsedListing, Pay
from catalog.errors import Overtaken
from catalog.models import Compensation, Listing, Posting, PostingText, Pull, Source
from catalog.services import facts
from catalog.services.details import describe, textless
from catalog.services.facts import derive_facts
from catalog.services.listings import Recorded, record_listings
from catalog.services.postings import bounds_fit
from catalog.services.spool import Spool
from taskqueue.handlers import known
from taskqueue.services.schedules import enqueue_due
from tests.catalog.test_recording import listing, record
from tests.claims import claimed
from tests.factories import PullFactory, SourceFactory

pytestmark = pytest.mark.django_db

BOUNDLESS = "Salary range: VND 900.000.000.000.000 per year."


def test_a_text_that_names_boundless_pay_keeps_no_other_from_its_facts() -> None:
    record(SourceFactory.create(), listing("1", description_text=BOUNDLESS))
    record(SourceFactory.create(), listing("2", description_text="Salary: EUR 60,000 per year."))

    assert not Posting.objects.exclude(facts_hash=F("content_hash")).exists()
    assert Compensation.objects.get().min == 60_000


def test_a_posting_that_cannot_be_indexed_is_left_out_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a value had been let through that no column holds."""
    monkeypatch.setattr(facts, "bounds_fit", lambda low, high: True)

    record(SourceFactory.create(), listing("1", description_text=BOUNDLESS), listing("2"), listing("3"))

    assert not Posting.objects.exclude(facts_hash=F("content_hash")).exists()
    assert Posting.objects.filter(search=None).count() == 1
    assert derive_facts(claimed("catalog.pull")) == 0


@pytest.mark.parametrize(("low", "high"), [(5e14, None), (None, 1e12), (1, 1e11)])
def test_stated_pay_that_nobody_was_ever_paid_is_none(low: float | None, high: float | None) -> None:
    record(SourceFactory.create(), listing("1", compensation=Pay(low, high, "USD", None)), listing("2"))

    assert Posting.objects.count() == 2
    assert not Compensation.objects.exists()
    assert not bounds_fit(low, high)
    assert bounds_fit(None, 2_000_000_000)


def test_prose_in_the_field_of_a_place_is_no_place() -> None:
    record(SourceFactory.create(), listing("1", locations=("щ" * 200, "Berlin, Germany")))

    assert {place.city for place in Posting.objects.get().places.all()} == {"", "Berlin"}


def test_a_listing_that_moves_to_another_url_leaves_no_posting_open() -> None:
    """A3: what no source shows any more is not known to be open."""
    source = SourceFactory.create()
    record(source, listing(url="https://boards.greenhouse.io/acme/jobs/1-old"))

    record(source, listing(url="https://boards.greenhouse.io/acme/jobs/1-new"))

    old, new = Posting.objects.order_by("pk")
    assert (old.availability, new.availability) == ("unknown", "open")
    assert old.next_check_at is not None
    assert [seen.kind for seen in old.observations.all()] == ["appeared", "unlisted"]
    assert [seen.kind for seen in new.observations.all()] == ["appeared"]


def test_the_board_that_shows_the_text_leads_where_none_was_known() -> None:
    """A4, A5: an aggregator that was first does not hide what the employer says."""
    bare = replace(listing(title="Aggregated"), description_html="", description_text="", locations=())
    record(SourceFactory.create(), bare)

    record(SourceFactory.create(), listing())

    posting = Posting.objects.get()
    assert posting.title == "Data Engineer"
    assert posting.text is not None
    assert [place.city for place in posting.places.all()] == ["Berlin"]


def test_who_remains_leads_with_all_it_says_once_the_leading_listing_went() -> None:
    """A4: what the others say is not kept, so the next reading writes them again, changed or not."""
    first, second = SourceFactory.create(), SourceFactory.create()
    record(first, listing(title="As the first has it"), listing("2"))
    record(second, listing(title="As the second has it"))
    record(first, listing("2"))
    remaining = Listing.objects.to_read_again(second)
    assert remaining.count() == 1

    recorded = record(second, listing(title="As the second has it"))

    assert recorded.changed == 1
    assert Posting.objects.get(listings__source=second).title == "As the second has it"
    assert not remaining.exists()


def record_as(
    pull: Pull, shown: ParsedListing, *, finish: Callable[[Recorded], None] = lambda recorded: None
) -> Recorded:
    with Spool() as spool:
        spool.add([shown])
        return record_listings(
            claim=claimed("catalog.pull"),
            source_id=pull.source_id,
            pull_id=pull.pk,
            spool=spool,
            complete=True,
            finish=finish,
        )


def _killed(recorded: Recorded) -> None:
    raise KeyboardInterrupt


def test_two_pulls_of_one_source_do_not_take_turns() -> None:
    """A2: a newer one has begun to record, so the older one writes nothing more, not even absence."""
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"))
    older, newer = PullFactory.create(source=source), PullFactory.create(source=source)
    Source.objects.filter(pk=source.pk).update(recording_pull=newer.pk)

    with pytest.raises(Overtaken):
        record_as(older, listing("1"))

    assert Listing.objects.listed().count() == 2


def test_what_is_recorded_by_half_is_not_called_unchanged() -> None:
    """A2: the validators of the last reading do not stand for what a later one began to write."""
    source = SourceFactory.create(validators={"etag": '"1"', "complete": True})

    with pytest.raises(KeyboardInterrupt):
        record_as(PullFactory.create(source=source), listing("1"), finish=_killed)

    source.refresh_from_db()
    assert source.validators == {}


def detail() -> ParsedListing:
    return listing(description_text="The whole text.", department="Data")


def test_a_failed_detail_is_asked_for_again_also_where_an_older_text_is_known() -> None:
    source = SourceFactory.create()
    record(source, listing(description_html="", description_text=""))
    describe(claimed("catalog.details"), Listing.objects.get(), detail())
    record(source, listing(title="Changed", description_html="", description_text=""))
    assert textless(source).count() == 1
    Listing.objects.update(detail_at=timezone.now(), detail_failures=1)
    assert not textless(source).exists()

    Listing.objects.update(detail_at=timezone.now() - timedelta(hours=2))

    assert textless(source).count() == 1


def test_a_detail_read_twice_changes_nothing_and_is_not_asked_for_a_third_time() -> None:
    """A7: a review would else be paid for again."""
    source = SourceFactory.create()
    record(source, listing(description_html="", description_text=""))
    describe(claimed("catalog.details"), Listing.objects.get(), listing(description_text=""))
    before = Posting.objects.get()
    Listing.objects.update(detail_at=timezone.now() - timedelta(days=2))

    assert not textless(source).exists()
    describe(claimed("catalog.details"), Listing.objects.get(), listing(description_text=""))

    after = Posting.objects.get()
    assert (after.content_hash, after.changed_at) == (before.content_hash, before.changed_at)
    assert not PostingText.objects.exists()


@pytest.mark.parametrize("kind", [kind for kind in known().schedules if kind.startswith("catalog.")])
def test_every_schedule_of_the_catalog_queues_what_is_due(kind: str) -> None:
    """A schedule that fails is logged and else never heard of again: retention was one."""
    record(SourceFactory.create(), listing())
    Posting.objects.update(next_check_at=timezone.now() - timedelta(hours=1))
    Source.objects.update(next_pull_at=timezone.now() - timedelta(hours=1))

    assert enqueue_due(kind, known().schedules[kind]()) == 1
