"""What a filter asks for: parsed strictly, said in words, identified by a digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Literal, get_args

from catalog.adapters.base import EmploymentType, Period
from reviews.rules.language_names import CODES, code_of, name_of
from reviews.rules.scopes import is_country_or_region, label_of

Level = Literal["intern", "entry", "mid", "senior", "lead", "executive"]
RemoteWish = Literal["any", "only", "allowed", "no"]
SponsorshipWish = Literal["any", "needed"]
ClearanceWish = Literal["any", "none"]

LEVELS: tuple[Level, ...] = get_args(Level)
MAX_ITEMS = 100
MAX_ITEM_CHARS = 100
MAX_TEXT_CHARS = 4000

# What people and other tools call a field: only for the guess in an error, never accepted.
OTHER_NAMES = {
    "roles": ("role", "title", "titles", "keywords", "include_words", "job_titles"),
    "exclude_words": ("exclude", "excluded_words", "negative_keywords", "blocked_words"),
    "exclude_companies": ("companies", "blocked_companies", "company_blocklist"),
    "levels": ("level", "seniority", "seniorities"),
    "max_years": ("experience", "max_experience", "years", "years_of_experience"),
    "places": ("place", "location", "locations", "country", "countries", "cities", "regions"),
    "remote": ("work_mode", "workplace", "remote_only"),
    "employment_types": ("employment_type", "job_type", "contract_types"),
    "pay_min": ("min_pay", "min_salary", "salary_min", "salary", "min_base", "pay"),
    "keep_unknown_pay": ("unknown_pay",),
    "sponsorship": ("visa", "visa_sponsorship"),
    "clearance": ("security_clearance",),
    "languages": ("language",),
    "max_age_days": ("age", "max_age", "posted_within_days", "freshness"),
    "text": ("prompt", "description", "instructions"),
}


class InvalidCriteria(ValueError):
    """Criteria that cannot be used. `problems` maps each field to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in problems.items()))
        self.problems = dict(problems)


@dataclass(frozen=True, slots=True)
class PayWish:
    """The least pay wanted, in whole units of `currency` (ISO 4217) a `period`."""

    amount: float
    currency: str
    period: Period = "year"


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a posting must be. An empty field asks for nothing.

    `places` are countries (ISO 3166-1 alpha-2 or a name), regions ("Europe", "EU", "DACH"), US states
    ("California", "US-CA") or cities, as people write them; two letters are a country, so "CA" is Canada.
    `remote`: "any" leaves the work mode open, "allowed" lets remote work stand in for `places`, "only" and
    "no" demand it or exclude it. `remote_from` are the countries (or US states) that the person works from.
    `max_years` is the most experience that a posting may demand. `text` is for a model to read.
    """

    roles: tuple[str, ...] = ()
    exclude_words: tuple[str, ...] = ()
    exclude_companies: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    max_years: int | None = None
    places: tuple[str, ...] = ()
    remote: RemoteWish = "any"
    remote_from: tuple[str, ...] = ()
    employment_types: tuple[EmploymentType, ...] = ()
    pay_min: PayWish | None = None
    keep_unknown_pay: bool = True
    sponsorship: SponsorshipWish = "any"
    clearance: ClearanceWish = "any"
    languages: tuple[str, ...] = ()
    max_age_days: int | None = None
    text: str = ""

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Criteria:
        """Criteria from a mapping of JSON values. None and empty values count as not set.

        Raises InvalidCriteria, naming every unknown key and every wrong value.
        """
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for key, value in data.items():
            reader = READERS.get(key)
            if reader is None:
                problems[str(key)] = f"unknown{_guess(str(key))}"
            elif value is not None and value != "":
                try:
                    values[key] = reader(value)
                except _Wrong as wrong:
                    problems[key] = str(wrong)
        if problems:
            raise InvalidCriteria(problems)
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """What is set, as JSON values: `Criteria.parse(criteria.as_dict()) == criteria`."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _as_json(value) for name, value in given.items() if value != getattr(UNSET, name)}

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: equal for criteria that ask for the same."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def words(self) -> str:
        """The criteria as one sentence, without its full stop."""
        return ", ".join([_subject(self), *_clauses(self)])


