"""The sample's boards: what is asked of the invented employers' postings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class SampleBoard:
    """A board to create; `criteria` as `reviews.criteria.Criteria.parse` reads them."""

    slug: str
    title: str
    summary: str
    criteria: dict[str, Any]


SAMPLE_BOARDS: Final = (
    SampleBoard(
        slug="early-career-software",
        title="Early-career software",
        summary="First and second jobs for software engineers in the United States and Canada: internships, "
        "graduate and junior roles that ask for two years of experience at most.",
        criteria={
            "roles": [
                "software engineer",
                "web developer",
                "frontend engineer",
                "backend engineer",
                "mobile developer",
            ],
            "levels": ["intern", "entry"],
            "max_years": 2,
            "places": ["United States", "Canada"],
            "remote": "allowed",
            "remote_from": ["United States", "Canada"],
            "clearance": "none",
            "max_age_days": 60,
        },
    ),
    SampleBoard(
        slug="remote-data-ml",
        title="Remote data & ML",
        summary="Data and machine-learning work that can be done from home in Europe, at any level.",
        criteria={
            "roles": [
                "data scientist",
                "data engineer",
                "machine learning engineer",
                "analytics engineer",
                "data analyst",
            ],
            "remote": "only",
            "remote_from": ["Europe"],
            "languages": ["en"],
            "max_age_days": 60,
        },
    ),
)
