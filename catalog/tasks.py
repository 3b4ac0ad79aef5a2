"""The catalog's task kinds."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from catalog.models import Posting, Source
from catalog.services.closing import check_posting
from catalog.services.details import read_details
from catalog.services.pulls import pull_source
from catalog.services.retention import forget
from taskqueue.due import due_rows
from taskqueue.handlers import Claim, Done, Every, Outcome, every, handler, schedule


@handler("catalog.pull")
def pull(claim: Claim) -> Outcome:
    """Read one source once. Safe to run twice: a second reading of the same board changes nothing."""
    return pull_source(claim, claim.payload["source_id"])


@handler("catalog.details")
def details(claim: Claim) -> Outcome:
    """Read what a board's list does not show. Safe to run twice: only what is missing is read."""
    return read_details(claim, claim.payload["source_id"])


@handler("catalog.check")
def check(claim: Claim) -> Outcome:
    """Ask after a posting that no source shows any more."""
    return check_posting(claim, claim.payload["posting_id"])


@schedule("catalog.check")
def due_checks() -> QuerySet[Any, Any]:
    return due_rows(
        Posting.objects.filter(next_check_at__lte=Now()),
        about="posting",
        key="id",
        payload_name="posting_id",
        period=60 * 60,
    )


@handler("catalog.forget")
def forget_old(claim: Claim) -> Outcome:
    """Drop what is past its time; what is interrupted goes on the next day."""
    gone = forget(claim)
    return Done(
        note=", ".join(f"{count} {name}" for name, count in gone.items() if count) or "nothing to drop"
    )


@schedule("catalog.forget")
def due_forgetting() -> Every:
    return every(24 * 60 * 60)


@schedule("catalog.pull")
def due_pulls() -> QuerySet[Any, Any]:
    return due_rows(
        Source.objects.due(),
        about="source",
        key="id",
        payload_name="source_id",
        host="host",
        period=F("interval_minutes") * 60,
    )
