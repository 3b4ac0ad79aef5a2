"""Recording what a source showed, and what its absence means."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from catalog import sql
from catalog.adapters.base import ParsedListing
from catalog.admission import ADMISSION_VERSION, TitlePattern, drop_box_reason
from catalog.errors import Overtaken
from catalog.html import SANITISER_VERSION
from catalog.models import Listing, Observation, Source, TitleRule
from catalog.services.copying import copy_lines, copy_rows, new_ids, rows_of, run
from catalog.services.postings import Shown, admit, lock_postings, settle_availability, split_date
from catalog.services.spool import Spool, fingerprint
from taskqueue.handlers import Claim

CHUNK = 2_000  # changed listings of one transaction
KEPT = {Listing.Ruling.NO_PATTERN, Listing.Ruling.PATTERN}


@dataclass(frozen=True, slots=True)
class Recorded:
    seen: int
    kept: int
    new: int
    changed: int
    unlisted: int


@dataclass(frozen=True, slots=True)
class Admission:
    """A source's rule for titles, as it stood when its reading was compared."""

    pattern: TitlePattern | None
    rule_id: int | None

    @classmethod
    def of(cls, source: Source) -> Admission:
        if not source.title_pattern:
            return cls(None, None)
        rule, _ = TitleRule.objects.get_or_create(pattern=source.title_pattern)
        return cls(TitlePattern(source.title_pattern), rule.pk)

    @classmethod
    def trial(cls, pattern: str) -> Admission:
        """The rule of a pattern that nobody has saved. Raises InvalidPattern."""
        return cls(TitlePattern(pattern) if pattern else None, None)

    @property
    def mark(self) -> str:
        """Ends the fingerprint of what it ruled on: under another rule, or read by other code, it is
        another.
        """
        return f":{self.rule_id or ''}:{ADMISSION_VERSION}.{SANITISER_VERSION}"

    def rule_on(self, listing: ParsedListing) -> Listing.Ruling:
        if "closed" in listing.flags:
            return Listing.Ruling.CLOSED
        if "prospect_post" in listing.flags or drop_box_reason(listing.title, listing.description_text):
            return Listing.Ruling.DROP_BOX
        if self.pattern is None:
            return Listing.Ruling.NO_PATTERN
        return Listing.Ruling.PATTERN if self.pattern.matches(listing.title) else Listing.Ruling.PATTERN_MISS


@dataclass(frozen=True, slots=True)
class _Difference:
    """What of a reading the catalog does not show yet: places in the spool, each with the listing's id or
    None.
    """

    changed: Sequence[tuple[int, int | None]]
    absent: Sequence[tuple[int, int | None]]  # ids of listings, each with the posting it held open, or None
    seen: int
    kept_unchanged: int


def record_listings(
    *,
    claim: Claim,
    source_id: int,
    pull_id: int,
    spool: Spool,
    complete: bool,
    finish: Callable[[Recorded], None] = lambda recorded: None,
) -> Recorded:
    """Make the catalog show what the spool holds; `finish` takes part in the last transaction.

    Invariants: every listing is recorded, admitted or not, with what ruled on it (A1); rows that did not
    change are not written (A7); only a complete, non-empty reading lets absence mean unlisted (A2), and
    unlisted never means closed (A3). Each transaction locks the claim, the source and then its postings, in
    one pass in the order of their URLs (A8). What is interrupted between two of them is what a reading of a
    smaller board would have recorded; the next one goes on.

    Raises ClaimLost when the task was taken over meanwhile, Overtaken when a newer pull of the source has
    begun to record: nothing more is written then. Two that took turns would each undo what the other
    compared with.
    """
    with transaction.atomic():
        source = _begin(claim, source_id, pull_id)
        admission = Admission.of(source)
        difference = _compare(source, spool, admission)
    new = kept = 0
    for chunk in _chunks(difference.changed):
        with transaction.atomic():
            _begin(claim, source_id, pull_id)
            shown = [_shown(spool.at(place), known, admission) for place, known in chunk]
            _write(source_id, pull_id, shown)
        new += sum(one.is_new for one in shown)
        kept += sum(one.is_kept for one in shown)
        claim.progress(new, difference.seen, "recording")
    with transaction.atomic():
        _begin(claim, source_id, pull_id)
        absent = difference.absent if complete and difference.seen else ()
        _unlist(source_id, pull_id, absent)
        changed = len(difference.changed) - new
        recorded = Recorded(difference.seen, difference.kept_unchanged + kept, new, changed, len(absent))
        finish(recorded)
    return recorded


def _begin(claim: Claim, source_id: int, pull_id: int) -> Source:
    claim.hold()
    source = Source.objects.select_for_update(no_key=True).get(pk=source_id)
    if source.recording_pull > pull_id:
        raise Overtaken(f"a newer reading of source {source_id} is recorded")
    if source.recording_pull < pull_id:
        # What is recorded by half must not pass for what the validators of the last reading stand for.
        Source.objects.filter(pk=source_id).update(recording_pull=pull_id, validators={})
    return source


