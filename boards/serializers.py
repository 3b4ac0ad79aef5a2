"""What leaves a board, every field named: nothing of a person exists in these types (V5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from catalog.models import Compensation, Posting
from reviews.rules.language import UNKNOWN, language_of
from reviews.text_facts import TextFact, text_facts

EMPLOYMENT_LABELS = {
    "full_time": "Full time",
    "part_time": "Part time",
    "contract": "Contract",
    "internship": "Internship",
    "temporary": "Temporary",
    "volunteer": "Volunteer",
    "other": "Other",
}


@dataclass(frozen=True, slots=True)
class PublicPay:
    min: Decimal | None
    max: Decimal | None
    currency: str
    period: str
    sentence: str

    @classmethod
    def of(cls, posting: Posting) -> PublicPay | None:
        try:
            pay = posting.compensation
        except Compensation.DoesNotExist:
            return None
        return cls(pay.min, pay.max, pay.currency, pay.period, pay.sentence)


@dataclass(frozen=True, slots=True)
class PublicPosting:
    """A posting as a list shows it."""

    id: int
    title: str
    company: str
    places: tuple[str, ...]
    pay: PublicPay | None
    remote: str
    employment_type: str
    employment_type_label: str
    posted_at: datetime | None
    posted_on: date | None
    first_seen_at: datetime
    availability: str
    is_closed: bool

    @classmethod
    def of(cls, posting: Posting) -> PublicPosting:
        return cls(**_list_fields(posting))


@dataclass(frozen=True, slots=True)
class PublicPostingPage(PublicPosting):
    """A posting as its own page shows it."""

    description_html: str
    description_text: str
    language: str  # ISO 639-1 code of the text, "" where that is not clear
    text_facts: tuple[TextFact, ...]
    department: str
    apply_url: str
    apply_host: str
    pay_sentence: str
    checked_at: datetime | None

    @classmethod
    def of(cls, posting: Posting) -> PublicPostingPage:
        text = posting.text
        said = text.text if text else ""
        language = language_of(said)
        pay = PublicPay.of(posting)
        lead = posting.lead
        return cls(
            **_list_fields(posting),
            description_html=text.html if text else "",
            description_text=said,
            language="" if language == UNKNOWN else language,
            text_facts=text_facts(said),
            department=posting.department,
            apply_url=posting.apply_url,
            apply_host=urlsplit(posting.apply_url).hostname or "",
            pay_sentence=pay.sentence if pay else "",
            checked_at=lead.last_seen_at if lead else None,
        )


def _list_fields(posting: Posting) -> dict[str, Any]:
    return {
        "id": posting.pk,
        "title": posting.title,
        "company": posting.company,
        "places": tuple(posting.locations),
        "pay": PublicPay.of(posting),
        "remote": posting.remote,
        "employment_type": posting.employment_type,
        "employment_type_label": EMPLOYMENT_LABELS.get(posting.employment_type, ""),
        "posted_at": posting.posted_at,
        "posted_on": posting.posted_on,
        "first_seen_at": posting.first_seen_at,
        "availability": posting.availability,
        "is_closed": posting.is_closed,
    }


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list: the posting, where its page is, and why it is here in a few words."""

    posting: PublicPosting
    url: str
    reason: str = ""
    why_not: str = ""
    apply_url: str = ""
    is_same_company_as_previous: bool = False
    is_unsure: bool = False


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where a posting is shown."""

    name: str
    url: str
    first_seen_at: datetime
    last_seen_at: datetime | None
    is_listed: bool
