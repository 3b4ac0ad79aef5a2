"""The years of experience demanded: YOE-01 to YOE-04 and their kinds."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules.experience import ExperienceFact, Specialty, check, experience_in
from tests.reviews.postings import snapshot

DEMANDS: dict[str, tuple[float | None, float | None]] = {
    "8-10+ years of product management experience": (8, 10),
    "3\\-5 years of experience": (3, 5),
    "3–5 yrs exp": (3, 5),
    "3 to 5 years of experience": (3, 5),
    "5 - 3 years of experience": (3, 5),
    "two to four years of relevant experience": (2, 4),
    "0-2 years experience": (0, 2),
    "five (5) years of experience in sales": (5, None),
    "You have at least five years' experience": (5, None),
    "You've got at least 5 years’ experience": (5, None),
    "3 or more years of experience": (3, None),
    "more than 3 years of experience": (3, None),
    "Minimum 3 years of experience": (3, None),
    "Experience: 4 years": (4, None),
    "Proven experience (typically 5+ years) in HR systems": (5, None),
    "We require 5+ years of Java": (5, None),
    "minimum of 3-5 years": (3, 5),
    "3+ YOE": (3, None),
    "Have 3+ years building APIs": (3, None),
    "You have 2+ years as a software engineer": (2, None),
    "We are looking for someone with 7+ years of experience": (7, None),
    "BS/MS with 3+ years of hands‑on experience": (3, None),
    "At least 6 months of experience": (0.5, None),
    "up to 3 years of experience": (0, 3),
    "Less than 2 years of experience": (0, 2),
    "No experience required": (0, None),
    "No previous professional experience is required.": (0, None),
    "Mindestens 3 Jahre Berufserfahrung": (3, None),
    "2 ans d'expérience": (2, None),
    "Al menos 3 años de experiencia": (3, None),
    "Experiência prévia na função de 5 anos ou mais": (5, None),
    "3+ years of experience, preferably in banking": (3, None),
    "4–7 years of accounting experience; healthcare background a plus": (4, 7),
    # years of something else
    "For more than 50 years, the cooperative has built tools for utilities.": (None, None),
    "With over 30 years of expertise across private equity.": (None, None),
    "With over 12 years of expertise across private equity, Acme leads.": (None, None),
    "Our company has 20 years of experience": (None, None),
    "Our founders have 20 years of combined experience building software": (None, None),
    "You'll join a team with over 15 years of experience": (None, None),
    "CTO: 13 years of startup experience": (None, None),
    "over 10 years in business": (None, None),
    "Must be at least 18 years of age": (None, None),
    "You must be at least 18 years old": (None, None),
    "401k vesting over 4 years": (None, None),
    "4 months paid parental leave": (None, None),
    "12 month contract": (None, None),
    "4-year degree in computer science": (None, None),
    "a sabbatical after 5 years": (None, None),
    "revenue grew fourfold in the past 3 years": (None, None),
    "Travel industry experience is not required.": (None, None),
    "within 100 years of experience": (None, None),
}


@pytest.mark.parametrize(("text", "bounds"), DEMANDS.items())
def test_a_figure_counts_when_it_demands_experience(
    text: str, bounds: tuple[float | None, float | None]
) -> None:
    fact = experience_in(text)

    assert (fact.min_years, fact.max_years) == bounds
    assert fact.sentence == (text if bounds != (None, None) else "")


def test_a_nested_figure_is_a_specialty_of_the_main_one() -> None:
    """YOE-02."""
    text = "8-10+ years of product management experience, including at least 2 years owning AI/ML work."

    assert experience_in(text) == ExperienceFact(8, 10, text, (Specialty("AI/ML work", 2),))


def test_of_several_demands_the_largest_is_the_posting_s() -> None:
    fact = experience_in("5+ years experience with Python\n2+ years with Kubernetes")

    assert (fact.min_years, fact.specialty) == (5, (Specialty("Kubernetes", 2),))


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("Bachelor's degree with 5 years of experience, or Master's with 3 years of experience", 3),
        ("BS and 8 years of experience or MS and 6 years of experience or PhD and 2 years of experience", 2),
        ("Bachelor's degree with 5+ years of experience and 2+ years of management experience", 5),
    ],
)
def test_alternatives_by_degree_demand_the_least_of_them(text: str, years: int) -> None:
    assert experience_in(text).min_years == years


def test_what_is_required_goes_before_what_is_preferred() -> None:
    text = "Nice to have:\n- 10+ years of sales experience\nRequirements:\n- 2+ years of sales experience"

    assert experience_in(text).min_years == 2


@pytest.mark.parametrize(
    "text", ["5+ years of experience preferred", "Ideally 5 years of experience", "Bonus:\n5+ years of Rust"]
)
def test_a_mere_preference_is_kept_as_one(text: str) -> None:
    fact = experience_in(text)

    assert (fact.min_years, fact.is_required) == (5, False)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("5 to 10 years of experience", "pass"),
        ("7+ years of experience", "reject"),
        ("7+ years of experience preferred", "pass"),
        ("We ship weekly.", "pass"),
        ("", "unknown"),
    ],
)
def test_six_years_meet_a_demand_that_begins_below(text: str, outcome: StepOutcome) -> None:
    """YOE-04: the ranges overlap; what is not stated does not exclude."""
    criteria = Criteria.parse({"max_years": 6})

    assert check(criteria, snapshot(text=text)).outcome == outcome
