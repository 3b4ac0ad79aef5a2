"""Finds the pay that a posting's text states, with the sentence that states it. Pure.

The rules, where a text leaves room:

- A `$` with no country is the US dollar, unless the text names another dollar's currency or the sentence a
  country that has one: then it is unnamed. So is a `¥` where the text does not say whose, "kr" and "Rs".
- A period is what the text says. Where it says none, an amount that can only be a year's is a year's (20,000
  of a dollar-like currency and more), and every other has none.
- An amount counts as pay by its neighbours: "401(k) match up to $5,000" and "a $50M round" never do. A lone
  amount needs a word for pay, or a rate ("$55/hr"), or to be all that is said ("£45k").
- Several ranges (one a location) make one, from the lowest to the highest, where currency and period are the
  same; else nothing is stated. On-target earnings count only where no other pay is stated.
- A year under 1,000 or an hour over 1,000 is a mistake in the text, and is not shown.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from catalog import pay_words as words
from catalog.money import Money, Period, amounts_in, same_length

_MAX_CHARS: Final = 60_000
_MAX_SENTENCE: Final = 400
_MAX_AMOUNTS: Final = 80  # that may be pay; each costs a look at the words around it
_SEEN: Final = 300  # characters of a sentence on either side of an amount
_SENTENCE_END: Final = re.compile(r"[.!?。](?=\s+[A-ZÀ-Þ$€£]|\s*$)|[\n•|]")
_CLAUSE_END: Final = re.compile(r",(?=\s|$)|[;()]")  # a colon leads to its amount
_HUGE: Final = frozenset(["b", "bn", "billion", "t", "tn", "trillion"])
_MILLIONS: Final = frozenset(["m", "mm", "mn", "mil", "mio", "million", "millions", "cr", "crore"])
# Currencies in which a million is a month's or a year's pay, so that "8M" may be one.
_SMALL_CURRENCIES: Final = frozenset(["JPY", "KRW", "IDR", "VND", "COP", "CLP", "HUF", "INR", "PKR", "NGN"])
_DOLLAR_LIKE: Final = frozenset(["USD", "EUR", "GBP", "CHF", "CAD", "AUD", "NZD", "SGD"])
# From here up an amount without a period is a year's: nobody is paid so much a month in these currencies.
_YEARLY_FROM: Final = dict.fromkeys(_DOLLAR_LIKE, 20_000) | {
    **{"PLN": 80_000, "SEK": 200_000, "NOK": 250_000, "DKK": 250_000, "CZK": 500_000, "JPY": 2_500_000},
}
_MOST: Final[dict[Period, float]] = {
    "hour": 1_000,
    "day": 10_000,
    "week": 50_000,
    "month": 200_000,
    "year": 5e6,
}
_INDIAN_UNITS: Final = frozenset(["lpa", "lac", "lacs", "lakh", "lakhs", "crore"])
_NO_AMOUNT: Final = re.compile(r"\s*(?:%|\(?k\)|\(\s?pro[- ]?rata)", re.IGNORECASE)
_FEW_WORDS: Final = 6
_LEAST_YEAR: Final = 1_000
_LEAST_BARE: Final = 10_000  # a number without a currency, beside a word for pay
_LEAST_UNNAMED: Final = 20_000  # a range in a currency that cannot be told
_NEAR: Final = 40
_WIDEST: Final = 20  # a range wider than this is two things
_SAME_SIZE: Final = 5


@dataclass(frozen=True, slots=True)
class StatedPay:
    """Pay as a text states it, in whole units of `currency` (ISO 4217).

    `min` or `max` is None where only one bound is stated ("up to"). `sentence` is part of the text, verbatim.
    """

    min: float | None
    max: float | None
    currency: str | None
    period: Period | None
    sentence: str


@dataclass(frozen=True, slots=True)
class _Passage:
    """One amount and the words around it. `start` and `end` bound its sentence."""

    money: Money
    start: int
    end: int
    heading: str  # the short line above the sentence's
    before: str  # back to the clause's start or the amount before
    earlier: str  # back to the sentence's start, or as far as is looked
    after: str  # to the sentence's end, or as far as is looked

    @property
    def next_words(self) -> str:
        """What the amount is of: "learning stipend" of "$2,000 learning stipend, and more"."""
        phrase = _CLAUSE_END.split(self.after, maxsplit=1)[0]
        return " ".join(words.JOINER.split(phrase, maxsplit=1)[0].split()[:_FEW_WORDS])


def pay_in_text(text: str) -> StatedPay | None:
    """The pay that `text` states, or None where it states none, or several that are not one."""
    plain = same_length(text[:_MAX_CHARS])
    offers = [(passage, stated) for passage in _passages(plain) if (stated := _stated(passage, plain))]
    offers = [offer for offer in offers if not _is_total(offer[0])] or offers
    # beside a range, a lone amount is an average or an example
    offers = [offer for offer in offers if offer[0].money.is_range] or offers
    return _merged(offers, text) if offers else None


def _is_total(passage: _Passage) -> bool:
    """Whether the amount counts bonus or commission in."""
    return bool(words.TOTAL.search(f"{passage.before[-_NEAR:]} {passage.next_words}"))


def _passages(text: str) -> Iterator[_Passage]:
    """Every amount with its surroundings, which reach no further than a reader's eye does."""
    ends = [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    previous_end = 0
    for money in islice(filter(_may_be_pay, amounts_in(text)), _MAX_AMOUNTS):
        position = bisect_right(ends, money.start)
        start = ends[position - 1] if position else 0
        end = ends[bisect_left(ends, money.end)]
        seen_from = max(start, money.start - _SEEN)
        earlier = text[seen_from : money.start]
        clause = max((match.end() for match in _CLAUSE_END.finditer(earlier)), default=0)
        yield _Passage(
            money=money,
            start=start,
            end=end,
            heading=_heading(text, start),
            before=text[max(seen_from + clause, previous_end) : money.start],
            earlier=earlier,
            after=text[money.end : min(end, money.end + _SEEN)],
        )
        previous_end = money.end


def _may_be_pay(money: Money) -> bool:
    return bool(money.currency or money.sign or money.unit == "lpa") or money.high >= _LEAST_BARE


def _heading(text: str, start: int) -> str:
    above = text[max(0, start - 200) : start].rstrip().rpartition("\n")[2]
    return above if len(above.split()) <= _FEW_WORDS + 2 and text[start - 1 : start] == "\n" else ""


def _stated(passage: _Passage, text: str) -> StatedPay | None:
    """The pay of one amount, or None when the amount is no pay or cannot be meant."""
    money = passage.money
    currency = _currency(passage, text)
    if _is_of_the_company(money, currency) or _NO_AMOUNT.match(passage.after) or _is_401k(money):
        return None
    period = _period(passage)
    if not period and money.high >= _YEARLY_FROM.get(currency or "", math.inf):
        period = "year"
    if not _is_pay(passage, period) or not _is_possible(money, currency, period):
        return None
    low: float | None = money.low
    high: float | None = money.high
    if money.is_range:
        low = low or None
    elif words.UP_TO.search(passage.earlier[-_NEAR:]) or words.AT_MOST_AFTER.match(passage.after):
        low = None
    elif (
        money.is_open
        or words.FROM.search(passage.earlier[-_NEAR:])
        or words.AT_LEAST_AFTER.match(passage.after)
    ):
        high = None
    return StatedPay(low, high, currency, period, "")


def _currency(passage: _Passage, text: str) -> str | None:
    """The currency named, or the one its sign stands for where nothing in the text contradicts."""
    money = passage.money
    if money.currency or not money.sign:
        return money.currency or ("INR" if money.unit in _INDIAN_UNITS else None)
    if money.sign in ("$", "dollars"):
        if named := words.DOLLAR_AFTER.match(passage.after):
            return named[1]
        around = f"{passage.earlier} {passage.after}"
        is_abroad = words.OTHER_DOLLAR_LANDS.search(around) and not words.AMERICA.search(around)
        return None if is_abroad or _mentions(words.OTHER_DOLLARS, text) else "USD"
    if money.sign in ("¥", "\uffe5"):
        lands = (_mentions(words.JAPAN, text), _mentions(words.CHINA, text))
        return {(True, False): "JPY", (False, True): "CNY"}.get(lands)
    return None


@lru_cache(maxsize=16)
def _mentions(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the whole text does; asked for every amount of the same text."""
    return pattern.search(text) is not None


def _period(passage: _Passage) -> Period | None:
    if passage.money.unit == "lpa":
        return "year"
    after = words.RATE_AFTER.match(passage.after) or words.ADVERB_AFTER.match(passage.after)
    if after:
        return _named(after)
    nearby = f"{passage.heading} {passage.earlier}"[-100:]
    before = list(words.PERIOD_BEFORE.finditer(nearby))
    return _named(before[-1]) if before else None


def _named(match: re.Match[str]) -> Period:
    return next(period for period in _MOST if match[period])


def _is_of_the_company(money: Money, currency: str | None) -> bool:
    """Millions and more: funding, revenue, a market. In some currencies a million is a salary."""
    return money.unit in _HUGE or (money.unit in _MILLIONS and currency not in _SMALL_CURRENCIES)


def _is_401k(money: Money) -> bool:
    return money.unit == "k" and money.low == 401_000 and not money.sign and not money.currency


def _is_pay(passage: _Passage, period: Period | None) -> bool:
    money = passage.money
    is_bare = not money.currency and not money.sign and money.unit != "lpa"
    if is_bare and not words.PAY.search(passage.earlier[-_NEAR:]):
        return False
    if words.OTHER.search(passage.next_words) or _is_other(passage.before):
        return False
    if words.PRO_RATA.search(passage.earlier):
        return False
    is_labelled = bool(words.PAY.search(passage.before) or words.PAY.search(passage.next_words))
    if is_bare or is_labelled or _ends_in_pay(f"{passage.heading}\n{passage.earlier}"):
        return True
    return not words.OTHER.search(passage.earlier) and _speaks_for_itself(passage, period)


def _speaks_for_itself(passage: _Passage, period: Period | None) -> bool:
    """Whether an amount that no word calls pay is pay by its form."""
    if passage.money.is_range:
        return period is not None or passage.money.high >= _LEAST_UNNAMED
    is_rate = words.RATE_AFTER.match(passage.after) or words.ADVERB_AFTER.match(passage.after)
    is_alone = len(f"{passage.earlier} {passage.after}".split()) <= _FEW_WORDS
    is_benefit = words.BENEFITS.search(passage.heading) or words.OTHER.search(passage.heading)
    if is_rate and period in ("hour", "year"):
        return True
    return is_alone and period is not None and not is_benefit


def _is_other(before: str) -> bool:
    """Whether the words before an amount make it a benefit: "401(k) match of", not "base plus bonus:"."""
    others = list(words.OTHER.finditer(before))
    if not others:
        return False
    return not any(
        pay.start() > others[-1].start() or words.JOINER.search(before, pay.end(), others[-1].start())
        for pay in words.PAY.finditer(before)
    )


def _ends_in_pay(earlier: str) -> bool:
    """Whether the last thing that the sentence and its heading speak of is pay."""
    pays = [match.start() for match in words.PAY.finditer(earlier)]
    others = [match.start() for match in words.OTHER.finditer(earlier)]
    return bool(pays) and max(pays) > max(others, default=-1)


def _is_possible(money: Money, currency: str | None, period: Period | None) -> bool:
    if money.high <= 0 or (money.low and money.high > _WIDEST * money.low):
        return False
    if period is None or (currency and currency not in _DOLLAR_LIKE):
        return period != "year" or money.high >= _LEAST_YEAR
    return (_LEAST_YEAR if period == "year" else 0) <= money.high <= _MOST[period]


def _merged(chosen: Sequence[tuple[_Passage, StatedPay]], text: str) -> StatedPay | None:
    """One pay from the lowest to the highest, or None for pay in several currencies or periods."""
    periods = {stated.period for _, stated in chosen if stated.period}
    currencies = {stated.currency for _, stated in chosen}
    if len(periods) > 1 or len(currencies) > 1 or (periods and not _are_of_one_size(chosen)):
        return None
    lows = [stated.min for _, stated in chosen if stated.min is not None]
    highs = [stated.max for _, stated in chosen if stated.max is not None]
    first, last = chosen[0][0], chosen[-1][0]
    spans_all = last.end - first.start <= _MAX_SENTENCE
    return StatedPay(
        min=min(lows, default=None),
        max=max(highs, default=None),
        currency=currencies.pop(),
        period=min(periods, default=None),
        sentence=_cut(text, first, last.end if spans_all else first.end),
    )


def _are_of_one_size(chosen: Sequence[tuple[_Passage, StatedPay]]) -> bool:
    """An amount without a period goes with a year's where it is of its size."""
    known = [passage.money.high for passage, stated in chosen if stated.period]
    return all(
        stated.period or max(known) / _SAME_SIZE <= passage.money.high <= max(known) * _SAME_SIZE
        for passage, stated in chosen
    )


def _cut(text: str, passage: _Passage, end: int) -> str:
    """`text` from the passage's sentence to `end`, shortened around the amount where it is long."""
    start = passage.start
    if end - start > _MAX_SENTENCE:
        start = max(start, text.find(" ", max(start, passage.money.start - _MAX_SENTENCE // 2)))
        start = min(start, passage.money.start)
        end = max(passage.money.end, min(end, start + _MAX_SENTENCE))
    return text[start:end].strip(" \t\n|•")
