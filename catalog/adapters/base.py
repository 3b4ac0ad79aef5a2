"""What every adapter speaks: a request in, a reading out. No database, no clock, no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Remote = Literal["yes", "no", "hybrid", "unknown"]
EmploymentType = Literal[
    "full_time", "part_time", "contract", "internship", "temporary", "volunteer", "other"
]
Period = Literal["hour", "day", "week", "month", "year", "one_time"]


@dataclass(frozen=True, slots=True)
class Pay:
    """Pay as a source states it: amounts in whole currency units, never cents or thousands.

    `min` or `max` is None where only one bound is stated; `period` None where the source names none.
    """

    min: float | None
    max: float | None
    currency: str | None
    period: Period | None


@dataclass(frozen=True, slots=True)
class ParsedListing:
    """One listing, normalised. None and "unknown" mean that the source does not say (contract A9).

    `url` is the posting's page as the source links it, `raw_url` the source's own spelling where that had
    to be mended. Dates are ISO 8601 text: with an offset where the source states an instant, ten
    characters where it states a day. `description_html` is sanitised; `description_text` is its text.
    `flags` name what was changed or noticed while reading: "title_cut", "bounds_swapped",
    "pay_implausible", "description_too_long", "prospect_post".
    """

    external_id: str
    url: str
    title: str
    apply_url: str | None = None
    company: str | None = None
    locations: tuple[str, ...] = ()
    remote: Remote = "unknown"
    employment_type: EmploymentType | None = None
    department: str | None = None
    posted_at: str | None = None
    updated_at: str | None = None
    compensation: Pay | None = None
    description_html: str = ""
    description_text: str = ""
    raw_url: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row of a response that could not be read as a listing, kept with the reason."""

    external_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A response, read. `complete` only when the response proves that it holds the whole board (A2).

    A row that was seen and not read, in `rejected`, makes the reading partial: its posting is not absent.
    An empty board is complete in form; only a complete reading with listings lets absence mean anything.
    """

    listings: tuple[ParsedListing, ...]
    complete: bool
    reason: str
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What an adapter knows besides the payload."""

    token: str = ""
    region: str = ""  # "" or "eu"
    company: str = ""
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Detection:
    """A platform recognised from a URL alone."""

    kind: str
    token: str
    region: str = ""
    posting_id: str | None = None
    confidence: Literal["certain", "likely"] = "certain"
    reason: str = ""


class UnreadableResponse(Exception):
    """The response is not what the platform sends for a board: nothing may be concluded from it.

    `outcome` is a short name for the kind of fault: "empty", "html_page", "not_json", "truncated",
    "too_deep", "bad_number", "duplicate_key", "error_body", "unknown_board", "wrong_shape".
    """

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome


class Adapter(Protocol):
    """One hiring platform."""

    kind: str
    name: str  # as people write it: "Greenhouse"

    def detect(self, url: str) -> Detection | None:
        """The board, and the posting if any, that a web URL names by itself. Never a guess."""
        ...

    def posting_url(self, found: Detection) -> str:
        """The one spelling of the page of the posting that `found` names. Needs `found.posting_id`."""
        ...

    def board_url(self, context: Context) -> str:
        """The public careers page of the board."""
        ...

    def list_url(self, context: Context) -> str:
        """The request that returns the board's listings."""
        ...

    def headers(self) -> Mapping[str, str]: ...

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a saved list or detail response. Raises UnreadableResponse and nothing else."""
        ...