def _compare(source: Source, spool: Spool, admission: Admission) -> _Difference:
    run(sql.STAGE)
    run(sql.EMPTY_STAGE)
    copy_lines(sql.COPY_STAGED, spool.index())
    if spool.has_repeats:
        run(sql.DROP_EARLIER)
    run(sql.ANALYSE_STAGED)
    [(_, kept), *changed] = rows_of(sql.COMPARE, source=source.pk, ruled_by=admission.mark)
    absent = rows_of(sql.ABSENT, source=source.pk)
    [(seen,)] = rows_of(sql.COUNT_STAGED)
    return _Difference(
        [(row[0], row[1]) for row in changed], [(row[0], row[1]) for row in absent], seen, kept
    )


def _chunks(changed: Sequence[tuple[int, int | None]]) -> Iterator[Sequence[tuple[int, int | None]]]:
    for start in range(0, len(changed), CHUNK):
        yield changed[start : start + CHUNK]


def _shown(parsed: ParsedListing, known_id: int | None, admission: Admission) -> Shown:
    ruling = admission.rule_on(parsed)
    by_rule = ruling in {Listing.Ruling.PATTERN, Listing.Ruling.PATTERN_MISS}
    return Shown(
        parsed=parsed,
        is_new=known_id is None,
        id=known_id or 0,
        is_kept=ruling in KEPT,
        ruling=ruling,
        rule_id=admission.rule_id if by_rule else None,
        fingerprint=fingerprint(parsed) + admission.mark,
    )


def _write(source_id: int, pull_id: int, shown: list[Shown]) -> None:
    """Listings of one chunk, their postings, and what came or went with them."""
    ids = iter(new_ids("catalog_listing", sum(one.is_new for one in shown)))
    for one in shown:
        one.id = next(ids) if one.is_new else one.id
    before = _linked([one.id for one in shown if not one.is_new])
    shown_before = {posting for posting, was_kept, _ in before.values() if posting is not None and was_kept}
    admit(source_id, [one for one in shown if one.is_kept], shown_before)
    run(sql.FRESH_LISTINGS)
    run(sql.EMPTY_LISTINGS)
    copy_rows(sql.COPY_LISTINGS, map(_listing_row, shown))
    run(sql.INSERT_LISTINGS, source=source_id, pull=pull_id)
    run(sql.UPDATE_LISTINGS, pull=pull_id)
    _observe(source_id, pull_id, shown, before)


def _linked(ids: list[int]) -> dict[int, tuple[int | None, bool, bool]]:
    """For known listings: their posting, whether it was admitted through them, whether they were unlisted."""
    rows = Listing.objects.filter(pk__in=ids).values_list("pk", "posting_id", "kept", "unlisted_at")
    return {pk: (posting, kept, unlisted is not None) for pk, posting, kept, unlisted in rows}


def _listing_row(one: Shown) -> tuple[object, ...]:
    parsed = one.parsed
    posted_at, posted_on = split_date(parsed.posted_at, timezone.now())
    return (
        one.id,
        one.is_new,
        parsed.external_id,
        parsed.url,
        parsed.title[:500],
        (parsed.company or "")[:200],
        json.dumps(list(parsed.locations)),
        posted_at,
        posted_on,
        one.is_kept,
        str(one.ruling),
        one.rule_id,
        one.fingerprint,
        one.has_text,
        one.posting_id,
    )


def _observe(
    source_id: int, pull_id: int, shown: list[Shown], before: dict[int, tuple[int | None, bool, bool]]
) -> None:
    """Note which postings appeared, came back, moved to another URL, or are no longer admitted, and let
    availability follow.
    """
    noted: list[tuple[int, str]] = []
    touched: set[int] = set()
    left: set[int] = set()
    for one in shown:
        posting, was_kept, was_unlisted = before.get(one.id, (None, False, False))
        if one.is_kept and one.posting_id is not None:
            is_first = posting != one.posting_id
            if is_first and posting is not None and was_kept and not was_unlisted:
                noted.append((posting, Observation.Kind.UNLISTED))
                left.add(posting)
            if is_first or was_unlisted or not was_kept:
                kind = Observation.Kind.APPEARED if is_first else Observation.Kind.REAPPEARED
                noted.append((one.posting_id, kind))
            if not one.is_new_posting:
                touched.add(one.posting_id)
        elif posting is not None and was_kept:
            noted.append((posting, Observation.Kind.FILTERED))
            left.add(posting)
    if noted:
        postings, kinds = zip(*noted, strict=True)
        run(
            sql.INSERT_OBSERVATIONS,
            source=source_id,
            pull=pull_id,
            postings=list(postings),
            kinds=[str(kind) for kind in kinds],
        )
    if left:
        run(sql.READ_AGAIN, postings=list(left))
    settle_availability(touched | left)


def _unlist(source_id: int, pull_id: int, absent: Sequence[tuple[int, int | None]]) -> None:
    """Mark the listings that a complete reading no longer shows. Their postings are not closed by that."""
    if not absent:
        return
    gone = sorted({posting for _, posting in absent if posting is not None})
    lock_postings(gone)
    Listing.objects.filter(pk__in=[listing for listing, _ in absent]).update(
        unlisted_at=Now(), pull_id=pull_id
    )
    run(
        sql.INSERT_OBSERVATIONS,
        source=source_id,
        pull=pull_id,
        postings=gone,
        kinds=[str(Observation.Kind.UNLISTED)] * len(gone),
    )
    run(sql.READ_AGAIN, postings=gone)
    settle_availability(gone)
