"""Finds amounts of money in a text: "$120-150k", "€60.000 to 75.000", "CHF 110'000", "600万円". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

Period = Literal["hour", "day", "week", "month", "year", "one_time"]


def _pairs(listing: str) -> dict[str, str]:
    return dict(entry.split("=") for entry in listing.split(";"))


_CODES: Final = (
    "USD|EUR|GBP|CHF|CAD|AUD|NZD|SGD|HKD|JPY|CNY|RMB|INR|PKR|LKR|BDT|NPR|PLN|CZK|HUF|RON|BGN|SEK|NOK|DKK|ISK|ILS"
    "|TRY|RUB|UAH|ZAR|BRL|MXN|ARS|CLP|COP|PEN|KRW|TWD|THB|IDR|MYR|PHP|VND|AED|SAR|QAR|EGP|NGN|KES|GHS|MAD|KZT|GEL"
    "|RSD|UYU|UGX|TZS|TND|KWD|OMR|BHD"
    "|usd|eur|gbp|chf|cad|aud|pln|sek|nok|dkk|inr"  # the others are words in small letters
)
# The sign before or after an amount → its currency; nothing where several share the sign.
_SIGNS: Final = _pairs(
    "US $=USD;CA $=CAD;CDN $=CAD;AU $=AUD;NZ $=NZD;US$=USD;CA$=CAD;C$=CAD;CDN$=CAD;AU$=AUD;A$=AUD;NZ$=NZD"
    ";S$=SGD;SG$=SGD;HK$=HKD;NT$=TWD;MX$=MXN;R$=BRL;$=;€=EUR;£=GBP;¥=;\uffe5=;円=JPY;元=CNY;₹=INR;₪=ILS"
    ";₩=KRW;₺=TRY;₴=UAH;₫=VND;₱=PHP;฿=THB;zł=PLN;Kč=CZK;kr=;Rs=;Fr=CHF;Euro=EUR;Euros=EUR;euro=EUR;euros=EUR"
    ";dollars=;pounds=GBP;₽=RUB;RM=MYR;Rp=IDR;KSh=KES;Ksh=KES;KSH=KES;USh=UGX"
    ";TSh=TZS;₦=NGN;GH₵=GHS;₵=GHS;₸=KZT;₾=GEL;৳=BDT;원=KRW;Ft=HUF;lei=RON;S/.=PEN;S/=PEN"
    # what Russians, Ukrainians and Bulgarians write for theirs
    ";\u0440\u0443\u0431.=RUB;\u0440\u0443\u0431=RUB;\u0440\u0443\u0431\u043b\u0435\u0439=RUB"
    ";\u0433\u0440\u043d=UAH;\u043b\u0432=BGN"
)
_UNITS: Final = {
    **{
        "k": 1e3,
        "thousand": 1e3,
        "tsd": 1e3,
        "tys": 1e3,
        "\u0442\u044b\u0441": 1e3,
        "\u0442\u044b\u0441.": 1e3,
    },
    **{"万": 1e4, "萬": 1e4, "만": 1e4, "juta": 1e6, "jt": 1e6},
    **{"l": 1e5, "lpa": 1e5, "lac": 1e5, "lacs": 1e5, "lakh": 1e5, "lakhs": 1e5, "cr": 1e7, "crore": 1e7},
    **{"m": 1e6, "mm": 1e6, "mn": 1e6, "mil": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6},
    **{"b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12},
}
_THOUSAND: Final = 1_000
_FEWEST_THOUSANDS: Final = 10
_WIDEST_SLASHED: Final = 3
_EQUAL_LENGTH: Final = str.maketrans(
    {"\\": " ", "\u2019": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2011": "-", "\u2010": "-"}
)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_MARK: Final = rf"(?:(?:{_CODES})(?![A-Za-z])(?:\s?\$)?|{_any_of(_SIGNS)})"
_NUMBER: Final = (
    r"(?:\d{1,2}(?:,\d{2})+,\d{3}"  # 12,50,000
    r"|\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2}(?!\d))?"
    r"|\d{1,9}(?:[.,]\d{1,2}(?!\d))?)(?!\d)"
)
# Letters of scripts that part words by spaces: Chinese, Japanese and Korean write "年収600万円".
_LETTERS: Final = "A-Za-z\u00c0-\u024f\u0400-\u04ff"
_LONG_UNITS: Final = [unit for unit in _UNITS if len(unit) > 1 or unit in "k万萬만"]
_UNIT: Final = rf"(?i:\s?(?:{_any_of(_LONG_UNITS)})|[mbtl])(?![{_LETTERS}])"
# A sign with an amount of its own behind it belongs to that one: "Band 6 £37,338".
_NOT_AN_AMOUNT: Final = r"(?!\d|\s\d{1,3}[.,' ]?\d{3}|\s\d{1,3}k)"
_AMOUNT: Final = (
    rf"(?:(?<![A-Za-z])(?P<before{{n}}>{_MARK})\.?\s?|(?<![{_LETTERS}\d_.,'$]))(?P<number{{n}}>{_NUMBER})"
    rf"(?P<unit{{n}}>{_UNIT})?(?:\s?(?P<after{{n}}>{_MARK})(?![A-Za-z]){_NOT_AN_AMOUNT})?"
)
_RATE: Final = r"\s?(?:/|per\s|an\s|a\s)\s?[a-z]{1,6}\b\.?"  # "$40/hr - $55/hr"
_TO: Final = (
    r"\s*(?:[-\u2013\u2014~\u301c\uff5e\u2212]|to\b|bis\b|à\b|do\b|a\b|tot\b|\u0434\u043e\b|から|至"
    r"|(?P<slash>/(?=\d)))\s*(?:up to\s|bis zu\s)?"
)
_PATTERN: Final = re.compile(
    _AMOUNT.replace("{n}", "1")
    + rf"(?:(?:{_RATE}|\s?\+)?(?:{_TO}|\s(?P<conjunction>and|und|et|y)\s)"
    + _AMOUNT.replace("{n}", "2")
    + r")?"
)
_BETWEEN: Final = re.compile(r"(?:between|zwischen|entre)\W{1,3}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount or a range, at `text[start:end]`, in whole units of `currency` (ISO 4217 or None).

    `sign` is a sign that several currencies share ("$", "¥", "kr") where no currency is named. `unit` is the
    word that multiplied the amount ("k", "million", "lpa"), or "".
    """

    start: int
    end: int
    low: float
    high: float
    is_range: bool
    is_open: bool  # "$150k+"
    currency: str | None
    sign: str
    unit: str


