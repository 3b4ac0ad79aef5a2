"""Cuts the text of a place into words and says what each may name: country, state, region, city. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from catalog.gazetteer import City, cities_called, country_codes, country_names
from catalog.place_tables import CITY_ALIASES, REGION_WORDS, SUBDIVISION_CODES, SUBDIVISION_NAMES, fold

_SEPARATOR: Final = re.compile(r"\s*[,\uff0c、:>\u203a→]\s*|\s+-+\s+|\s*[\u2013\u2014]+\s*")
_INITIALS: Final = re.compile(r"\b([A-Z](?:\.[A-Z])+)\b\.?")  # D.C., U.S.A.
_FULL_STOP: Final = re.compile(r"\.\s+(?=[A-Z]{2}\b)")  # "Addison. TX"
_CODED: Final = re.compile(r"([A-Z]{2,3})([-._])(?=\w)")  # USA.VA.Reston, US-IL-Niles
_POSTCODE: Final = re.compile(r"\b\d{4,6}(?:-\d{4})?\b|#\w+")
_EDGES: Final = " \t-\u2013\u2014.:/*\"'“”"
_LEADING: Final = re.compile(
    r"^(?:(?:in|from|within|across|throughout|inside|based in|located in|at|near|for|to|or|and|greater|metro"
    r"|downtown|candidates in|residents of|the|any)\s+)+(?=\w)",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r"(?:[\s-]+(?:metro(?:politan)?|areas?|region|offices?|offsite|hq|headquarters|only|based|wide|nationwide"
    r"|residents?|preferred|city|or|and|in))+$",
    re.IGNORECASE,
)
_DIRECTION: Final = re.compile(
    r"(?:north|south|mid)?(?:north|south|east|west)?(?:ern)?|central|upstate|coast", re.IGNORECASE
)
_NOT_A_CITY: Final = re.compile(
    r"\d|\b(?:locations?|multiple|various|several|many|negotiable|flexible|selection|tb[ad]|any|all|others?|more"
    r"|field|travel|headquarters?|hq|offices?|campus|building|suite|floor|street|road|avenue|parkway|highway"
    r"|cent(?:er|re)|hospital|clinic|university|college|school|store|standorte?|plant|warehouse|airport|coast"
    r"|hours?|zones?|timezones?|time|teams?|global|international|national|nationwide|home|unknown|none|open|see|description"
    r"|required|specified|preferred|only|employees?|jobs?|position|role|work(?:ing)?|within|or|and|with|based"
    r"|cest|cet|gmt|utc|bst|ist|jst)\b|\b(?:st|rd|ave|blvd|ln|dr)\.?$",
    re.IGNORECASE,
)
_LONGEST_NAME: Final = 5  # words: "San Juan de los Lagos"


class Word(NamedTuple):
    """What stands between two separators, with all that it may name."""

    text: str
    key: str
    countries: frozenset[str]
    subdivisions: tuple[tuple[str, str], ...]
    area: str | None
    cities: tuple[City, ...]
    is_code: bool  # capitals, two or three: "CA", "USA", "NYC"
    is_soft: bool  # such a code in small letters: "gb"

    @property
    def closes(self) -> bool:
        return bool(self.countries or self.subdivisions)

    @property
    def is_named(self) -> bool:
        return bool(self.closes or self.area or self.cities)


def words_of(text: str) -> list[Word]:
    """The words of `text`, in order, free of postcodes, connecting words and punctuation."""
    text = _INITIALS.sub(lambda match: match[1].replace(".", ""), text)
    text = _POSTCODE.sub(" ", _FULL_STOP.sub(", ", text))
    parts = [part.strip(_EDGES) for part in _SEPARATOR.split(text)]
    return [word for part in parts for word in _cut_code(part)]


def is_city_name(text: str) -> bool:
    """Whether an unlisted `text` may be a town, going by its shape."""
    is_code = text.isascii() and text.isupper() and len(text) < 4
    if is_code or _NOT_A_CITY.search(text) or all(map(_DIRECTION.fullmatch, text.split())):
        return False
    return len(text.split()) <= _LONGEST_NAME and len(text) > 1 and not text[:1].islower()


def _cut_code(part: str) -> list[Word]:
    """`part` as one word, or as several when it begins with a country's or state's code: "US-CA-San Jose"."""
    match = _CODED.match(part)
    if not match or word_named(part).is_named or not word_named(match[1]).closes:
        return _cut(part)
    code, separator, rest = match[1], match[2], part[match.end() :]
    parts = [rest] if word_named(rest).is_named else rest.split(separator)
    return [word_named(code), *(word for part in parts for word in _cut(part))]


def _cut(part: str) -> list[Word]:
    """`part` without what stands around its name, and with a state or country at its end cut off."""
    word = word_named(part)
    if word.is_named or not part:
        return [word] if part else []
    bare = _TRAILING.sub("", _LEADING.sub("", part)).strip(_EDGES)
    if bare != part:
        inside = _cut(bare)
        return inside if any(found.is_named for found in inside) else [word]
    names = part.split()
    return _cut_direction(names) or _cut_end(names) or _cut_start(names) or [word]


def _cut_direction(words: list[str]) -> list[Word]:
    """The state or country of "Northern California", "US East Coast"."""
    name = " ".join(word for word in words if not _DIRECTION.fullmatch(word))
    if not name or len(name.split()) == len(words):
        return []
    state = word_named(f"{name} State")  # upstate New York is not the city
    found = state if state.subdivisions else word_named(name)
    return [found] if found.closes or found.area else []


def _cut_end(words: list[str]) -> list[Word]:
    """The name and the state or country of "Austin TX" and "London United Kingdom", if they go together."""
    for length in range(min(4, len(words) - 1), 0, -1):
        end = word_named(" ".join(words[-length:]))
        head = " ".join(words[:-length])
        is_pair = _goes_with(word_named(head), end) or (end.is_code and is_city_name(head))
        if end.closes and not end.is_soft and is_pair:
            return [*_cut(head), end]
    return []


def _cut_start(names: list[str]) -> list[Word]:
    """The code and the name of "UK Manchester"."""
    start, rest = word_named(names[0]), " ".join(names[1:])
    is_pair = start.is_code and start.is_named and is_city_name(rest)
    return [start, *_cut(rest)] if is_pair else []


def _goes_with(head: Word, end: Word) -> bool:
    places = {(country, "") for country in end.countries} | set(end.subdivisions)
    inner = {(city.country, city.region) for city in head.cities} | set(head.subdivisions)
    return any(country == home and region in ("", part) for country, region in places for home, part in inner)


def _cities(text: str, key: str, is_code: bool) -> tuple[City, ...]:
    """A code is a city only where that is agreed (NYC, SF): Wa in Ghana is not meant by "WA"."""
    return cities_called(text) if not is_code or (text.isupper() and key in CITY_ALIASES) else ()


@lru_cache(maxsize=8192)
def word_named(text: str) -> Word:
    """All that `text` may name. Two letters in small type are kept as a code only a city can confirm."""
    key = fold(text)
    is_short = text.isascii() and text.isalpha() and len(text) <= 3
    is_code = is_short and text.isupper()
    is_soft = is_short and not is_code and len(text) == 2
    code = text.upper() if is_code or is_soft else ""
    countries = {country_codes().get(code), country_names().get(key)}
    subdivisions = (*SUBDIVISION_CODES.get(code, ()), *SUBDIVISION_NAMES.get(key, ()))
    return Word(
        text=text,
        key=key,
        countries=frozenset(country for country in countries if country),
        subdivisions=subdivisions,
        area=REGION_WORDS.get(key),
        cities=_cities(text, key, is_code or is_soft),
        is_code=is_code,
        is_soft=is_soft,
    )
