"""The question put to a reviewer, rebuilt from what was saved with the decision."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from catalog.models import Compensation, Posting
from reviews.models import Decision
from reviews.question import PayFact, PlaceFact, Question, Snapshot

if TYPE_CHECKING:
    from catalog.adapters.base import EmploymentType, Period, Remote


def snapshot_of(posting: Posting) -> dict[str, Any]:
    """The posting as asked about, without its text: JSON for `Decision.snapshot`."""
    snapshot = Snapshot(
        url=posting.canonical_url,
        title=posting.title,
        company=posting.company,
        locations=tuple(posting.locations),
        places=tuple(
            PlaceFact(
                country=place.country or None,
                region=place.region or None,
                city=place.city or None,
                remote=place.remote,
                raw=place.raw,
            )
            for place in posting.places.all()
        ),
        remote=cast("Remote", posting.remote),
        employment_type=cast("EmploymentType", posting.employment_type) or None,
        pay=_pay(posting),
        posted_at=_posted(posting),
        text="",
    )
    return asdict(snapshot)


def question_about(decision: Decision, asked_at: datetime) -> Question:
    """What was decided to ask, whatever the posting or the settings say by now (R4)."""
    saved = dict(decision.snapshot)
    saved["locations"] = tuple(saved["locations"])
    saved["places"] = tuple(PlaceFact(**place) for place in saved["places"])
    saved["pay"] = PayFact(**saved["pay"]) if saved["pay"] else None
    saved["text"] = decision.text.text if decision.text else ""
    revision = decision.revision
    return Question(revision.parsed(), Snapshot(**saved), asked_at, prompt=revision.prompt)


def _pay(posting: Posting) -> PayFact | None:
    try:
        pay = posting.compensation
    except Compensation.DoesNotExist:
        return None
    return PayFact(
        min=None if pay.min is None else float(pay.min),
        max=None if pay.max is None else float(pay.max),
        currency=pay.currency or None,
        period=cast("Period", pay.period) or None,
    )


def _posted(posting: Posting) -> str | None:
    if posting.posted_at:
        return posting.posted_at.isoformat()
    return posting.posted_on.isoformat() if posting.posted_on else None
