"""Listings like those of a large board, made as they are asked for, so that their number costs no memory."""

from __future__ import annotations

import random
from collections.abc import Iterator

from catalog.adapters.base import ParsedListing, Pay

PARAGRAPHS = 400
_WORDS = [
    "team",
    "build",
    "customers",
    "pumps",
    "data",
    "platform",
    "services",
    "design",
    "systems",
    "quality",
    "product",
    "support",
    "field",
    "regional",
    "maintain",
    "develop",
    "review",
    "deliver",
    "plan",
    "measure",
    "improve",
    "reliable",
    "safe",
    "people",
    "process",
    "tools",
    "network",
    "energy",
]
_ROLES = ("Engineer", "Analyst", "Technician", "Manager", "Designer", "Nurse", "Driver", "Scientist")
_RANKS = ("", "Senior ", "Lead ", "Junior ", "Principal ")
_CITIES = ("Berlin, Germany", "Lyon, France", "Austin, TX", "Remote - US", "Leeds, UK", "Basel, Switzerland")


def listings(count: int, *, board: str = "good-pumps") -> Iterator[ParsedListing]:
    """`count` listings, the same at every call: a text of some 3,000 characters each, pay at every fifth."""
    chance = random.Random(1)  # noqa: S311 - the same listings every time
    paragraphs = [" ".join(chance.choices(_WORDS, k=60)).capitalize() + "." for _ in range(PARAGRAPHS)]
    for number in range(count):
        parts = [paragraphs[(number * step + step) % PARAGRAPHS] for step in (1, 7, 13, 29, 41, 53, 61)]
        text = "\n".join([f"Opening {number}.", *parts])
        yield ParsedListing(
            external_id=str(4_000_000 + number),
            url=f"https://job-boards.greenhouse.io/{board}/jobs/{4_000_000 + number}",
            title=f"{_RANKS[number % 5]}{_WORDS[number % len(_WORDS)].title()} {_ROLES[number % 8]}",
            company="Good Pumps",
            locations=(_CITIES[number % 6],)
            if number % 3
            else (_CITIES[number % 6], _CITIES[(number + 1) % 6]),
            remote="unknown",
            employment_type="full_time",
            department=f"Department {number % 40}",
            posted_at=f"2026-0{1 + number % 9}-1{number % 10}T08:00:00+00:00",
            compensation=Pay(90_000, 110_000, "EUR", "year") if number % 5 == 0 else None,
            description_html=f"<p>{'</p><p>'.join(text.splitlines())}</p>",
            description_text=text,
        )
