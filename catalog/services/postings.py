"""Postings: admitted from listings, described by texts, placed and paid as their sources state it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db.models import DateTimeField, Exists, Func, OuterRef
from django.utils import timezone

from catalog.adapters import canonical_posting_url
from catalog.adapters.base import ParsedListing, Pay
from catalog.models import Compensation, Listing, Place, Posting, PostingPlace, PostingText
from catalog.pay import pay_in_text
from catalog.places import parse_place

CHUNK = 100  # of a bulk update, whose cost grows with the square of it
WRITTEN = ["apply_url", "title", "company", "department", "locations", "remote", "employment_type"]
WRITTEN += ["posted_at", "posted_on", "text", "content_hash", "near_copy_key", "lead"]
COPY_MIN_CHARS = 200  # shorter texts ("See our website") are the same at employers with nothing in common
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Shown:
    """A listing's row beside what the source said."""

    listing: Listing
    parsed: ParsedListing


def admit(shown: list[Shown]) -> None:
    """Give every listing its posting, and bring the postings that they lead up to date.

    The same URL from two sources is one posting (A4), led by the listing that showed it first and is
    still shown. Rows are locked in the order of their URLs, in one pass (A8).
    """
    by_url: dict[str, list[Shown]] = {}
    for one in shown:
        by_url.setdefault(canonical_posting_url(one.parsed.url), []).append(one)
    _insert_missing(by_url)
    postings = Posting.objects.filter(canonical_url__in=list(by_url)).order_by("canonical_url")
    led: list[tuple[Posting, Shown]] = []
    for posting in postings.select_for_update(of=("self",), no_key=True).select_related("lead", "text"):
        for one in by_url[posting.canonical_url]:
            one.listing.posting = posting
            if _leads(one.listing, posting):
                posting.lead = one.listing
                led.append((posting, one))
    Listing.objects.bulk_update([one.listing for one in shown], ["posting"], batch_size=CHUNK)
    _describe(led)


def _insert_missing(by_url: dict[str, list[Shown]]) -> None:
    there = set(
        Posting.objects.filter(canonical_url__in=list(by_url)).values_list("canonical_url", flat=True)
    )
    Posting.objects.bulk_create(
        [
            Posting(canonical_url=url, title=by_url[url][0].listing.title, content_hash="")
            for url in sorted(set(by_url) - there)
        ],
        ignore_conflicts=True,  # another source may be admitting the same posting now
        batch_size=CHUNK,
    )


def _leads(listing: Listing, posting: Posting) -> bool:
    lead = posting.lead
    return lead is None or lead.pk == listing.pk or lead.unlisted_at is not None or not lead.kept


def _describe(led: list[tuple[Posting, Shown]]) -> None:
    """Write what the leading listings say; places, pay and `changed_at` only where it is something new."""
    _keep_texts([(posting, one.parsed) for posting, one in led])
    changed: list[tuple[Posting, ParsedListing]] = []
    for posting, one in led:
        before = posting.content_hash
        _copy_fields(posting, one)
        if posting.content_hash != before:
            changed.append((posting, one.parsed))
    Posting.objects.bulk_update(
        [posting for posting, _ in led],
        fields=WRITTEN,
        batch_size=CHUNK,
    )
    _place([posting for posting, _ in changed])
    _pay(changed)
    # Last, and by the clock that runs on inside a transaction: recording a large board takes minutes.
    Posting.objects.filter(pk__in=[posting.pk for posting, _ in changed]).update(changed_at=ClockNow())


def _copy_fields(posting: Posting, one: Shown) -> None:
    """A platform that does not name the employer leaves the name that the source is known by."""
    parsed = one.parsed
    posting.apply_url = parsed.apply_url or parsed.url
    posting.title, posting.company = parsed.title[:500], (parsed.company or one.listing.source.name)[:200]
    posting.department = (parsed.department or "")[:200]
    posting.locations = [place[:300] for place in parsed.locations]
    posting.remote, posting.employment_type = parsed.remote, parsed.employment_type or ""
    posting.posted_at, posting.posted_on = split_date(parsed.posted_at, timezone.now())
    text = posting.text
    posting.near_copy_key = _copy_key(text.text) if text else ""
    identity = [posting.title, posting.company, posting.department, posting.locations, posting.remote]
    identity += [posting.employment_type, str(parsed.compensation), text.content_hash if text else ""]
    posting.content_hash = hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _copy_key(text: str) -> str:
    """The same for texts that differ in case, punctuation and white space only."""
    letters = re.sub(r"[\W_]+", "", text.casefold())
    return hashlib.sha256(letters.encode()).hexdigest() if len(letters) >= COPY_MIN_CHARS else ""


def _keep_texts(led: list[tuple[Posting, ParsedListing]]) -> None:
    """Point each posting at its text. A listing that came without a text takes none away (A5)."""
    wanted: dict[tuple[int, str], tuple[Posting, ParsedListing]] = {}
    for posting, parsed in led:
        if parsed.description_text:
            digest = hashlib.sha256(parsed.description_text.encode()).hexdigest()
            wanted[posting.pk, digest] = (posting, parsed)
    PostingText.objects.bulk_create(
        [
            PostingText(
                posting=posting,
                content_hash=digest,
                text=parsed.description_text,
                html=parsed.description_html,
                method="listing",
            )
            for (_, digest), (posting, parsed) in wanted.items()
        ],
        ignore_conflicts=True,
        batch_size=CHUNK,
    )
    kept = PostingText.objects.filter(
        posting__in=[pk for pk, _ in wanted], content_hash__in=[digest for _, digest in wanted]
    )
    for text in kept:
        if pair := wanted.get((text.posting_id, text.content_hash)):
            pair[0].text = text


