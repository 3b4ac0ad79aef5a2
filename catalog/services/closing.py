"""Whether a posting that no source shows any more is closed: by its platform's answer, its page, or a
person (A3).

The verdict is one of three, and rests on evidence that is kept. What proves nothing (a redirect, a wall, a
fault, a page that says nothing) leaves the posting unknown, and it is asked after again, less and less
often, and then no more.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import takewhile

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, Judgement, ParsedListing
from catalog.adapters.http import FetchFailed, Response
from catalog.closed_words import BEGINNING, SHORT_PAGE, closed_notice
from catalog.errors import PullFailed
from catalog.models import Listing, Observation, PageFetch, Posting, Source
from catalog.pacing import fetch_at_pace
from catalog.page_text import PAGE_ACCEPT, PAGE_MAX_BYTES, Page, notices, read_page
from catalog.services.postings import ClockNow, lock_postings
from catalog.services.reading import context_of, fetch_request
from catalog.services.robots import refusal
from catalog.services.sources import request_url
from taskqueue.errors import HostBusy
from taskqueue.handlers import Claim, Delay, Done, Outcome

NEXT_CHECKS = (
    timedelta(hours=6),
    timedelta(days=1),
    timedelta(days=3),
    timedelta(days=7),
    timedelta(days=14),
)
CONFIRMED_AFTER = timedelta(hours=20)  # between the two whole lists that do not show it
SAME_TEXT = 0.5  # share of the known text's words that a page has to show to be its page


def check_posting(claim: Claim, posting_id: int) -> Outcome:
    """Ask once whether the posting is closed, and keep what was said."""
    posting = Posting.objects.select_related("text").filter(pk=posting_id).first()
    if posting is None or not _is_asked_after(posting):
        _stop_asking(posting_id)
        return Done(note="nothing to ask")
    try:
        method, url, judged, size = _ask(posting)
    except HostBusy as busy:
        return Delay(until=busy.until, reason=str(busy))
    record_judgement(claim, posting.pk, method=method, url=url, judged=judged, size=size)
    return Done(note=f"{judged.verdict}: {judged.evidence}"[:500])


@transaction.atomic
def _stop_asking(posting_id: int) -> None:
    """Nothing is due for a posting that is closed or listed; under the lock by which sources leave it out."""
    lock_postings([posting_id])
    posting = Posting.objects.filter(pk=posting_id).first()
    if posting is not None and posting.next_check_at is not None and not _is_asked_after(posting):
        posting.next_check_at = None
        posting.save(update_fields=["next_check_at"])


def _is_asked_after(posting: Posting) -> bool:
    """No source shows it, and nothing closed it. Its page showed it, or said nothing: it is asked again."""
    is_listed = posting.listings.kept().listed().exists()
    return posting.availability != Posting.Availability.CLOSED and not is_listed


def _ask(posting: Posting) -> tuple[str, str, Judgement, int]:
    """The first way that tells: absence from whole lists, the platform's own answer, the posting's page."""
    listing = posting.listings.filter(kept=True).select_related("source").order_by("first_seen_at").first()
    if listing is not None:
        judged = _absent(posting)
        by_absence = ADAPTERS[listing.source.kind].closes_by_absence
        answer = _platform_answer(listing) if judged or not by_absence else None
        if judged and answer is None:
            return "list", listing.source.url, judged, 0
        if answer is not None and (judged or answer[2].verdict != "unknown"):
            return answer
    url = listing.url if listing is not None else posting.canonical_url
    return _page_answer(url, posting)


def _absent(posting: Posting) -> Judgement | None:
    """Closed, where the platform shows that by leaving a posting out, and did so in two whole lists."""
    listings = list(posting.listings.filter(kept=True).select_related("source"))
    if not listings or any(row.unlisted_at is None for row in listings):
        return None
    for row in listings:
        whole = row.source.last_complete_at
        if not ADAPTERS[row.source.kind].closes_by_absence or whole is None or row.unlisted_at is None:
            return None
        if whole < row.unlisted_at + CONFIRMED_AFTER:
            return None
    names = ", ".join(sorted({row.source.name for row in listings}))
    return Judgement(
        "closed", f"left out of the whole list of {names} again and again, as closed postings are"
    )


def _platform_answer(listing: Listing) -> tuple[str, str, Judgement, int] | None:
    source = listing.source
    adapter = ADAPTERS[source.kind]
    known = ParsedListing(external_id=listing.external_key, url=listing.url, title=listing.title)
    try:
        context: Context = context_of(
            kind=source.kind,
            token=source.token,
            region=source.region,
            company=source.company,
            keys=settings.SOURCE_KEYS.get(source.kind, {}),
        )
        request = adapter.state_request(replace(context, fetched_at=timezone.now()), known)
        if request is None:
            return None
        response = fetch_request(request, request_url(source, request), obeys_robots=source.obeys_robots)
    except (FetchFailed, PullFailed) as failed:
        return "platform", source.url, Judgement("unknown", str(failed)[:300]), 0
    if _led_elsewhere(response):
        return "platform", request.url, Judgement("unknown", f"redirected to {response.final_url}"[:300]), 0
    judged = adapter.judge_listing(known, response.status, response.content)
    if judged.verdict == "closed" and not _board_answers(source):
        judged = Judgement("unknown", f"{judged.evidence}, but the board itself does not answer"[:300])
    return "platform", request.url, judged, len(response.content)


def _board_answers(source: Source) -> bool:
    """Whether the source's board was read at the last try: one that is gone lacks all its postings."""
    return source.is_active and source.failures == 0