class _Wrong(ValueError):
    """One value that cannot be used, said in words."""


def _guess(key: str) -> str:
    names = {other: field for field, others in OTHER_NAMES.items() for other in (field, *others)}
    close = get_close_matches(key.casefold(), names, n=1, cutoff=0.6)
    return f"; did you mean {names[close[0]]}?" if close else ""


def _list(value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise _Wrong("must be a list of texts")
    if len(value) > MAX_ITEMS:
        raise _Wrong(f"has {len(value)} entries, more than {MAX_ITEMS}")
    items = [" ".join(item.split()) if isinstance(item, str) else None for item in value]
    if None in items:
        raise _Wrong("must be a list of texts")
    texts = [item for item in items if item]
    if too_long := next((text for text in texts if len(text) > MAX_ITEM_CHARS), None):
        raise _Wrong(f"“{too_long[:30]}…” is longer than {MAX_ITEM_CHARS} characters")
    return texts


def _phrases(value: object) -> tuple[str, ...]:
    """Texts, each once whatever its case, in the order given."""
    return tuple({text.casefold(): text for text in reversed(_list(value))}.values())[::-1]


def _places(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.upper() if len(text) == 2 else text for text in _phrases(value)))


def _countries(value: object) -> tuple[str, ...]:
    places = _places(value)
    if wrong := [place for place in places if not is_country_or_region(place)]:
        raise _Wrong(f"“{wrong[0]}” is not a country, a region or a US state")
    return places


def _languages(value: object) -> tuple[str, ...]:
    codes = [text.casefold() for text in _phrases(value)]
    for text in codes:
        if text not in CODES:
            named = code_of(text)
            hint = f"; did you mean “{named}”?" if named else ""
            raise _Wrong(f"“{text}” is not an ISO 639-1 language code{hint}")
    return tuple(codes)