def same_length(text: str) -> str:
    """`text` with unusual spaces, dashes and Markdown's backslashes made plain, every position kept."""
    return text.translate(_EQUAL_LENGTH)


def amounts_in(text: str) -> Iterator[Money]:
    """Every amount of `text` (as `same_length` leaves it) in order, with or without a currency."""
    position = 0
    while match := _PATTERN.search(text, position):
        money = _read(match, text)
        position = money.end
        yield money


def _read(match: re.Match[str], text: str) -> Money:
    """The range matched, or its first amount alone where the second does not belong to it."""
    names = ("1", "2") if _is_range(match, text) else ("1",)
    marks = [mark for name in names for mark in (match["before" + name], match["after" + name]) if mark]
    named = {currency for mark in marks if (currency := _currency(mark))}
    units = [(match["unit" + name] or "").strip().lower() for name in names]
    values = _multiplied([_number(match["number" + name]) for name in names], units)
    end = max(match.end(group + names[-1]) for group in ("number", "unit", "after"))
    shared = [mark for mark in marks if not _currency(mark)]
    return Money(
        start=match.start(),
        end=end,
        low=min(values),
        high=max(values),
        is_range=len(names) > 1,
        is_open=text[end : end + 2].strip()[:1] == "+",
        currency=next(iter(named), None),
        sign=shared[0] if shared and not named else "",
        unit=max(units, key=len),
    )


def _is_range(match: re.Match[str], text: str) -> bool:
    """Whether both amounts are one range: not "Grade 7 - £37,099", nor two amounts joined by a bare "and"."""
    if match["number2"] is None:
        return False
    if match["conjunction"] and not _BETWEEN.search(text, max(0, match.start() - 12), match.start()):
        return False
    if match["slash"] and not _is_slashed_range(match):
        return False
    if match["before2"] and not (match["before1"] or match["after1"]):
        return False
    named = [_currency(match[group]) for group in ("before1", "after1", "before2", "after2") if match[group]]
    return len({currency for currency in named if currency}) < 2


def _is_slashed_range(match: re.Match[str]) -> bool:
    """Whether a slash parts two ends of a range: "45/55k€", not "$50/8 hours" or "$120k/401k"."""
    low, high = _number(match["number1"]), _number(match["number2"])
    return bool(match["unit2"]) and low < high <= _WIDEST_SLASHED * low


def _currency(mark: str) -> str:
    """The code that a sign or code stands for, "" for one that several share."""
    code = mark.rstrip("$ ").upper() if mark not in _SIGNS else _SIGNS[mark]
    return "CNY" if code == "RMB" else code


def _number(written: str) -> float:
    """The number written, whichever of comma, point, apostrophe and space parts its thousands."""
    digits = re.sub(r"[' ]", "", written)
    whole, mark, rest = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", digits).groups()  # type: ignore[union-attr]
    return float(re.sub(r"[.,]", "", whole) + (f".{rest}" if mark else ""))


def _multiplied(values: list[float], units: list[str]) -> list[float]:
    """`values` times their units; a unit written once belongs to both ends ("$120-150k", "60-75.000")."""
    if len(values) == 1:
        return [values[0] * _UNITS.get(units[0], 1)]
    low, high = values
    factors = [_UNITS.get(unit, 1) for unit in units]
    if not units[0] and units[1] and low <= high:
        factors[0] = factors[1]
    elif units[0] and not units[1] and low <= high < _THOUSAND:
        factors[1] = factors[0]
    elif not any(units) and _FEWEST_THOUSANDS <= low < _THOUSAND and low * _THOUSAND <= high:
        factors[0] = _THOUSAND
    return [low * factors[0], high * factors[1]]
