"""Postings, questions and replies for the reviewers' tests, with no surprise in their defaults."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from catalog.places import parse_place
from reviews.criteria import Criteria
from reviews.question import PlaceFact, Question, Snapshot

ASKED_AT = datetime(2026, 11, 29, 12, tzinfo=UTC)


def snapshot(*locations: str, **fields: Any) -> Snapshot:
    """A posting in `locations`, which are parsed as the catalog parses them."""
    places = tuple(
        PlaceFact(place.country, place.region, place.city, place.remote, place.raw)
        for location in locations
        for place in parse_place(location)
    )
    defaults = {"url": "https://jobs.example/1", "title": "Software Engineer", "company": "Acme"}
    return Snapshot(**{**defaults, "locations": locations, "places": places, **fields})


def question(criteria: dict[str, Any], posting: Snapshot) -> Question:
    return Question(Criteria.parse(criteria), posting, ASKED_AT)


def reply(verdict: str = "reject", reason: str = "It asks for 8 years.", *quotes: str) -> str:
    """A model's reply in the agreed form."""
    return json.dumps({"verdict": verdict, "reason": reason, "quotes": list(quotes)})
