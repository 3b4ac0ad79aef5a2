"""Stated pay, checked before anybody sees it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from catalog.adapters.base import Pay, Period
from catalog.pay import pay_in_text

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,6})?")
_CURRENCY = re.compile(r"[A-Z]{3}")

# What an amount of a period can be, in currencies whose unit is worth about a dollar. Outside it the
# source mixed up hours and years, or units and thousands, and nothing is shown.
_PLAUSIBLE: dict[Period, tuple[float, float]] = {
    "hour": (1, 1_000),
    "day": (8, 10_000),
    "week": (40, 50_000),
    "month": (100, 500_000),
    "year": (1_000, 10_000_000),
}
_DOLLAR_LIKE = frozenset({"USD", "EUR", "GBP", "CAD", "AUD", "NZD", "CHF", "SGD"})
_SMALL_UNITS = 10_000  # the least unit in use is worth about this little of a dollar
_PERIOD_WORDS: tuple[tuple[Period, re.Pattern[str]], ...] = (
    ("hour", re.compile(r"\bhour|\bhr|\bper hour|\bstunde")),
    ("day", re.compile(r"\bday|\bdaily|\btag\b")),
    ("week", re.compile(r"\bweek|\bwoche")),
    ("month", re.compile(r"\bmonth|\bmonat")),
    ("year", re.compile(r"\byear|\byr|\bann(?:ual|um)|\bjahr|\bpa$")),
)
_MANY_TIMES = re.compile(r"\bbi|\bsemi|\bhalf|\btwice|\btwo\b|\bfortnight")


def pay(
    low: object, high: object, *, currency: object, period: Period | None, flags: list[str]
) -> Pay | None:
    """Pay in whole currency units, or None where nothing usable is stated.

    Zero is "not stated". Bounds the wrong way round are ordered, with the flag "bounds_swapped"; an
    amount that cannot be meant for its period hides the whole, with the flag "pay_implausible".
    """
    least, most = amount(low), amount(high)
    if least is None and most is None:
        return None
    if least is not None and most is not None and least > most:
        least, most = most, least
        flags.append("bounds_swapped")
    code = currency.strip().upper() if isinstance(currency, str) else ""
    code = code if _CURRENCY.fullmatch(code) else ""
    if not all(_is_plausible(bound, code, period) for bound in (least, most) if bound is not None):
        flags.append("pay_implausible")
        return None
    return Pay(min=least, max=most, currency=code or None, period=period)


def amount(value: object) -> float | None:
    """A positive, finite number, also where it is written as text; None for all else."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < 10**15 and math.isfinite(value) else None


def period(value: object) -> Period | None:
    """The period that a platform's own word for it names: "YEARLY", "per_hour", "Monthly salary"."""
    label = value.lower().replace("_", " ").replace("-", " ") if isinstance(value, str) else ""
    if _MANY_TIMES.search(label):
        return None  # half-monthly and two-weekly pay exist, and no period of ours says them
    named = [period for period, word in _PERIOD_WORDS if word.search(label)]
    return named[0] if len(named) == 1 else None


def pay_in_field(value: object, flags: list[str]) -> Pay | None:
    """Pay out of a field that holds nothing else, in words: "$0.05 – $0.06 / hour"."""
    stated = pay_in_text(value) if isinstance(value, str) else None
    if stated is None:
        return None
    return pay(stated.min, stated.max, currency=stated.currency, period=stated.period, flags=flags)


def span(pays: Iterable[Pay]) -> Pay | None:
    """One range over several stated ones: those in the first one's currency and period."""
    ranges = list(pays)
    if not ranges:
        return None
    first = ranges[0]
    alike = [each for each in ranges if (each.currency, each.period) == (first.currency, first.period)]
    lows = [each.min for each in alike if each.min is not None]
    highs = [each.max for each in alike if each.max is not None]
    return Pay(min(lows, default=None), max(highs, default=None), first.currency, first.period)


def _is_plausible(bound: float, currency: str, period: Period | None) -> bool:
    if period not in _PLAUSIBLE:
        return True
    least, most = _PLAUSIBLE[period]
    return least <= bound <= (most if currency in _DOLLAR_LIKE else most * _SMALL_UNITS)