def _page_answer(url: str, posting: Posting) -> tuple[str, str, Judgement, int]:
    try:
        if why := refusal(url):
            return "page", url, Judgement("unknown", why[:300]), 0
        response = fetch_at_pace(url, accept=PAGE_ACCEPT, max_bytes=PAGE_MAX_BYTES)
    except FetchFailed as failed:
        return "page", url, Judgement("unknown", f"the page could not be read: {failed}"[:300]), 0
    return "page", url, judge_page(response, posting), len(response.content)


def judge_page(response: Response, posting: Posting) -> Judgement:
    """What a posting's page says: closed in words where notices stand, open where it shows the posting's
    text.

    A page that shows the posting, or still takes applications, closes it by a notice above its text only.
    """
    page = read_page(response)
    if page.outcome == "gone":
        return Judgement("unknown", "the page is gone, which may mean that its address changed")
    if page.outcome != "fetched":
        return Judgement("unknown", f"{page.outcome}: {page.reason}"[:300])
    if _led_elsewhere(response):
        return Judgement("unknown", f"redirected to {response.final_url}"[:300])
    known = posting.text.text if posting.text is not None else ""
    shows = _shows(page.text, known)
    if said := _notice(response, page, posting, known, shows=shows):
        return Judgement("closed", f"the page says: {said}"[:300])
    if shows:
        return Judgement("open", "its page shows it")
    return Judgement("unknown", "the page says nothing about it")


def _notice(response: Response, page: Page, posting: Posting, known: str, *, shows: bool) -> str | None:
    """The sentence by which the page closes the posting."""
    there = notices(response)
    parts = _runs(known)
    above = "\n".join(takewhile(lambda line: parts.isdisjoint(_runs(line)), there.lines))
    is_long = shows or len(page.text) > SHORT_PAGE or there.offers(posting.title, timezone.now().date())
    return closed_notice(
        there.title, there.heading, above[:BEGINNING] if is_long else above, posting_title=posting.title
    )


def _runs(text: str) -> set[tuple[str, ...]]:
    """The text's words, five in a row: who shows some of them shows the text."""
    words = text.casefold().split()
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def _led_elsewhere(response: Response) -> bool:
    """Whether another page answered than the one asked for: the board's first page, a sign-in."""
    return response.final_url.partition("?")[0].rstrip("/") != response.url.partition("?")[0].rstrip("/")


def _shows(page: str, known: str) -> bool:
    words = set(known.casefold().split())
    return len(words) > 20 and len(words & set(page.casefold().split())) >= SAME_TEXT * len(words)


@transaction.atomic
def record_judgement(
    claim: Claim, posting_id: int, *, method: str, url: str, judged: Judgement, size: int
) -> None:
    """Keep the judgement as evidence, and let the posting's availability follow, unless a source shows it."""
    claim.hold()
    lock_postings([posting_id])
    posting = Posting.objects.get(pk=posting_id)
    PageFetch.objects.create(
        posting=posting,
        url=url[:2048],
        outcome=judged.verdict,
        method=method,
        evidence=judged.evidence,
        size=size,
    )
    posting.checked_at = timezone.now()
    if _is_asked_after(posting):
        _follow(posting, judged)
    else:
        posting.next_check_at = None
    posting.save(
        update_fields=[
            "checked_at",
            "availability",
            "availability_reason",
            "next_check_at",
            "check_failures",
            "changed_at",
        ]
    )


def _follow(posting: Posting, judged: Judgement) -> None:
    if judged.verdict == "unknown":
        left = NEXT_CHECKS[posting.check_failures :]
        posting.next_check_at = timezone.now() + left[0] if left else None
        posting.check_failures += 1
        if not left:  # nobody asks any more: what was seen once is no longer known
            _become(posting, Posting.Availability.UNKNOWN, judged)
        return
    if judged.verdict == "open":
        posting.check_failures = 0
        posting.next_check_at = timezone.now() + _wait_while_open(posting)
        _become(posting, Posting.Availability.OPEN, judged)
        return
    posting.next_check_at = None
    _become(posting, Posting.Availability.CLOSED, judged)
    Observation.objects.create(posting=posting, kind=Observation.Kind.CLOSED, evidence=judged.evidence[:300])


def _become(posting: Posting, availability: Posting.Availability, judged: Judgement) -> None:
    if posting.availability != availability:
        posting.availability = availability
        posting.availability_reason = judged.evidence[:300]
        posting.changed_at = ClockNow()


def _wait_while_open(posting: Posting) -> timedelta:
    """Longer each time that its page was seen to show it since the last source left it out."""
    left_out = posting.listings.kept().aggregate(at=Max("unlisted_at"))["at"]
    seen = PageFetch.objects.filter(posting=posting, outcome="open")
    times = seen.filter(at__gte=left_out).count() if left_out else seen.count()
    return NEXT_CHECKS[min(times, len(NEXT_CHECKS) - 1)]


@transaction.atomic
def close_posting(posting_id: int, *, by: str, reason: str) -> None:
    """A person says that the posting is closed. A source that shows it again reopens the question."""
    lock_postings([posting_id])
    posting = Posting.objects.get(pk=posting_id)
    evidence = f"{by}: {reason}"[:300]
    PageFetch.objects.create(
        posting=posting,
        url=posting.canonical_url[:2048],
        outcome="closed",
        method="person",
        evidence=evidence,
    )
    Observation.objects.create(posting=posting, kind=Observation.Kind.CLOSED, evidence=evidence)
    Posting.objects.filter(pk=posting_id).update(
        availability=Posting.Availability.CLOSED,
        availability_reason=evidence,
        next_check_at=None,
        changed_at=ClockNow(),
    )
