"""Postings: admitted from listings, described by texts, placed and paid as their sources state it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db.models import DateTimeField, Exists, Func, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from catalog import sql
from catalog.adapters import canonical_posting_url
from catalog.adapters.base import ParsedListing, Pay
from catalog.keys import company_key, role_key
from catalog.models import Listing, Observation, Posting, Source
from catalog.services.copying import copy_rows, new_ids, rows_of, run
from catalog.services.placing import places_of

COPY_MIN_CHARS = 200  # shorter texts ("See our website") are the same at employers with nothing in common
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
MOST_PAY = 10**11  # in any currency and period; a year's pay in rials or dongs has eleven digits at most
FIRST_CHECK = timedelta(hours=1)  # after a posting is shown nowhere any more
_SIGNS = re.compile(r"[\W_]+")
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


@dataclass(slots=True)
class Shown:
    """A listing to be written, and the posting that it turns out to show."""

    parsed: ParsedListing
    is_new: bool
    id: int
    is_kept: bool
    ruling: Listing.Ruling
    rule_id: int | None
    fingerprint: str
    posting_id: int | None = None
    is_new_posting: bool = False

    @property
    def has_text(self) -> bool:
        """Whether the list shows the whole text: its beginning is none (A5)."""
        return bool(self.parsed.description_text) and "teaser" not in self.parsed.flags


@dataclass(frozen=True, slots=True)
class _Standing:
    """A posting that was there."""

    id: int
    content_hash: str
    text_hash: str
    near_copy_key: str
    lead_id: int | None
    needs_lead: bool
    is_textless: bool


def admit(source_id: int, shown: list[Shown], shown_before: Collection[int] = ()) -> None:
    """Give every listing its posting, and bring the postings that they lead up to date.

    The same URL from two sources is one posting (A4), led by the listing that showed it first and is still
    shown; one that comes with the text takes the lead where no text is known. Postings are inserted or
    locked in one pass, in the order of their URLs (A8), and with them those that were `shown_before`.
    """
    if not shown and not shown_before:
        return
    by_url: dict[str, list[Shown]] = {}
    for one in shown:
        by_url.setdefault(canonical_posting_url(one.parsed.url), []).append(one)
    name = Source.objects.only("name").get(pk=source_id).name
    rows = _new_rows(by_url, name)
    inserted = _insert({url: row.values() for url, row in rows.items()}, shown_before)
    standing = _standing([url for url in by_url if url not in inserted])
    led: list[_Row] = []
    for url, ones in by_url.items():
        row = rows[url]
        if url in inserted:
            led.append(row)
        for one in ones:
            one.is_new_posting = url in inserted
            one.posting_id = row.id if url in inserted else standing[url].id
            if url not in inserted and _leads(one, standing[url]):
                led.append(_Row.of(one, url, name, standing=standing[url]))
    _keep_texts(led)
    changed = [row for row in led if row.is_changed]
    _update([row for row in led if not row.is_new])
    _place(changed)
    _pay(changed)


def _leads(one: Shown, standing: _Standing) -> bool:
    brings_text = standing.is_textless and one.has_text
    return standing.needs_lead or standing.lead_id == one.id or brings_text


@dataclass(slots=True)
class _Row:
    """A posting as its leading listing says it, ready to be written."""

    shown: Shown
    url: str
    company: str
    id: int
    text_id: int | None
    text_hash: str
    near_copy_key: str
    is_new: bool
    content_hash: str = ""
    is_changed: bool = True

    @classmethod
    def of(
        cls,
        one: Shown,
        url: str,
        source_name: str,
        *,
        standing: _Standing | None = None,
        ids: tuple[int, int] = (0, 0),
    ) -> _Row:
        """A platform that does not name the employer leaves the name that the source is known by."""
        text = one.parsed.description_text if one.has_text else ""
        text_hash = hashlib.sha256(text.encode()).hexdigest() if text else ""
        row = cls(
            shown=one,
            url=url,
            company=(one.parsed.company or source_name)[:200],
            id=standing.id if standing else ids[0],
            text_id=ids[1] if text_hash and not standing else None,
            text_hash=text_hash or (standing.text_hash if standing else ""),
            near_copy_key=copy_key(text) if text else (standing.near_copy_key if standing else ""),
            is_new=standing is None,
        )
        row.content_hash = row.identity()
        row.is_changed = standing is None or standing.content_hash != row.content_hash
        return row

    def identity(self) -> str:
        """Of all that a review reads."""
        parsed = self.shown.parsed
        said = [
            parsed.title[:500],
            self.company,
            (parsed.department or "")[:200],
            self.locations,
            parsed.remote,
        ]
        said += [parsed.employment_type or "", str(parsed.compensation), self.text_hash]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    @property
    def locations(self) -> list[str]:
        return [place[:300] for place in self.shown.parsed.locations]

    def values(self) -> tuple[object, ...]:
        parsed = self.shown.parsed
        posted_at, posted_on = split_date(parsed.posted_at, timezone.now())
        title = parsed.title[:500]
        return (
            self.id,
            self.url,
            parsed.apply_url or parsed.url,
            title,
            self.company,
            company_key(self.company),
            role_key(title),
            (parsed.department or "")[:200],
            json.dumps(self.locations),
            parsed.remote,
            parsed.employment_type or "",
            posted_at,
            posted_on,
            self.text_id,
            self.text_hash,
            self.content_hash,
            self.near_copy_key,
            self.shown.id,
        )


def _new_rows(by_url: dict[str, list[Shown]], source_name: str) -> dict[str, _Row]:
    """A row for each URL, for the case that there is no posting yet."""
    posting_ids = new_ids("catalog_posting", len(by_url))
    text_ids = new_ids("catalog_postingtext", len(by_url))
    return {
        url: _Row.of(ones[0], url, source_name, ids=ids)
        for (url, ones), ids in zip(by_url.items(), zip(posting_ids, text_ids, strict=True), strict=True)
    }


def _insert(rows: dict[str, tuple[object, ...]], shown_before: Collection[int]) -> set[str]:
    """Insert what is missing, lock what is there; the URLs that were missing."""
    run(sql.FRESH_POSTINGS)
    run(sql.EMPTY_POSTINGS)
    copy_rows(sql.COPY_POSTINGS, rows.values())
    return {row[0] for row in rows_of(sql.INSERT_POSTINGS, shown_before=list(shown_before))}


def _standing(urls: list[str]) -> dict[str, _Standing]:
    return {
        url: _Standing(pk, content, text or "", copies, lead, needs_lead, is_textless)
        for pk, url, content, text, copies, lead, needs_lead, is_textless in rows_of(
            sql.STANDING_POSTINGS, urls=urls
        )
    }


def _update(rows: Sequence[_Row]) -> None:
    if rows:
        run(sql.EMPTY_POSTINGS)
        copy_rows(sql.COPY_POSTINGS, (row.values() for row in rows))
        run(sql.UPDATE_POSTINGS)


def _keep_texts(rows: Iterable[_Row]) -> None:
    """A version of the text for each posting that came with one.

    A listing without a text takes none away (A5).
    """
    with_text = [row for row in rows if row.shown.has_text]
    if not with_text:
        return
    later = [row for row in with_text if row.text_id is None]
    for row, number in zip(later, new_ids("catalog_postingtext", len(later)), strict=True):
        row.text_id = number
    run(sql.FRESH_TEXTS)
    run(sql.EMPTY_TEXTS)
    copy_rows(
        sql.COPY_TEXTS,
        (
            (
                row.text_id,
                row.id,
                row.text_hash,
                row.shown.parsed.description_text,
                row.shown.parsed.description_html,
                "listing",
            )
            for row in with_text
        ),
    )
    run(sql.INSERT_TEXTS)


def copy_key(text: str) -> str:
    """The same for texts that differ in case, punctuation and white space only."""
    folded = text.casefold()
    if folded.isascii():  # most texts, and several times as fast
        letters = folded.encode().translate(None, _ASCII_SIGNS).decode()
    else:
        letters = _SIGNS.sub("", folded)
    return hashlib.sha256(letters.encode()).hexdigest() if len(letters) >= COPY_MIN_CHARS else ""


def _place(rows: Sequence[_Row]) -> None:
    """Link postings to the places that their locations name."""
    if not rows:
        return
    raws = {row.id: list(dict.fromkeys(row.locations)) for row in rows}
    places = places_of({raw for texts in raws.values() for raw in texts})
    links = [
        (pk, place.pk, position)
        for pk, texts in raws.items()
        for position, place in enumerate(place for raw in texts for place in places[raw])
    ]
    known = [row.id for row in rows if not row.is_new]
    if known:
        run(sql.UNLINK_PLACES, postings=known)
    if links:
        postings, numbers, positions = map(list, zip(*links, strict=True))
        run(sql.LINK_PLACES, postings=postings, places=numbers, positions=positions)


def _pay(rows: Sequence[_Row]) -> None:
    """Pay as the source's own fields state it. What a text states is read with the other facts of it."""
    if not rows:
        return
    known = [row.id for row in rows if not row.is_new]
    if known:
        run(sql.DROP_PAY, postings=known)
    _write_pay([(row.id, pay) for row in rows if (pay := row.shown.parsed.compensation)])


