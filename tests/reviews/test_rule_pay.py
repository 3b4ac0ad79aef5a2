"""Stated pay against what is wanted: SAL-04, SAL-05, SAL-10, SAL-15 and their kinds."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.criteria import Criteria
from reviews.question import PayFact, StepOutcome
from reviews.rules.pay import check
from tests.reviews.postings import snapshot

WISH = {"amount": 100_000, "currency": "USD", "period": "year"}


@pytest.mark.parametrize(
    ("pay", "outcome"),
    [
        (PayFact(90_000, 155_000, "USD", "year"), "pass"),
        (PayFact(70_000, 90_000, "USD", "year"), "reject"),
        (PayFact(100_000, 120_000, "USD", "year"), "pass"),
        (PayFact(None, 100_000, "USD", "year"), "pass"),
        (PayFact(None, 99_999, "USD", "year"), "reject"),
        (PayFact(120_000, None, "USD", "year"), "pass"),
        (PayFact(150_000, 90_000, "USD", "year"), "pass"),
        (PayFact(40, 50, "USD", "hour"), "pass"),
        (PayFact(30, 48, "USD", "hour"), "reject"),
        (PayFact(8_000, 9_000, "USD", "month"), "pass"),
        (PayFact(2_000, 2_000, "USD", "week"), "pass"),
        (PayFact(400, 400, "USD", "day"), "pass"),
        (PayFact(300, 380, "USD", "day"), "reject"),
    ],
)
def test_the_top_of_the_stated_range_decides(pay: PayFact, outcome: StepOutcome) -> None:
    assert check(Criteria.parse({"pay_min": WISH}), snapshot(pay=pay)).outcome == outcome


UNKNOWN = [
    None,
    PayFact(),
    PayFact(5_000_000, 5_000_000, "JPY", "year"),
    PayFact(100_000, 120_000, "EUR", "year"),
    PayFact(100_000, 120_000, None, "year"),
    PayFact(100_000, 120_000, "USD", None),
    PayFact(100_000, 120_000, "USD", "one_time"),
    PayFact(80_000, None, "USD", "year"),
]


@pytest.mark.parametrize("pay", UNKNOWN, ids=str)
def test_what_cannot_be_compared_is_unknown_and_kept_unless_told_otherwise(pay: PayFact | None) -> None:
    """SAL-04: another currency is never converted one to one."""
    kept = check(Criteria.parse({"pay_min": WISH}), snapshot(pay=pay))
    dropped = check(Criteria.parse({"pay_min": WISH, "keep_unknown_pay": False}), snapshot(pay=pay))

    assert (kept.outcome, dropped.outcome) == ("pass", "reject")
    assert kept.reason.endswith("unknown pay is kept")


def test_unknown_pay_alone_can_be_left_out() -> None:
    criteria = Criteria.parse({"keep_unknown_pay": False})

    assert check(criteria, snapshot()).outcome == "reject"
    assert check(criteria, snapshot(pay=PayFact(1, 2, "EUR", "hour"))).outcome == "pass"
    assert check(Criteria(), snapshot()).outcome == "skip"


def test_the_reason_says_how_an_hour_became_a_year() -> None:
    step = check(Criteria.parse({"pay_min": WISH}), snapshot(pay=PayFact(40, 50, "USD", "hour")))

    assert step.reason == "pays up to 50 USD an hour, 104,000 a year (2080 times)"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "We pay well. The salary is $120,000 - $150,000 a year.",
            "The salary is $120,000 - $150,000 a year.",
        ),
        ("Base: $120k-$150k plus equity.", "Base: $120k-$150k plus equity."),
        ("Gehalt: 150.000 EUR.", "Gehalt: 150.000 EUR."),
        ("We serve 150,000 users.", ""),
        ("", ""),
    ],
)
def test_the_sentence_that_states_the_amount_is_quoted(text: str, quote: str) -> None:
    posting: dict[str, Any] = {"pay": PayFact(120_000, 150_000, "USD", "year"), "text": text}

    assert check(Criteria.parse({"pay_min": WISH}), snapshot(**posting)).quote == quote
