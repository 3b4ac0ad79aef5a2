"""What a filter may ask for, and what is said when it cannot: FLT-01, SAL-16, contract R1."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.criteria import Criteria, InvalidCriteria

EVERYTHING: dict[str, Any] = {
    "roles": ["software engineer", "data scientist"],
    "exclude_words": ["sales"],
    "exclude_companies": ["Ausy"],
    "levels": ["intern", "entry"],
    "max_years": 2,
    "places": ["Europe", "US-CA", "Berlin"],
    "remote": "allowed",
    "remote_from": ["DE"],
    "employment_types": ["full_time", "internship"],
    "pay_min": {"amount": 60000.0, "currency": "EUR", "period": "year"},
    "keep_unknown_pay": False,
    "sponsorship": "needed",
    "clearance": "none",
    "languages": ["en", "de"],
    "max_age_days": 30,
    "text": "A small team that ships weekly.",
}


def test_criteria_come_back_as_they_were_given() -> None:
    criteria = Criteria.parse(EVERYTHING)

    assert criteria.as_dict() == EVERYTHING
    assert Criteria.parse(criteria.as_dict()) == criteria


def test_what_is_not_set_is_not_kept() -> None:
    criteria = Criteria.parse({"roles": [], "max_years": None, "text": "", "keep_unknown_pay": True})

    assert criteria == Criteria()
    assert criteria.as_dict() == {}


def test_equal_criteria_have_one_digest_however_they_are_written() -> None:
    one = Criteria.parse(
        {"places": ["de", "Berlin"], "levels": ["entry", "intern"], "roles": ["A  b", "a b"]}
    )
    other = Criteria.parse({"roles": ["A b"], "levels": ["Intern", "Entry"], "places": ["DE", "Berlin"]})

    assert one.digest() == other.digest()
    assert one.digest() != Criteria.parse({"roles": ["a b"]}).digest()


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("countrys", "places"),
        ("location", "places"),
        ("role", "roles"),
        ("seniority", "levels"),
        ("max_yeras", "max_years"),
        ("min_bsae", "pay_min"),
        ("employment_type", "employment_types"),
        ("langauges", "languages"),
        ("visa", "sponsorship"),
    ],
)
def test_an_unknown_key_is_refused_with_the_key_that_was_meant(key: str, meant: str) -> None:
    """FLT-01, SAL-16: a setting that nothing reads is never accepted in silence."""
    with pytest.raises(InvalidCriteria) as refused:
        Criteria.parse({key: ["x"], "roles": ["engineer"]})

    assert refused.value.problems == {key: f"unknown; did you mean {meant}?"}


def test_an_unknown_key_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(InvalidCriteria, match=r"^zzz: unknown$"):
        Criteria.parse({"zzz": 1})


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("roles", "engineer", "must be a list of texts"),
        ("roles", [1], "must be a list of texts"),
        ("roles", ["x" * 101], "longer than 100 characters"),
        ("roles", [f"role {number}" for number in range(101)], "more than 100"),
        ("levels", ["seniro"], "did you mean senior?"),
        ("remote", "sometimes", "none of any, only, allowed, no"),
        ("remote", True, "must be one of any, only, allowed, no"),
        ("max_years", "3", "must be a whole number"),
        ("max_years", True, "must be a whole number"),
        ("max_years", -1, "must be from 0 to 50"),
        ("max_age_days", 0, "must be from 1 to 3650"),
        ("remote_from", ["Atlantis"], "“Atlantis” is not a country"),
        ("remote_from", ["Berlin"], "“Berlin” is not a country"),
        ("languages", ["xx"], "is not an ISO 639-1 language code"),
        ("languages", ["German"], "did you mean “de”?"),
        ("employment_types", ["fulltime"], "did you mean full_time?"),
        ("keep_unknown_pay", "yes", "must be true or false"),
        ("text", ["x"], "must be a text"),
        ("text", "x" * 4001, "longer than 4000"),
        ("pay_min", 60000, "must be an object"),
        ("pay_min", {"amount": "60k", "currency": "EUR"}, "amount must be a number"),
        ("pay_min", {"amount": float("nan"), "currency": "EUR"}, "amount must be a number"),
        ("pay_min", {"amount": 0, "currency": "EUR"}, "amount must be positive"),
        ("pay_min", {"amount": 1, "currency": "€"}, "currency must be three letters"),
        ("pay_min", {"amount": 1, "currency": "EUR", "period": "one_time"}, "none of hour"),
        ("pay_min", {"amount": 1, "currency": "EUR", "perid": "year"}, "perid is unknown"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(key: str, value: object, problem: str) -> None:
    with pytest.raises(InvalidCriteria) as refused:
        Criteria.parse({key: value})

    assert problem in refused.value.problems[key]


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(InvalidCriteria) as refused:
        Criteria.parse({"rolez": ["x"], "max_years": "two", "remote": "yes"})

    assert set(refused.value.problems) == {"rolez", "max_years", "remote"}
    assert "max_years: must be a whole number" in str(refused.value)


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ({}, "All roles"),
        (
            {"levels": ["intern", "entry"], "roles": ["software"], "places": ["Europe"], "remote": "allowed"}
            | {"max_age_days": 30, "pay_min": {"amount": 50000, "currency": "EUR"}},
            "Early-career software roles in Europe or remote, paying at least 50,000 EUR a year, "
            "pay unknown kept, posted in the last 30 days",
        ),
        (
            {"remote": "only", "remote_from": ["US-CA"], "levels": ["senior"], "sponsorship": "needed"},
            "Remote senior roles, worked from California, visa sponsorship needed",
        ),
        (
            {"places": ["CA", "Berlin"], "remote": "no", "languages": ["en", "de"], "clearance": "none"},
            "All roles in Canada or Berlin, not remote, no security clearance, "
            "working language English or German",
        ),
        (
            {"exclude_words": ["sales"], "exclude_companies": ["Ausy"], "max_years": 2, "text": "Small team"},
            "All roles, at most 2 years of experience demanded, without “sales” in the title, not at Ausy, "
            "and by description: “Small team”",
        ),
        (
            {"pay_min": {"amount": 30, "currency": "usd", "period": "hour"}, "keep_unknown_pay": False},
            "All roles, paying at least 30 USD an hour, pay unknown left out",
        ),
        ({"keep_unknown_pay": False}, "All roles, pay stated"),
    ],
)
def test_criteria_read_as_a_sentence(criteria: dict[str, Any], words: str) -> None:
    assert Criteria.parse(criteria).words() == words
