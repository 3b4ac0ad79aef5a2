"""Recording what a source showed, and what its absence means."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from catalog.adapters.base import ParsedListing, Reading
from catalog.admission import TitlePattern, drop_box_reason
from catalog.models import Listing, Observation, Pull, Source, TitleRule
from catalog.services.postings import Shown, admit, settle_availability, split_date
from taskqueue.handlers import Claim

CHUNK = 100  # of a bulk update, whose cost grows with the square of it
WRITTEN = ["url", "title", "company", "locations", "posted_at", "posted_on", "kept", "ruling", "rule"]
WRITTEN += ["fingerprint", "pull"]


@dataclass(frozen=True, slots=True)
class Recorded:
    seen: int
    kept: int
    new: int
    changed: int
    unlisted: int


@dataclass(frozen=True, slots=True)
class Admission:
    """A source's rule for titles, as it stands now."""

    pattern: TitlePattern | None
    rule: TitleRule | None

    @classmethod
    def of(cls, source: Source) -> Admission:
        if not source.title_pattern:
            return cls(None, None)
        rule, _ = TitleRule.objects.get_or_create(pattern=source.title_pattern)
        return cls(TitlePattern(source.title_pattern), rule)

    def rule_on(self, listing: ParsedListing) -> Listing.Ruling:
        if "prospect_post" in listing.flags or drop_box_reason(listing.title, listing.description_text):
            return Listing.Ruling.DROP_BOX
        if self.pattern is None:
            return Listing.Ruling.NO_PATTERN
        return Listing.Ruling.PATTERN if self.pattern.matches(listing.title) else Listing.Ruling.PATTERN_MISS


KEPT = {Listing.Ruling.NO_PATTERN, Listing.Ruling.PATTERN}


@transaction.atomic
def record_reading(*, claim: Claim, source_id: int, pull_id: int, reading: Reading) -> Recorded:
    """Make the catalog show what `reading` shows.

    Invariants: every listing is recorded, admitted or not, with what ruled on it (A1); rows that did
    not change are not written (A7); only a complete, non-empty reading lets absence mean unlisted
    (A2), and unlisted never means closed (A3). Two pulls of one source follow one another, since the
    source's row is locked first; postings are locked in the order of their URLs (A8).

    Raises ClaimLost, having written nothing, when the task was taken over meanwhile.
    """
    claim.hold()
    source = Source.objects.select_for_update().get(pk=source_id)
    pull = Pull.objects.get(pk=pull_id)
    admission = Admission.of(source)
    known = {row.external_key: row for row in Listing.objects.filter(source=source)}

    shown = {listing.external_id: listing for listing in reading.listings}
    fresh = [_row(source, pull, admission, shown[key], known.get(key)) for key in sorted(shown)]
    changed = [row for row in fresh if row is not None]
    recorded = _write(changed)
    _show(source, pull, [Shown(row, shown[row.external_key]) for row in recorded if row.kept])
    _withdraw_filtered(source, pull, recorded)

    unlisted = 0
    if reading.complete and shown:
        unlisted = _unlist_absent(source, pull, known.values(), set(shown))
    kept = Listing.objects.filter(source=source, kept=True, external_key__in=list(shown)).count()
    new = sum(1 for row in recorded if row.external_key not in known)
    return Recorded(len(shown), kept, new, len(recorded) - new, unlisted)


def _row(
    source: Source, pull: Pull, admission: Admission, listing: ParsedListing, known: Listing | None
) -> Listing | None:
    """The listing's row as it has to be written, or None where it stands already."""
    ruling = admission.rule_on(listing)
    rule = admission.rule if ruling in {Listing.Ruling.PATTERN, Listing.Ruling.PATTERN_MISS} else None
    fingerprint = _fingerprint(listing, ruling, rule)
    if known is not None and known.fingerprint == fingerprint and known.unlisted_at is None:
        return None
    posted_at, posted_on = split_date(listing.posted_at, timezone.now())
    row = known or Listing(source=source, external_key=listing.external_id)
    row.url, row.title, row.company = listing.url, listing.title[:500], (listing.company or "")[:200]
    row.locations = list(listing.locations)
    row.posted_at, row.posted_on = posted_at, posted_on
    row.kept, row.ruling, row.rule = ruling in KEPT, ruling, rule
    row.fingerprint, row.pull = fingerprint, pull
    return row


def _fingerprint(listing: ParsedListing, ruling: str, rule: TitleRule | None) -> str:
    stands_for = [asdict(listing), ruling, rule.pk if rule else None]
    return hashlib.sha256(json.dumps(stands_for, sort_keys=True, default=str).encode()).hexdigest()


def _write(rows: list[Listing]) -> list[Listing]:
    Listing.objects.bulk_create([row for row in rows if row.pk is None], batch_size=CHUNK)
    Listing.objects.bulk_update(
        [row for row in rows if row.pk is not None],
        fields=WRITTEN,
        batch_size=CHUNK,
    )
    return rows


def _show(source: Source, pull: Pull, shown: list[Shown]) -> None:
    """Admit the kept listings' postings, and note which of them appeared or came back."""
    back = {one.listing.pk for one in shown if one.listing.unlisted_at is not None}
    linked = {one.listing.pk for one in shown if one.listing.posting_id is not None}
    admit(shown)
    Listing.objects.filter(pk__in=back).update(unlisted_at=None)
    Observation.objects.bulk_create(
        Observation(
            posting=one.listing.posting,
            source=source,
            pull=pull,
            kind=Observation.Kind.REAPPEARED if one.listing.pk in linked else Observation.Kind.APPEARED,
        )
        for one in shown
        if one.listing.pk in back or one.listing.pk not in linked
    )
    settle_availability([one.listing.posting_id for one in shown if one.listing.posting_id])


def _withdraw_filtered(source: Source, pull: Pull, rows: Iterable[Listing]) -> None:
    """Note the postings whose listing the title rule no longer admits: filtered, which is not closed."""
    filtered = [row for row in rows if not row.kept and row.posting_id is not None]
    noted = set(
        Observation.objects.filter(
            source=source, kind=Observation.Kind.FILTERED, posting__in=[row.posting_id for row in filtered]
        ).values_list("posting_id", flat=True)
    )
    Observation.objects.bulk_create(
        Observation(posting=row.posting, source=source, pull=pull, kind=Observation.Kind.FILTERED)
        for row in filtered
        if row.posting_id not in noted
    )
    settle_availability([row.posting_id for row in filtered if row.posting_id])


def _unlist_absent(source: Source, pull: Pull, known: Iterable[Listing], shown: set[str]) -> int:
    """Mark the listings that a complete reading no longer shows."""
    absent = [row for row in known if row.unlisted_at is None and row.external_key not in shown]
    if not absent:
        return 0
    Listing.objects.filter(pk__in=[row.pk for row in absent]).update(unlisted_at=Now(), pull=pull)
    gone = sorted({row.posting_id for row in absent if row.posting_id and row.kept})
    Observation.objects.bulk_create(
        Observation(posting_id=posting_id, source=source, pull=pull, kind=Observation.Kind.UNLISTED)
        for posting_id in gone
    )
    settle_availability(gone)
    return len(absent)
