"""One pull of one source: request, reading, record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Progress, Reading, Request, UnreadableResponse
from catalog.adapters.http import FetchFailed, Response
from catalog.admission import InvalidPattern
from catalog.errors import Overtaken, PullFailed
from catalog.models import Listing, Pull, PullPage, Source
from catalog.services.alerts import raise_alert, resolve_alerts
from catalog.services.copying import refuses_value
from catalog.services.details import request_details
from catalog.services.facts import derive_facts
from catalog.services.listings import Admission, Recorded, record_listings
from catalog.services.reading import Page, context_of, fetch_request, read_board
from catalog.services.sources import name_by_employer, request_url
from catalog.services.spool import Spool
from config import objects
from taskqueue.errors import HostBusy
from taskqueue.handlers import Claim, Delay, Done, Outcome
from taskqueue.models import Task

# After as many failures in a row a source is switched off, visibly, instead of being asked for ever.
FAILURES_BEFORE_OFF = 8
LONGEST_WAIT = timedelta(days=7)
RATE_LIMITED_WAIT = timedelta(minutes=5)  # where the platform names none


class NotModified(Exception):
    """The board is as it was at its last reading."""


def pull_source(claim: Claim, source_id: int) -> Outcome:
    """Read the source once and record what came of it.

    Whatever goes wrong ends as a named outcome on the pull, closes nothing, and leaves the next pull to
    go on (A2). A host that asks for time gets it: the task waits, without spending an attempt (A6).
    """
    source = Source.objects.filter(pk=source_id).first()
    if source is None or not source.is_active:
        return Done(note="the source is gone or switched off")
    pull = begin_pull(claim, source)
    try:
        with Spool() as spool:
            reading = _Reader(claim, source, pull).read(spool)
            return _record(claim, source, pull, reading, spool)
    except NotModified:
        return _unchanged(claim, source, pull)
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
    except Overtaken as overtaken:
        defer_pull(claim, source, pull, str(overtaken))
        return Done(note=str(overtaken))
    except DatabaseError as error:
        if not refuses_value(error):
            raise
        return _failed(claim, source, pull, "unstorable", f"the database refuses what was read: {error}")
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


class _Reader:
    """Reads a source for its pull: every answer is kept before anything is concluded from it."""

    def __init__(self, claim: Claim, source: Source, pull: Pull) -> None:
        self.claim, self.source, self.pull = claim, source, pull
        self.pages = 0
        self.validators: dict[str, str] = {}

    def read(self, spool: Spool) -> Reading:
        source = self.source
        context = context_of(
            kind=source.kind,
            token=source.token,
            region=source.region,
            company=source.company,
            keys=settings.SOURCE_KEYS.get(source.kind, {}),
        )
        reading = read_board(
            ADAPTERS[source.kind],
            replace(context, fetched_at=timezone.now()),
            ask=self.ask,
            keep=spool.add,
            between=self.between,
            show=self.show,
        )
        self.claim.progress(spool.count, spool.count, "recording")
        if self.pages == 1 and self.validators:
            self.pull.source.validators = {**self.validators, "complete": reading.complete}
        else:
            self.pull.source.validators = {}
        return reading

    def between(self, so_far: Progress) -> None:
        self.claim.checkpoint()
        self.claim.progress(so_far.rows, so_far.total, f"reading {self.source.host}")

    def ask(self, request: Request) -> Response:
        """A board of one answer is asked whether it changed; nothing else can say so for all its pages."""
        mark = f"{Admission.of(self.source).mark}:{settings.RELEASE}:{self.source.company}"
        known = self.source.validators if self.source.validators.get("url") == request.url else {}
        is_first = not self.pages and not Listing.objects.to_read_again(self.source).exists()
        known = known if known.get("mark") == mark and is_first else {}
        response = fetch_request(
            request,
            request_url(self.source, request),
            max_bytes=settings.FETCH_MAX_BYTES,
            etag=known.get("etag"),
            last_modified=known.get("last_modified"),
            obeys_robots=self.source.obeys_robots,
        )
        self.pages += 1
        if response.status == 304:
            raise NotModified
        said = {"etag": response.etag, "last_modified": response.last_modified}
        stated = {name: value for name, value in said.items() if value}
        self.validators = {**stated, "url": request.url, "mark": mark} if stated else {}
        self._keep_raw(request, response)
        return response

    def show(self, page: Page) -> None:
        PullPage.objects.filter(pull=self.pull, number=self.pages).update(rows=page.rows)

    def _keep_raw(self, request: Request, response: Response) -> None:
        size = len(response.content)
        self.pull.size = (self.pull.size or 0) + size
        try:
            raw_key = objects.keep("pulls", response.content)
        except OSError as full:
            raise PullFailed("storage", f"the response cannot be kept: {full}") from full
        self.pull.save(update_fields=["size"])
        PullPage.objects.create(
            pull=self.pull,
            number=self.pages,
            url=request.url,
            status=response.status,
            size=size,
            raw_key=raw_key,
        )


def _record(claim: Claim, source: Source, pull: Pull, reading: Reading, spool: Spool) -> Outcome:
    """Record what the spool holds, and close the pull with the last of it."""
    pull.outcome = Pull.Outcome.COMPLETE if reading.complete else Pull.Outcome.PARTIAL
    if not spool.count:
        pull.outcome = Pull.Outcome.EMPTY
        pull.source.validators = {}  # "not modified" would say no more than an empty board does: nothing
    pull.detail = reading.reason[:2000]

    def finish(recorded: Recorded) -> None:
        pull.seen, pull.kept, pull.new = recorded.seen, recorded.kept, recorded.new
        pull.changed, pull.unlisted, pull.rejected = (
            recorded.changed,
            recorded.unlisted,
            len(reading.rejected),
        )
        finish_pull(claim, source, pull)
        name_by_employer(source)
        request_details(source)

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


def _unchanged(claim: Claim, source: Source, pull: Pull) -> Outcome:
    """The platform says that the board is the one that was recorded: nothing is read, nothing is written."""
    listed = Listing.objects.filter(source=source, unlisted_at=None)
    pull.outcome, pull.detail = Pull.Outcome.UNCHANGED, "the platform says that nothing changed"
    pull.seen, pull.kept = listed.count(), listed.filter(kept=True).count()
    finish_pull(claim, source, pull)
    request_details(source)
    return Done(note="unchanged")


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
    validators = pull.source.validators
    source = Source.objects.select_for_update().get(pk=source.pk)
    now = timezone.now()
    pull.finished_at = now
    pull.save()
    source.last_pull_at = now
    if pull.outcome == Pull.Outcome.FAILED:
        source.failures += 1
        source.next_pull_at = _next_try(source, now)
        source.validators = {}
        if source.failures >= FAILURES_BEFORE_OFF:
            source.is_active = False
            source.note = f"switched off after {source.failures} failed pulls: {pull.fault}"
            raise_alert("source_switched_off", source, f"{source.name} was {source.note}: {pull.detail}")
    elif pull.outcome != Pull.Outcome.DEFERRED:
        _recovered(source, pull, validators, now)
    fields = ["last_pull_at", "last_complete_at", "failures", "next_pull_at", "is_active", "note"]
    source.save(update_fields=[*fields, "validators"])


def _recovered(source: Source, pull: Pull, validators: dict[str, object], now: datetime) -> None:
    """The source answered: it is well, unless a board that had postings shows none."""
    source.failures, source.note = 0, ""
    source.validators = validators
    is_whole = pull.outcome == Pull.Outcome.COMPLETE
    if is_whole or (pull.outcome == Pull.Outcome.UNCHANGED and validators.get("complete")):
        source.last_complete_at = now
    resolve_alerts("source_switched_off", source)
    listed = Listing.objects.filter(source=source, unlisted_at=None)
    if pull.outcome != Pull.Outcome.EMPTY:
        resolve_alerts("source_emptied", source)
    elif listed.exists():
        raise_alert("source_emptied", source, f"{source.name} shows no posting, and had {listed.count()}")


def _next_try(source: Source, now: datetime) -> datetime:
    doubled: timedelta = source.interval * 2 ** (source.failures - 1)
    return now + max(min(doubled, LONGEST_WAIT), source.interval)