def pay_row(posting_id: int, pay: Pay) -> None:
    """The pay that a source states of a posting that has none."""
    _write_pay([(posting_id, pay)])


def bounds_fit(low: float | None, high: float | None) -> bool:
    """Whether this is pay at all: something is stated, and no more than anybody was ever paid."""
    stated = [bound for bound in (low, high) if bound is not None]
    return bool(stated) and max(stated) < MOST_PAY


def _write_pay(pays: Sequence[tuple[int, Pay]]) -> None:
    stated = [(pk, pay) for pk, pay in pays if bounds_fit(pay.min, pay.max)]
    if stated:
        run(
            sql.INSERT_PAY,
            postings=[pk for pk, _ in stated],
            lows=[None if pay.min is None else Decimal(str(pay.min)) for _, pay in stated],
            highs=[None if pay.max is None else Decimal(str(pay.max)) for _, pay in stated],
            currencies=[pay.currency or "" for _, pay in stated],
            periods=[pay.period or "" for _, pay in stated],
        )


class ClockNow(Func):
    """The database's time now, not that of the transaction's beginning."""

    function = "clock_timestamp"
    output_field = DateTimeField()


def lock_postings(ids: Collection[int]) -> None:
    """Lock postings in the one order (A8): an update takes rows as it finds them."""
    if ids:
        run(sql.LOCK_POSTINGS, ids=sorted(ids))


