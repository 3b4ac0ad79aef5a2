"""From an address that a person pastes to a board that can be read: what it is, and what it would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from catalog.adapters import ADAPTERS, detect, why_undetected
from catalog.adapters.base import Detection, ParsedListing, Progress, Rejected, Request, UnreadableResponse
from catalog.adapters.http import FetchFailed, Response
from catalog.errors import PullFailed, UnknownPlatform
from catalog.models import Listing, Source
from catalog.pacing import OutOfTime, fetch_at_pace
from catalog.page_detection import board_in_page
from catalog.page_text import PAGE_ACCEPT, PAGE_MAX_BYTES, read_page
from catalog.services.listings import KEPT, Admission
from catalog.services.reading import Page, context_of, fetch_request, read_board
from catalog.services.robots import refusal
from taskqueue.errors import HostBusy

PREVIEW_PAGES = 3
SLOW = "the site answers slowly, and was not read in the time that a look may take"
_LONGEST_HOST = 260  # with its port, as what hosts ask of robots is kept


@dataclass(frozen=True, slots=True)
class Recognised:
    """A board, what says that it is one, and whether the page had to be read for that."""

    board: Detection
    evidence: str
    page_was_read: bool = False


def recognise(url: str) -> Recognised:
    """The board that the address names, else the one that the page at it leads to.

    Raises UnknownPlatform with the reason where neither tells.
    """
    if found := detect(url):
        return Recognised(found, found.reason)
    if why_undetected(url).startswith("not a web address"):
        raise UnknownPlatform(url, why_undetected(url))
    if len(urlsplit(url).netloc) > _LONGEST_HOST:
        raise UnknownPlatform(url, "not a web address: the host's name is too long")
    try:
        if why := refusal(url):
            raise UnknownPlatform(url, why)
        response = fetch_at_pace(url, accept=PAGE_ACCEPT, max_bytes=PAGE_MAX_BYTES)
    except FetchFailed as failed:
        raise UnknownPlatform(url, f"the page could not be read: {failed}") from failed
    except HostBusy as busy:
        raise UnknownPlatform(url, f"the page's host is busy, try again in a moment: {busy}") from busy
    except OutOfTime as over:
        raise UnknownPlatform(url, SLOW) from over
    page = read_page(response)
    if page.outcome != "fetched":
        raise UnknownPlatform(url, f"the page could not be read: {page.outcome}: {page.reason}")
    if found := detect(response.final_url):
        return Recognised(found, f"the page leads to {response.final_url}", page_was_read=True)
    behind = board_in_page(response.content, response.final_url)
    if behind is None:
        raise UnknownPlatform(url, "the page was read, and leads to no board of a platform that can be read")
    return Recognised(behind.board, behind.evidence, page_was_read=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A listing of a test fetch, and what the source's rule for titles would say of it."""

    listing: ParsedListing
    is_kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a board shows now. Nothing of it is recorded."""

    rows: Sequence[Row] = ()
    rejected: Sequence[Rejected] = ()
    pages: Sequence[Page] = ()
    complete: bool = False
    reason: str = ""
    fault: str = ""

    @property
    def kept(self) -> list[Row]:
        return [row for row in self.rows if row.is_kept]

    @property
    def dropped(self) -> list[Row]:
        return [row for row in self.rows if not row.is_kept]


class _Enough(Exception):
    """A test fetch looks at the first pages only."""


def preview(board: Detection, *, company: str = "", title_pattern: str = "") -> Preview:
    """Read the first pages of a board and judge the listings, without recording anything.

    Whatever goes wrong is said in `fault`. Raises InvalidPattern.
    """
    pages: list[Page] = []
    listings: list[ParsedListing] = []
    admission = Admission.trial(title_pattern)

    def between(so_far: Progress) -> None:
        if so_far.pages >= PREVIEW_PAGES:
            raise _Enough

    def ask(request: Request) -> Response:
        return fetch_request(request, request.url, max_bytes=settings.FETCH_MAX_BYTES)

    adapter = ADAPTERS[board.kind]
    try:
        context = context_of(
            kind=board.kind,
            token=board.token,
            region=board.region,
            company=company,
            keys=settings.SOURCE_KEYS.get(board.kind, {}),
        )
        reading = read_board(
            adapter,
            replace(context, fetched_at=timezone.now()),
            ask=ask,
            keep=listings.extend,
            between=between,
            show=pages.append,
        )
    except _Enough:
        rows = [_judged(listing, admission) for listing in listings]
        return Preview(
            rows, (), pages, reason=f"the first {PREVIEW_PAGES} pages of the board; a pull reads all"
        )
    except OutOfTime:
        return Preview([_judged(listing, admission) for listing in listings], (), pages, fault=f"{SLOW}.")
    except (PullFailed, UnreadableResponse, FetchFailed, HostBusy) as failed:
        return Preview(pages=pages, fault=str(failed))
    rows = [_judged(listing, admission) for listing in listings]
    return Preview(rows, reading.rejected, pages, reading.complete, reading.reason)


def _judged(listing: ParsedListing, admission: Admission) -> Row:
    ruling = admission.rule_on(listing)
    return Row(listing, ruling in KEPT, Listing.Ruling(ruling).label)


@dataclass(frozen=True, slots=True)
class PatternDiff:
    """What another title pattern would change among the recorded listings that the source shows now."""

    admitted: Sequence[Listing]  # not admitted now
    dropped: Sequence[Listing]  # admitted now
    kept: int
    still_dropped: int


def preview_pattern(source: Source, pattern: str) -> PatternDiff:
    """Rule on what was recorded as the pattern would (A1), before it is saved. Raises InvalidPattern."""
    admission = Admission.trial(pattern)
    admitted, dropped, kept, still_dropped = [], [], 0, 0
    for listing in Listing.objects.filter(source=source, unlisted_at=None).order_by("title").iterator():
        if listing.ruling in {Listing.Ruling.DROP_BOX, Listing.Ruling.CLOSED}:
            still_dropped += 1
            continue
        would = admission.pattern is None or admission.pattern.matches(listing.title)
        if would and listing.kept:
            kept += 1
        elif would:
            admitted.append(listing)
        elif listing.kept:
            dropped.append(listing)
        else:
            still_dropped += 1
    return PatternDiff(admitted, dropped, kept, still_dropped)
