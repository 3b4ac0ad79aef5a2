"""What a reviewer is asked and what it answers. Values only: no database, no clock, no network."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from catalog.adapters.base import EmploymentType, Period, Remote
from reviews.criteria import Criteria

Verdict = Literal["pass", "reject", "unsure"]
StepOutcome = Literal["pass", "reject", "unknown", "skip"]


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """One place of a posting. `country` is ISO 3166-1 alpha-2, `region` a subdivision code such as "CA".

    None means not known (A9). `raw` is the text that the source gave.
    """

    country: str | None = None
    region: str | None = None
    city: str | None = None
    remote: bool = False
    raw: str = ""


@dataclass(frozen=True, slots=True)
class PayFact:
    """Stated pay in whole currency units; a bound, currency or period that is not stated is None."""

    min: float | None = None
    max: float | None = None
    currency: str | None = None
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A posting as it was when the question was asked. `text` is plain text, "" while it is not known."""

    url: str
    title: str
    company: str = ""
    locations: tuple[str, ...] = ()
    places: tuple[PlaceFact, ...] = ()
    remote: Remote = "unknown"
    employment_type: EmploymentType | None = None
    pay: PayFact | None = None
    posted_at: str | None = None  # ISO 8601: an instant with an offset, or a day
    text: str = ""

    def says(self, quote: str) -> bool:
        """Whether `quote` stands verbatim in the posting: its text, title, company or places."""
        parts = (self.text, self.title, self.company, *self.locations, *(place.raw for place in self.places))
        return any(quote in part for part in parts)


@dataclass(frozen=True, slots=True)
class Question:
    """One posting against one set of criteria. `asked_at` is aware.

    `prompt` is the policy text saved with the revision, sent as it is; "" stands for the text that
    `prompt_for(criteria)` gives today. The rules do not read it.
    """

    criteria: Criteria
    snapshot: Snapshot
    asked_at: datetime
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule found: "skip" when its criterion is not set, "unknown" when the posting does not say."""

    rule: str
    outcome: StepOutcome
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with its reason. `quote` is "" or stands verbatim in the posting (`Snapshot.says`).

    `rule` names the step that decided; `note` says what the reviewer could not take into account.
    """

    verdict: Verdict
    reason: str
    quote: str = ""
    rule: str = ""
    steps: tuple[Step, ...] = ()
    note: str = ""