def _place(postings: Iterable[Posting]) -> None:
    """Link postings to the places that their locations name."""
    raws = {posting.pk: list(dict.fromkeys(posting.locations)) for posting in postings}
    places = places_of({raw for texts in raws.values() for raw in texts})
    PostingPlace.objects.filter(posting__in=raws).delete()
    PostingPlace.objects.bulk_create(
        PostingPlace(posting_id=pk, place=place, position=position)
        for pk, texts in raws.items()
        for position, place in enumerate(place for raw in texts for place in places[raw])
    )


def places_of(raws: Iterable[str]) -> dict[str, list[Place]]:
    """The places that each text names, read once per distinct text."""
    found: dict[str, list[Place]] = {raw: [] for raw in raws}
    for place in Place.objects.filter(raw__in=list(found)).order_by("raw", "ordinal"):
        found[place.raw].append(place)
    unread = sorted(raw for raw, places in found.items() if not places)
    Place.objects.bulk_create(
        [row for raw in unread for row in _place_rows(raw)], ignore_conflicts=True, batch_size=CHUNK
    )
    for place in Place.objects.filter(raw__in=unread).order_by("raw", "ordinal"):
        found[place.raw].append(place)
    return found


def _place_rows(raw: str) -> list[Place]:
    """A text that names no place is kept as a row that says so, so that it is not read again."""
    return [
        Place(
            raw=raw,
            ordinal=ordinal,
            country=place.country or "",
            region=place.region or "",
            city=place.city or "",
            remote=place.remote,
        )
        for ordinal, place in enumerate(parse_place(raw))
    ] or [Place(raw=raw)]


def _pay(changed: list[tuple[Posting, ParsedListing]]) -> None:
    rows = [row for posting, parsed in changed if (row := _stated_pay(posting, parsed.compensation))]
    silent = {posting.pk for posting, _ in changed} - {row.posting_id for row in rows}
    Compensation.objects.filter(posting__in=silent).delete()
    Compensation.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["posting"],
        update_fields=["min", "max", "currency", "period", "basis", "sentence"],
    )


def _stated_pay(posting: Posting, pay: Pay | None) -> Compensation | None:
    """What the source's own fields state, else what a sentence of the text does, else nothing (A9)."""
    if pay is not None and (pay.min is not None or pay.max is not None):
        return _compensation(
            posting, pay.min, pay.max, pay.currency, pay.period, Compensation.Basis.STRUCTURED
        )
    stated = pay_in_text(posting.text.text) if posting.text else None
    if stated is None:
        return None
    row = _compensation(
        posting, stated.min, stated.max, stated.currency, stated.period, Compensation.Basis.TEXT
    )
    row.sentence = stated.sentence
    return row


def _compensation(
    posting: Posting,
    low: float | None,
    high: float | None,
    currency: str | None,
    period: str | None,
    basis: Compensation.Basis,
) -> Compensation:
    return Compensation(
        posting=posting,
        min=None if low is None else Decimal(str(low)),
        max=None if high is None else Decimal(str(high)),
        currency=currency or "",
        period=period or "",
        basis=basis,
    )


class ClockNow(Func):
    """The database's time now, not that of the transaction's beginning."""

    function = "clock_timestamp"
    output_field = DateTimeField()


def settle_availability(posting_ids: Iterable[int]) -> None:
    """Let the postings' availability follow their listings: shown is open, shown nowhere is unknown (A3).

    A posting that evidence closed stays closed until it is shown again, which reopens the question.
    """
    ids = sorted(set(posting_ids))
    # Locked first, in the one order (A8): an update takes rows as it finds them.
    list(
        Posting.objects.filter(pk__in=ids).order_by("canonical_url").select_for_update(no_key=True).only("pk")
    )
    shown = Listing.objects.filter(posting=OuterRef("pk"), kept=True, unlisted_at=None)
    postings = Posting.objects.filter(pk__in=ids)
    postings.filter(Exists(shown)).exclude(availability=Posting.Availability.OPEN).update(
        availability=Posting.Availability.OPEN, availability_reason="", changed_at=ClockNow()
    )
    postings.filter(~Exists(shown), availability=Posting.Availability.OPEN).update(
        availability=Posting.Availability.UNKNOWN,
        availability_reason="no source shows it any more",
        changed_at=ClockNow(),
    )


def split_date(stated: str | None, now: datetime) -> tuple[datetime | None, date | None]:
    """An ISO text as (instant, None) or (None, day); (None, None) for nothing, nonsense and rubbish (A9).

    Instants a day ahead at the most are a platform's clock and count as now.
    """
    if not stated:
        return None, None
    try:
        if len(stated) == 10:
            day = date.fromisoformat(stated)
            return None, day if EARLIEST.date() <= day <= now.date() + timedelta(days=1) else None
        instant = datetime.fromisoformat(stated)
    except ValueError:
        return None, None
    if instant.tzinfo is None:
        return None, instant.date() if EARLIEST.date() <= instant.date() <= now.date() else None
    if instant < EARLIEST or instant > now + timedelta(days=1):
        return None, None
    return min(instant, now), None
