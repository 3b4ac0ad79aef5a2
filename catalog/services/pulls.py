"""One pull of one source: request, reading, record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Adapter, Context, Reading, Rejected, Request, UnreadableResponse
from catalog.adapters.http import FetchFailed, Response
from catalog.admission import InvalidPattern
from catalog.errors import Overtaken, PullFailed
from catalog.models import Pull, PullPage, Source
from catalog.pacing import fetch_at_pace
from catalog.paging import Board
from catalog.services.facts import derive_facts
from catalog.services.listings import Recorded, record_listings
from catalog.services.sources import request_url
from catalog.services.spool import Spool
from config import objects
from taskqueue.errors import HostBusy
from taskqueue.handlers import Claim, Delay, Done, Outcome
from taskqueue.models import Task

# After as many failures in a row a source is switched off, visibly, instead of being asked for ever.
FAILURES_BEFORE_OFF = 8
LONGEST_WAIT = timedelta(days=7)
RATE_LIMITED_WAIT = timedelta(minutes=5)  # where the platform names none


def pull_source(claim: Claim, source_id: int) -> Outcome:
    """Read the source once and record what came of it.

    Whatever goes wrong ends as a named outcome on the pull, closes nothing, and leaves the next pull to
    go on (A2). A host that asks for time gets it: the task waits, without spending an attempt (A6).
    """
    source = Source.objects.filter(pk=source_id).first()
    if source is None or not source.is_active:
        return Done(note="the source is gone or switched off")
    pull = begin_pull(claim, source)
    with Spool() as spool:
        return _pull(claim, source, pull, spool)


def _pull(claim: Claim, source: Source, pull: Pull, spool: Spool) -> Outcome:
    try:
        reading = _read(claim, source, pull, spool)
    except HostBusy as busy:
        defer_pull(claim, source, pull, f"{source.host} is asked for by others until {busy.until:%H:%M:%S}")
        return Delay(until=busy.until, reason=str(busy))
    except FetchFailed as failed:
        if failed.outcome == "rate_limited":
            wait = timedelta(seconds=failed.retry_after) if failed.retry_after else RATE_LIMITED_WAIT
            defer_pull(claim, source, pull, str(failed))
            return Delay(until=wait, reason=str(failed))
        return _failed(claim, source, pull, failed.outcome, str(failed))
    except UnreadableResponse as failed:
        return _failed(claim, source, pull, failed.outcome, str(failed))
    except PullFailed as failed:
        return _failed(claim, source, pull, failed.fault, str(failed))
    try:
        return _record(claim, source, pull, reading, spool)
    except Overtaken as overtaken:
        return _failed(claim, source, pull, "overtaken", str(overtaken))
    except InvalidPattern as failed:  # saved by an earlier release that accepted it
        return _failed(claim, source, pull, "title_pattern", str(failed))


def begin_pull(claim: Claim, source: Source) -> Pull:
    """A row for this attempt; rows of the source that no task works on any more end as interrupted.

    Each counts as a failure: a response that kills whoever reads it backs off like any other (A6).
    """
    others = Task.objects.unfinished().filter(pk=OuterRef("task_id")).exclude(pk=claim.task_id)
    left_open = Pull.objects.filter(source=source, outcome=Pull.Outcome.RUNNING).exclude(Exists(others))
    interrupted = left_open.update(outcome=Pull.Outcome.FAILED, fault="interrupted", finished_at=Now())
    Source.objects.filter(pk=source.pk).update(
        next_pull_at=Now() + source.interval, failures=F("failures") + interrupted
    )
    return Pull.objects.create(source=source, task_id=claim.task_id)


def _read(claim: Claim, source: Source, pull: Pull, spool: Spool) -> Reading:
    adapter = ADAPTERS[source.kind]
    context = Context(
        token=source.token, region=source.region, company=source.company, fetched_at=timezone.now()
    )
    board = Board(shows_at_most=adapter.shows_at_most, reads_pages=adapter.reads_pages, keep=spool.add)
    while request := adapter.request(context, so_far := board.progress):
        claim.checkpoint()
        claim.progress(so_far.rows, so_far.total, f"reading {source.host}")
        try:
            page = _read_page(adapter, context, source, pull, request)
        except (PullFailed, UnreadableResponse) as failed:
            if not so_far.links:
                raise
            page = _unread(request, failed)
        if not board.add(page):
            break
    reading = board.reading()
    claim.progress(spool.count, spool.count, "recording")
    return reading


def _unread(request: Request, failed: PullFailed | UnreadableResponse) -> Reading:
    """One of many linked pages that was not read: a page without a posting is none, all else is a gap."""
    if isinstance(failed, UnreadableResponse) and failed.outcome == "no_posting":
        return Reading((), False, str(failed))
    return Reading((), False, str(failed), (Rejected(request.url[-200:], str(failed)),))


def _read_page(adapter: Adapter, context: Context, source: Source, pull: Pull, request: Request) -> Reading:
    """One response of the board, kept before anything is concluded from it."""
    response = fetch_at_pace(
        request_url(source, request),
        headers=request.headers,
        body=request.body,
        max_bytes=settings.FETCH_MAX_BYTES,
    )
    page = _keep_raw(pull, response)
    if response.status in {404, 410}:
        raise PullFailed("unknown_board", f"{adapter.name} knows no board {source.token!r}")
    if response.status != 200:
        raise PullFailed("status", f"{source.host} answered {response.status}")
    named = replace(context, names={**context.names, "page_url": request.url})
    reading = adapter.parse(response.content, named)
    page.rows = reading.rows
    page.save(update_fields=["rows"])
    return reading


def _keep_raw(pull: Pull, response: Response) -> PullPage:
    size = len(response.content)
    pull.size = (pull.size or 0) + size
    try:
        raw_key = objects.keep("pulls", response.content)
    except OSError as full:
        raise PullFailed("storage", f"the response cannot be kept: {full}") from full
    pull.save(update_fields=["size"])
    number = pull.pages.count() + 1
    return PullPage.objects.create(
        pull=pull, number=number, url=response.url, status=response.status, size=size, raw_key=raw_key
    )


def _record(claim: Claim, source: Source, pull: Pull, reading: Reading, spool: Spool) -> Outcome:
    """Record what the spool holds, and close the pull with the last of it."""
    pull.outcome = Pull.Outcome.COMPLETE if reading.complete else Pull.Outcome.PARTIAL
    if not spool.count:
        pull.outcome = Pull.Outcome.EMPTY
    pull.detail = reading.reason[:2000]

    def finish(recorded: Recorded) -> None:
        pull.seen, pull.kept, pull.new = recorded.seen, recorded.kept, recorded.new
        pull.changed, pull.unlisted, pull.rejected = (
            recorded.changed,
            recorded.unlisted,
            len(reading.rejected),
        )
        finish_pull(claim, source, pull)

    recorded = record_listings(
        claim=claim,
        source_id=source.pk,
        pull_id=pull.pk,
        spool=spool,
        complete=reading.complete,
        finish=finish,
    )
    derive_facts(claim)
    return Done(
        note=f"{pull.outcome}: {recorded.seen} seen, {recorded.new} new, {recorded.changed} changed,"
        f" {recorded.unlisted} no longer listed"
    )


def _failed(claim: Claim, source: Source, pull: Pull, fault: str, detail: str) -> Outcome:
    pull.outcome, pull.fault, pull.detail = Pull.Outcome.FAILED, fault, detail[:2000]
    finish_pull(claim, source, pull)
    return Done(note=f"failed: {fault}: {detail}"[:500])


def defer_pull(claim: Claim, source: Source, pull: Pull, reason: str) -> None:
    pull.outcome, pull.detail = Pull.Outcome.DEFERRED, reason[:2000]
    finish_pull(claim, source, pull)


@transaction.atomic
def finish_pull(claim: Claim, source: Source, pull: Pull) -> None:
    """Close the pull's row and let the source's health follow: failures back off, then switch it off (A6)."""
    claim.hold()
    source = Source.objects.select_for_update().get(pk=source.pk)
    now = timezone.now()
    pull.finished_at = now
    pull.save()
    source.last_pull_at = now
    if pull.outcome == Pull.Outcome.FAILED:
        source.failures += 1
        source.next_pull_at = _next_try(source, now)
        if source.failures >= FAILURES_BEFORE_OFF:
            source.is_active = False
            source.note = f"switched off after {source.failures} failed pulls: {pull.fault}"
    elif pull.outcome != Pull.Outcome.DEFERRED:
        source.failures, source.note = 0, ""
        if pull.outcome == Pull.Outcome.COMPLETE:
            source.last_complete_at = now
    source.save(
        update_fields=["last_pull_at", "last_complete_at", "failures", "next_pull_at", "is_active", "note"]
    )


def _next_try(source: Source, now: datetime) -> datetime:
    doubled: timedelta = source.interval * 2 ** (source.failures - 1)
    return now + max(min(doubled, LONGEST_WAIT), source.interval)