def settle_availability(posting_ids: Iterable[int]) -> None:
    """Let the availability of postings, locked before, follow their listings (A3).

    Shown is open, shown nowhere is unknown. A posting that evidence closed stays closed until it is shown
    again, which reopens the question.
    """
    ids = sorted(set(posting_ids))
    if not ids:
        return
    shown = Listing.objects.filter(posting=OuterRef("pk"), kept=True, unlisted_at=None)
    postings = Posting.objects.filter(pk__in=ids)
    back = postings.filter(Exists(shown))
    reopened = list(back.filter(availability=Posting.Availability.CLOSED).values_list("pk", flat=True))
    back.exclude(availability=Posting.Availability.OPEN).update(
        availability=Posting.Availability.OPEN,
        availability_reason="",
        next_check_at=None,
        check_failures=0,
        changed_at=ClockNow(),
    )
    Observation.objects.bulk_create(
        Observation(posting_id=pk, kind=Observation.Kind.REOPENED, evidence="a source shows it again")
        for pk in reopened
    )
    postings.filter(~Exists(shown), availability=Posting.Availability.OPEN).update(
        availability=Posting.Availability.UNKNOWN,
        availability_reason="no source shows it any more",
        next_check_at=Now() + FIRST_CHECK,
        check_failures=0,
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