def _one_of(options: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise _Wrong(f"must be one of {', '.join(options)}")
        folded = value.strip().casefold()
        if folded not in options:
            close = get_close_matches(folded, options, n=1)
            guess = f"; did you mean {close[0]}?" if close else ""
            raise _Wrong(f"“{value[:30]}” is none of {', '.join(options)}{guess}")
        return folded

    return read


def _some_of(options: tuple[str, ...]) -> Callable[[object], tuple[str, ...]]:
    read_one = _one_of(options)

    def read(value: object) -> tuple[str, ...]:
        chosen = {read_one(text) for text in _list(value)}
        return tuple(option for option in options if option in chosen)

    return read


def _whole(low: int, high: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _Wrong("must be a whole number")
        if not low <= value <= high:
            raise _Wrong(f"must be from {low} to {high}")
        return value

    return read


def _pay(value: object) -> PayWish:
    if not isinstance(value, Mapping):
        raise _Wrong("must be an object with amount, currency and period")
    if unknown := [str(key) for key in value if key not in ("amount", "currency", "period")]:
        raise _Wrong(f"{unknown[0]} is unknown; amount, currency and period are known")
    amount, currency = value.get("amount"), value.get("currency")
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not math.isfinite(amount):
        raise _Wrong("amount must be a number")
    if not 0 < amount <= 1e12:
        raise _Wrong("amount must be positive")
    if not isinstance(currency, str) or not (
        len(currency) == 3 and currency.isascii() and currency.isalpha()
    ):
        raise _Wrong("currency must be three letters such as EUR")
    periods = tuple(period for period in get_args(Period) if period != "one_time")
    period: Any = _one_of(periods)(value.get("period", "year"))
    return PayWish(amount=float(amount), currency=currency.upper(), period=period)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("must be true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("must be a text")
    if len(value) > MAX_TEXT_CHARS:
        raise _Wrong(f"is longer than {MAX_TEXT_CHARS} characters")
    return value.strip()


READERS: dict[str, Callable[[object], Any]] = {
    "roles": _phrases,
    "exclude_words": _phrases,
    "exclude_companies": _phrases,
    "levels": _some_of(LEVELS),
    "max_years": _whole(0, 50),
    "places": _places,
    "remote": _one_of(get_args(RemoteWish)),
    "remote_from": _countries,
    "employment_types": _some_of(get_args(EmploymentType)),
    "pay_min": _pay,
    "keep_unknown_pay": _flag,
    "sponsorship": _one_of(get_args(SponsorshipWish)),
    "clearance": _one_of(get_args(ClearanceWish)),
    "languages": _languages,
    "max_age_days": _whole(1, 3650),
    "text": _text,
}
UNSET = Criteria()


def _as_json(value: object) -> object:
    if isinstance(value, PayWish):
        return {"amount": value.amount, "currency": value.currency, "period": value.period}
    return list(value) if isinstance(value, tuple) else value


LEVEL_WORDS: dict[Level, str] = {
    "intern": "internship",
    "entry": "entry-level",
    "mid": "mid-level",
    "senior": "senior",
    "lead": "lead",
    "executive": "executive",
}


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _quoted(words: tuple[str, ...]) -> str:
    return _either([f"“{word}”" for word in words])


def _subject(criteria: Criteria) -> str:
    levels = [LEVEL_WORDS[level] for level in criteria.levels]
    early = criteria.levels == ("intern", "entry")
    parts = [
        "remote" if criteria.remote == "only" else "",
        "early-career" if early else _either(levels or [""]),
    ]
    parts.append(_either(list(criteria.roles or ("",))))
    subject = " ".join([*filter(None, parts), "roles"])
    if subject == "roles":
        subject = "all roles"
    places = [label_of(place) for place in criteria.places]
    if criteria.remote == "allowed":
        places.append("remote")
    where = f" in {_either(places)}" if criteria.places else ""
    return f"{subject[0].upper()}{subject[1:]}{where}"


def _clauses(criteria: Criteria) -> list[str]:
    """What the criteria ask for beside role, level and place, a clause each."""
    said: list[str] = []
    if criteria.remote == "no":
        said.append("not remote")
    if criteria.remote_from:
        said.append(f"worked from {_either([label_of(place) for place in criteria.remote_from])}")
    if criteria.employment_types:
        said.append(_either([kind.replace("_", "-") for kind in criteria.employment_types]))
    if criteria.max_years is not None:
        said.append(f"at most {criteria.max_years} years of experience demanded")
    said += _pay_clauses(criteria)
    if criteria.sponsorship == "needed":
        said.append("visa sponsorship needed")
    if criteria.clearance == "none":
        said.append("no security clearance")
    if criteria.languages:
        said.append(f"working language {_either([name_of(code) for code in criteria.languages])}")
    if criteria.max_age_days is not None:
        said.append(f"posted in the last {criteria.max_age_days} days")
    if criteria.exclude_words:
        said.append(f"without {_quoted(criteria.exclude_words)} in the title")
    if criteria.exclude_companies:
        said.append(f"not at {_either(list(criteria.exclude_companies))}")
    if criteria.text:
        said.append(f"and by description: “{criteria.text[:120]}{'…' if len(criteria.text) > 120 else ''}”")
    return said


def a_period(period: Period) -> str:
    return "an hour" if period == "hour" else f"a {period}"


def _pay_clauses(criteria: Criteria) -> list[str]:
    wish = criteria.pay_min
    if wish is None:
        return [] if criteria.keep_unknown_pay else ["pay stated"]
    unknown = "kept" if criteria.keep_unknown_pay else "left out"
    least = f"paying at least {wish.amount:,.0f} {wish.currency} {a_period(wish.period)}"
    return [least, f"pay unknown {unknown}"]
