"""Why something is where it is: steps, each said to be recorded or evaluated now (E1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from catalog.models import Listing, Observation, Posting

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation. `is_recorded` False means that it was worked out just now."""

    name: str
    outcome: Answer
    words: str
    quote: str = ""
    is_recorded: bool = True
    at: datetime | None = None
    links: tuple[tuple[str, str], ...] = ()


def catalog_steps(posting: Posting) -> list[Step]:
    """Where the posting was seen, what admitted it, where its text is from, whether it is still open."""
    listings = list(posting.listings.select_related("source", "rule").order_by("first_seen_at"))
    steps = [_seen(listing) for listing in listings]
    if not steps:
        steps.append(Step("Seen", "unknown", "No source's listing is linked to it any more."))
    return [*steps, _text(posting), _availability(posting)]


def _seen(listing: Listing) -> Step:
    ruling = Listing.Ruling(listing.ruling).label
    pattern = f" ({listing.rule.pattern})" if listing.rule else ""
    shown = "shows it" if listing.unlisted_at is None else "no longer shows it"
    admitted = "admitted" if listing.kept else "not admitted"
    return Step(
        "Seen",
        "yes" if listing.kept and listing.unlisted_at is None else "no",
        f"{listing.source.name} {shown}; {admitted}: {ruling}{pattern}.",
        at=listing.first_seen_at,
        links=((f"Listing at {listing.source.name}", listing.url),),
    )


def _text(posting: Posting) -> Step:
    text = posting.text
    if text is None:
        return Step("Text", "unknown", "No whole description is known, and a part of one is not stored.")
    versions = posting.texts.count()
    which = "one version" if versions == 1 else f"{versions} versions, the newest one used"
    return Step("Text", "yes", f"Description of {len(text.text):,} characters, {which}.", at=text.fetched_at)


def _availability(posting: Posting) -> Step:
    outcome: dict[str, Answer] = {"open": "yes", "closed": "no", "unknown": "unknown"}
    last = posting.observations.order_by("-at", "-pk").first()
    words = {
        "open": "Shown by its source, and nothing says it is closed.",
        "closed": f"Closed: {posting.availability_reason}",
        "unknown": f"Unknown: {posting.availability_reason or 'no evidence either way'}.",
    }[posting.availability]
    at = last.at if isinstance(last, Observation) else None
    return Step("Availability", outcome[posting.availability], words, at=at)
