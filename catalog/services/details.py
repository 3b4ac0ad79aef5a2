"""Texts, dates and places that a board's list does not show, read posting by posting (A5)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Adapter, Context, ParsedListing, Pay, UnreadableResponse
from catalog.adapters.http import FetchFailed
from catalog.errors import PullFailed
from catalog.models import Compensation, Listing, Posting, PostingPlace, PostingText, Source
from catalog.services.copying import refuses_value
from catalog.services.facts import derive_facts
from catalog.services.placing import places_of
from catalog.services.postings import ClockNow, copy_key, lock_postings, pay_row, split_date
from catalog.services.reading import context_of, fetch_request
from catalog.services.sources import request_url
from taskqueue.errors import HostBusy
from taskqueue.handlers import Claim, Delay, Done, Outcome
from taskqueue.services import enqueue

BATCH = 50
TRIES = 5
FIRST_WAIT = timedelta(hours=1)  # doubled with every failure
REFUSED_WAIT = timedelta(minutes=10)


def textless(source: Source) -> QuerySet[Listing]:
    """Admitted listings whose own page has still to be read. Index: catalog_listing_textless."""
    waited = timezone.now() - FIRST_WAIT
    again = Q(detail_failures__range=(1, TRIES - 1), detail_at__lt=waited)
    listings = Listing.objects.filter(source=source, kept=True, has_text=False, unlisted_at=None)
    return listings.exclude(posting=None).filter(Q(detail_at=None) | again)


def request_details(source: Source) -> None:
    """Queue the reading of details where the platform has them and some are missing."""
    adapter = ADAPTERS[source.kind]
    has_details = type(adapter).detail_request is not Adapter.detail_request
    if not has_details or not textless(source).exists():
        return
    enqueue(
        "catalog.details",
        payload={"source_id": source.pk},
        subject=f"source:{source.pk}",
        key=f"catalog.details:source:{source.pk}",
        host=source.host,
    )


def read_details(claim: Claim, source_id: int) -> Outcome:
    """Read the missing details, at the pace of the host; a host that asks for time gets it (A6)."""
    source = Source.objects.filter(pk=source_id, is_active=True).first()
    if source is None:
        return Done(note="the source is gone or switched off")
    done = 0
    try:
        context = context_of(
            kind=source.kind,
            token=source.token,
            region=source.region,
            company=source.company,
            keys=settings.SOURCE_KEYS.get(source.kind, {}),
        )
        while batch := list(textless(source).select_related("posting").order_by("pk")[:BATCH]):
            for listing in batch:
                claim.checkpoint()
                _read_one(claim, source, context, listing)
                done += 1
                claim.progress(done, done + textless(source).count(), f"reading postings of {source.host}")
    except HostBusy as busy:
        return Delay(until=busy.until, reason=str(busy))
    except FetchFailed as failed:
        if failed.outcome != "rate_limited":
            raise
        wait = timedelta(seconds=failed.retry_after) if failed.retry_after else REFUSED_WAIT
        return Delay(until=wait, reason=str(failed))
    except PullFailed as failed:
        return Done(note=f"{failed.fault}: {failed}")
    derive_facts(claim)
    return Done(note=f"{done} postings read")


def _read_one(claim: Claim, source: Source, context: Context, listing: Listing) -> None:
    adapter = ADAPTERS[source.kind]
    known = ParsedListing(external_id=listing.external_key, url=listing.url, title=listing.title)
    request = adapter.detail_request(context, known)
    if request is None:
        return _failed(listing)
    names = {"posting_id": listing.external_key, "url": listing.url}
    try:
        response = fetch_request(request, request_url(source, request), obeys_robots=source.obeys_robots)
        if response.status != 200:
            return _failed(listing)
        reading = adapter.parse(
            response.content,
            replace(context, fetched_at=timezone.now(), names={**context.names, **names}),
        )
    except FetchFailed as failed:
        if failed.outcome == "rate_limited":
            raise
        return _failed(listing)
    except UnreadableResponse:
        return _failed(listing)
    found = next((one for one in reading.listings if one.external_id == listing.external_key), None)
    found = found or (reading.listings[0] if len(reading.listings) == 1 else None)
    if found is None:
        return _failed(listing)
    try:
        describe(claim, listing, found)
    except DatabaseError as error:
        if not refuses_value(error):
            raise
        _failed(listing)


def _failed(listing: Listing) -> None:
    Listing.objects.filter(pk=listing.pk).update(
        detail_at=timezone.now(), detail_failures=F("detail_failures") + 1
    )


@transaction.atomic
def describe(claim: Claim, listing: Listing, detail: ParsedListing) -> None:
    """Add what the posting's own page says to what the list says. What the list states stays as it is."""
    claim.hold()
    Listing.objects.filter(pk=listing.pk).update(detail_at=timezone.now(), detail_failures=0)
    if listing.posting_id is None:
        return
    lock_postings([listing.posting_id])
    posting = Posting.objects.get(pk=listing.posting_id)
    if posting.lead_id != listing.pk:
        return
    text = _keep_text(posting, detail)
    _fill(posting, detail, source_name=listing.source.name)
    if text is not None:
        posting.text, posting.near_copy_key = text, copy_key(text.text)
    digest = _identity(posting, detail.compensation)
    if digest != posting.content_hash:
        posting.content_hash, posting.changed_at = digest, ClockNow()
    posting.save()


def _identity(posting: Posting, pay: Pay | None) -> str:
    """Of all that a review reads, list and detail together; the same however often it is read."""
    said = [posting.title, posting.company, posting.department, *posting.locations, posting.remote]
    said += [posting.employment_type, str(pay), posting.text.content_hash if posting.text else ""]
    return hashlib.sha256("\x1f".join(said).encode()).hexdigest()


def _keep_text(posting: Posting, detail: ParsedListing) -> PostingText | None:
    if not detail.description_text or "teaser" in detail.flags:
        return None
    digest = hashlib.sha256(detail.description_text.encode()).hexdigest()
    text, _ = PostingText.objects.get_or_create(
        posting=posting,
        content_hash=digest,
        defaults={"text": detail.description_text, "html": detail.description_html, "method": "detail"},
    )
    return text


def _fill(posting: Posting, detail: ParsedListing, *, source_name: str) -> None:
    """Only what the list left open: a platform's detail may be less exact than its list."""
    if posting.posted_at is None and posting.posted_on is None:
        posting.posted_at, posting.posted_on = split_date(detail.posted_at, timezone.now())
    if detail.company and posting.company == source_name:
        posting.company = detail.company[:200]
    posting.employment_type = posting.employment_type or detail.employment_type or ""
    posting.department = posting.department or (detail.department or "")[:200]
    if posting.remote == "unknown":
        posting.remote = detail.remote
    if detail.locations and len(detail.locations) > len(posting.locations):
        posting.locations = [place[:300] for place in detail.locations]
        _place(posting)
    if detail.compensation and not Compensation.objects.filter(posting=posting, basis="structured").exists():
        Compensation.objects.filter(posting=posting).delete()
        pay_row(posting.pk, detail.compensation)


def _place(posting: Posting) -> None:
    raws = list(dict.fromkeys(posting.locations))
    named = places_of(raws)
    PostingPlace.objects.filter(posting=posting).delete()
    places = list(dict.fromkeys(place.pk for raw in raws for place in named[raw]))
    PostingPlace.objects.bulk_create(
        PostingPlace(posting=posting, place_id=pk, position=position) for position, pk in enumerate(places)
    )
