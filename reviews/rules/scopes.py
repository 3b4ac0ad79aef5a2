"""What a place name covers, as people write it in criteria and in sentences. The tables are the catalog's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from catalog.gazetteer import country_codes, country_name, country_names
from catalog.place_tables import (
    CANADIAN_PROVINCES,
    CITY_ALIASES,
    REGION_WORDS,
    REGIONS,
    SUBDIVISION_NAMES,
    US_STATES,
    fold,
)
from catalog.places import countries_of, parse_place

SAID_CODES = {
    "us": "US",
    "usa": "US",
    "uk": "GB",
    "uae": "AE",
}  # others ("IT", "DE") are words as often as countries
LONGEST_NAME = 5  # words in the longest name looked for in a sentence
WORLD = "Worldwide"
_WORLD_WORDS = frozenset(word for word, region in REGION_WORDS.items() if region == WORLD)
_TOKEN = re.compile(r"[^\W_]+(?:[.'\u2019&][^\W_]+){0,8}\.?")
# What makes a state's name a city's: "New York City", "Washington, DC".
_CITY_AFTER = re.compile(r"\s[Cc]ity\b|,?\sD\.?C\b")
_STATE_AFTER_COMMA = re.compile(r",\s{0,3}([A-Z]{2})\b")
# "TX, FL, and NC"; whether the codes are states or countries is decided by all of them together.
_CODES = re.compile(r"\b[A-Z]{2}(?:(?:\s?[,/|;&]\s?(?:(?:and|or)\s)?|\s(?:and|or)\s)[A-Z]{2}\b)+")
_STATES_AHEAD = re.compile(r"\b(?:states?|provinces?)\b[^.;]{0,20}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scope:
    """What one name covers: countries, or within one country a subdivision or a city.

    `region` is a subdivision as `PlaceFact.region` has it, `city` is folded. No countries: not known.
    """

    label: str
    countries: frozenset[str] = frozenset()
    region: str | None = None
    city: str | None = None

    @property
    def is_wide(self) -> bool:
        return self.region is None and self.city is None


@lru_cache(maxsize=4096)
def scopes_of(name: str) -> tuple[Scope, ...]:
    """What `name` may stand for: mostly one scope, several for "Georgia" and "New York"."""
    if coded := _code(name):
        return (coded,)
    key = fold(name)
    found = (*_wide(name, key), *_city_of_that_name(name, key))
    if found:
        return found
    places = parse_place(name)
    return tuple(
        Scope(
            name, countries_of(place), None if place.region in REGIONS else place.region, _folded(place.city)
        )
        for place in places
    ) or (Scope(name),)


def is_country_or_region(name: str) -> bool:
    return any(scope.countries and scope.city is None for scope in scopes_of(name))


def label_of(name: str) -> str:
    """`name` as a person reads it: a code becomes the name of its country or state."""
    coded = _code(name)
    return coded.label if coded else name


def _folded(city: str | None) -> str | None:
    return fold(city) if city else None


def _code(name: str) -> Scope | None:
    """A code alone: "DE" is a country, "TX" a state because no country has it, "US-CA" says both."""
    upper = name.strip().upper()
    if len(upper) == 2 and (country := country_codes().get(upper)):
        return Scope(country_name(country), frozenset({country}))
    state = upper[3:] if upper[:3] in ("US-", "US ") else upper
    return _state(state) if state in US_STATES else None


def _state(code: str) -> Scope:
    return Scope(US_STATES[code], frozenset({"US"}), region=code)


def _wide(name: str, key: str) -> Iterator[Scope]:
    """Regions of the world, countries and subdivisions of that name."""
    if region := REGION_WORDS.get(key):
        yield Scope(name, REGIONS[region])
    elif country := country_names().get(key):
        yield Scope(name, frozenset({country}))
    for country, region in SUBDIVISION_NAMES.get(key, ()):
        yield Scope(name, frozenset({country}), region=region)


def _city_of_that_name(name: str, key: str) -> Iterator[Scope]:
    """The city that shares its state's name: "New York" is met by either."""
    if key in CITY_ALIASES:
        country, region, city = CITY_ALIASES[key]
        yield Scope(name, frozenset({country}), region or None, fold(city))
    elif key == "washington":
        yield Scope(name, frozenset({"US"}), "DC", key)


def scopes_in(text: str) -> list[Scope]:
    """Regions, countries and subdivisions that a sentence or a location names; cities are not looked for.

    A word for the whole world counts only where nothing narrower is named.
    """
    found, text = _coded_runs(text)
    tokens = list(_TOKEN.finditer(text))
    at = 0
    while at < len(tokens):
        for size in range(min(LONGEST_NAME, len(tokens) - at), 0, -1):
            end = tokens[at + size - 1].end()
            is_city = _CITY_AFTER.match(text, end)
            if not is_city and (scopes := _named(text[tokens[at].start() : end].rstrip(".,"))):
                found += scopes
                at += size - 1
                break
        at += 1
    found += [_state(match[1]) for match in _STATE_AFTER_COMMA.finditer(text) if match[1] in US_STATES]
    return [scope for scope in found if fold(scope.label) not in _WORLD_WORDS] or found


def _coded_runs(text: str) -> tuple[list[Scope], str]:
    """What runs of codes name, and the text with spaces in the place of those runs."""
    found: list[Scope] = []

    def take(match: re.Match[str]) -> str:
        codes = re.findall("[A-Z]{2}", match[0])
        is_states = bool(_STATES_AHEAD.search(text[: match.start()]))
        scopes = _of_codes(codes, is_states=is_states, is_choice="," not in match[0])
        found.extend(scopes)
        return " " * len(match[0]) if scopes else match[0]

    return found, _CODES.sub(take, text)


def _of_codes(codes: list[str], *, is_states: bool, is_choice: bool) -> list[Scope]:
    """In "CA, NY, WA" one code that no country has makes states of all; "US, UK, CA" are countries."""
    countries = country_codes()
    is_subdivision = is_states or any(code not in countries for code in codes)
    if is_subdivision and all(code in US_STATES for code in codes):
        return [_state(code) for code in codes]
    if is_subdivision and all(code in CANADIAN_PROVINCES for code in codes):
        return [Scope(code, frozenset({"CA"}), region=code) for code in codes]
    said = [code for code in codes if code.lower() in SAID_CODES]
    is_state = not is_choice and any(code in US_STATES for code in codes)  # "US, CA" is California
    if said and (len(said) > 1 or not is_state) and all(code in countries for code in codes):
        return [Scope(country_name(countries[code]), frozenset({countries[code]})) for code in codes]
    return []


def _named(written: str) -> list[Scope]:
    """Lower case is never a name ("join us"), and a name of three letters is one in capitals alone ("US")."""
    key = fold(written)
    if key in _WORLD_WORDS and (key != "global" or written[0].isupper()):
        return [Scope(written, REGIONS[WORLD])]
    if written[0].islower() or (len(key) <= 3 and not written.isupper()):
        return []
    if key in SAID_CODES:
        return [Scope(written, frozenset({SAID_CODES[key]}))]
    return list(_wide(written, key))
