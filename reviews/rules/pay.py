"""Stated pay against the least that is wanted, in one currency and a year's worth."""

from __future__ import annotations

import re

from catalog.adapters.base import Period
from reviews.criteria import Criteria, PayWish, a_period
from reviews.question import PayFact, Snapshot, Step
from reviews.rules.sentences import sentences_of

RULE = "pay.min"

# Full-time work in a year: 52 weeks of 40 hours, of which 260 are working days.
PERIODS_A_YEAR: dict[Period, int] = {"hour": 2080, "day": 260, "week": 52, "month": 12, "year": 1}
_ABOUT_PAY = re.compile(r"[$€£¥₹]|\b(?:[A-Z]{3}|salary|pay|compensation|wage|gehalt|salaire|salario)\b")


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The top of the stated range reaches the wanted pay. Another currency is unknown, never converted."""
    wish, pay = criteria.pay_min, snapshot.pay
    if wish is None:
        if criteria.keep_unknown_pay:
            return Step(RULE, "skip", "no pay asked for")
        return (
            _unknown(criteria, "pay is not stated")
            if _top(pay) is None
            else Step(RULE, "pass", "pay is stated")
        )
    top = _top(pay)
    if pay is None or top is None:
        return _unknown(criteria, "pay is not stated")
    if pay.currency != wish.currency:
        return _unknown(criteria, f"pay is in {pay.currency or 'an unstated currency'}, not {wish.currency}")
    if pay.period not in PERIODS_A_YEAR:
        return _unknown(criteria, "the period that the pay is for is not stated")
    quote = _quote(pay, snapshot.text)
    said = _said(pay, top, wish)
    if top * PERIODS_A_YEAR[pay.period] >= wish.amount * PERIODS_A_YEAR[wish.period]:
        return Step(RULE, "pass", said, quote)
    if pay.max is None:
        return _unknown(criteria, f"{said} at the least; no upper bound is stated")
    return Step(RULE, "reject", f"{said}, less than {wish.amount:,.0f} {a_period(wish.period)}", quote)


def _top(pay: PayFact | None) -> float | None:
    """The highest amount stated; the bounds may arrive swapped."""
    stated = [amount for amount in (pay.min, pay.max) if amount] if pay else []
    return max(stated, default=None)


def _unknown(criteria: Criteria, why: str) -> Step:
    if criteria.keep_unknown_pay:
        return Step(RULE, "pass", f"{why}; unknown pay is kept")
    return Step(RULE, "reject", f"{why}; unknown pay is left out")


def _said(pay: PayFact, top: float, wish: PayWish) -> str:
    assert pay.period is not None
    said = f"pays {'up to ' if pay.max else ''}{top:,.0f} {pay.currency} {a_period(pay.period)}"
    times = PERIODS_A_YEAR[pay.period]
    if pay.period == wish.period or times == 1:
        return said
    return f"{said}, {top * times:,.0f} a year ({times} times)"


def _quote(pay: PayFact, text: str) -> str:
    """The sentence that states a bound, in whichever way the amount is written; "" when none does."""
    amounts = [f"{amount:.0f}" for amount in (pay.max, pay.min) if amount]
    for sentence in sentences_of(text):
        if not _ABOUT_PAY.search(sentence.text):
            continue
        figures = re.findall(r"\d[\d.,'\u2019 \u00a0\u202f\u2009]{0,20}\d|\d+", sentence.text)
        bare = {re.sub(r"\D", "", re.sub(r"[.,]\d{1,2}$", "", figure)) for figure in figures}
        if any(
            amount in bare
            or (amount.endswith("000") and amount[:-3] in bare and "k" in sentence.text.casefold())
            for amount in amounts
        ):
            return sentence.text
    return ""
