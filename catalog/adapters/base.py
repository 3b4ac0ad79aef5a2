"""What every adapter speaks: a request in, a reading out. No database, no clock, no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from catalog.links import InvalidURL, UrlParts, split
from catalog.money import Period as Period

Verdict = Literal["open", "closed", "unknown"]
Remote = Literal["yes", "no", "hybrid", "unknown"]
EmploymentType = Literal[
    "full_time", "part_time", "contract", "internship", "temporary", "volunteer", "other"
]


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
    "pay_implausible", "description_too_long", "prospect_post", "teaser" (the description is only its
    beginning), "closed" (the source marks it so).
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
    # For the next page: this one's rows, repeated ones too; the board's postings as it states them.
    rows: int = field(default=0, compare=False)
    total: int | None = field(default=None, compare=False)
    cursor: str = field(default="", compare=False)
    links: tuple[str, ...] = field(default=(), compare=False)  # pages still to be read for the board
    # Against taking a part for the whole: why this page may lack rows, how many pages the platform says that
    # there are, and whether it left out the total that it states of every board.
    gap: str = field(default="", compare=False)
    pages: int | None = field(default=None, compare=False)
    lacks_total: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Context:
    """What an adapter knows besides the payload.

    A board that takes several words to name has them in its token, joined by "|"; `names` has them one by
    one, under the platform's own words ("tenant", "site").
    """

    token: str = ""
    region: str = ""  # "" or "eu"
    company: str = ""
    fetched_at: datetime | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def parts(self, *keys: str) -> tuple[str, ...]:
        """The words that name the board, as many as there are keys; "" for what is not known."""
        said = self.token.split("|") if self.token else []
        padded = [*said, *[""] * len(keys)][: len(keys)]
        return tuple(self.names.get(key) or word for key, word in zip(keys, padded, strict=True))


@dataclass(frozen=True, slots=True)
class Detection:
    """A platform recognised from a URL alone."""

    kind: str
    token: str
    region: str = ""
    posting_id: str | None = None
    confidence: Literal["certain", "likely"] = "certain"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; a POST where it has a body, which is JSON unless the headers say otherwise.

    `secrets` are parameters of the query that are sent and never kept.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    secrets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a posting is open, by the answer to a question about it, and what in the answer says so."""

    verdict: Verdict
    evidence: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of a board has come: pages read, rows on them, the last page's cursor.

    `links` are all the links that its pages named, each once, in the order in which they are read.
    """

    pages: int = 0
    rows: int = 0
    total: int | None = None
    cursor: str = ""
    links: tuple[str, ...] = ()


class UnreadableResponse(Exception):
    """The response is not what the platform sends for a board: nothing may be concluded from it.

    `outcome` is a short name for the kind of fault: "empty", "html_page", "not_json", "truncated",
    "too_deep", "bad_number", "duplicate_key", "error_body", "unknown_board", "wrong_shape".
    """

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome


class Adapter:
    """One hiring platform. A subclass names what is its own; what most platforms share stands here."""

    kind: str
    name: str  # as people write it: "Greenhouse"
    is_experimental = False  # no recorded response stands behind it: the module says what does
    domains: tuple[str, ...] = ()  # all hosts that it answers for are under these
    # Parameters of an employer's own page that shows one posting. The board behind it is named only inside
    # the page, and guessing a board from the employer's name finds other companies.
    own_page_marks: tuple[str, ...] = ()
    shows_at_most: int | None = None  # postings, however many a board has: as many are no proof of all
    reads_pages: int | None = None  # of a board without end, the newest only
    least_interval = 0  # minutes between two pulls, where the platform's terms name them
    needs_keys: tuple[str, ...] = ()  # names of what its owner has to get from the platform

    def detect(self, url: str) -> Detection | None:
        """The board, and the posting if any, that a web URL names by itself. Never a guess."""
        try:
            return self.found(split(url))
        except InvalidURL:
            return None

    def posting_id(self, url: str) -> str | None:
        """The posting that an address of the platform names, or None."""
        found = self.detect(url)
        return found.posting_id if found else None

    def found(self, parts: UrlParts) -> Detection | None:
        """The same for a URL that was taken apart."""
        raise NotImplementedError

    def posting_url(self, found: Detection) -> str:
        """The one spelling of the page of the posting that `found` names. Needs `found.posting_id`."""
        raise NotImplementedError

    def board_url(self, context: Context) -> str:
        """The public careers page of the board."""
        raise NotImplementedError

    def list_url(self, context: Context) -> str:
        """Where the board's listings are read, from the first on."""
        raise NotImplementedError

    def headers(self) -> Mapping[str, str]:
        return {"Accept": "application/json"}

    def request(self, context: Context, so_far: Progress) -> Request | None:
        """The next request for the board's listings; None when there is none to make.

        The first has nothing behind it. By default there is one.
        """
        return None if so_far.pages else Request(self.list_url(context), headers=self.headers())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        """The request for what the list does not say of a posting; None where the list says all."""
        return None

    # A platform that has no answer for a closed posting shows it by leaving it out of the whole list.
    closes_by_absence = False

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        """The request whose answer says whether the posting is open; None where only its page may tell."""
        return None

    def judge(self, status: int, payload: bytes) -> Judgement:
        """What the answer to `state_request` says. Only what was measured on the platform counts (A3)."""
        return Judgement("unknown", f"status {status}")

    def judge_listing(self, listing: ParsedListing, status: int, payload: bytes) -> Judgement:
        """The same where the answer speaks of more postings than the one asked after."""
        return self.judge(status, payload)

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a saved list or detail response. Raises UnreadableResponse and nothing else."""
        raise NotImplementedError
