"""Reads the places in a comma's worth of text: which word is a city, which a state, which a country. Pure.

A word may be several things ("CA" is California and Canada, "Georgia" a state and a country). Every reading
of a run of words, small to large or large to small, is scored by how much of it the gazetteer confirms; the
best one wins, and a tie between countries stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from catalog.gazetteer import City, city_alone, city_within, is_small_town
from catalog.place_tables import FOREIGN_PROVINCES, REGIONS, SUBDIVISION_CODES
from catalog.place_words import Word, is_city_name, words_of

_LONGEST_RUN: Final = 6  # street, district, city, region, country, and one to spare
_POSTAL: Final = frozenset({"US", "CA"})  # where "City, ST" is an address, whatever else the name may be
_CITY_LIKE: Final = frozenset({"new york", "washington", "LA"})  # states that stand for a city in a list
_RIVALS_A_STATE: Final = 500_000  # inhabitants of a city that may be meant as well as the state of its name
_PARENTS: Final = {"HK": "CN", "MO": "CN"}


class Spot(NamedTuple):
    """A place, as read. `either` is what "CA" or "Georgia" alone may be: a country, or a (country, state)."""

    text: str
    country: str | None = None
    region: str | None = None
    city: str | None = None
    hint: str = ""
    either: tuple[str, tuple[str, str]] | None = None


class _Reading(NamedTuple):
    score: int
    spots: list[Spot]


def read_spots(text: str) -> tuple[list[Spot], list[str]]:
    """The places in `text`, and its words that name none. `text` has no parentheses and no "or"."""
    words = words_of(text)
    if _is_list_of_countries(words):
        return [Spot(word.text, min(word.countries)) for word in words], []
    spots: list[Spot] = []
    unread: list[str] = []
    start = 0
    while start < len(words):
        run, found = _next_run(words, start)
        start += run
        for spot in found:
            covers_last = spot.region in REGIONS and spots and spots[-1].city  # "London, Europe"
            (unread.append(spot.text) if covers_last else spots.append(spot))
        if not found:
            unread.append(words[start - 1].text)
    if not spots and unread and is_city_name(unread[0]):
        name = unread.pop(0)
        spots = [Spot(name, city=name)]
    return _without_parents(spots), unread


def _is_list_of_countries(words: Sequence[Word]) -> bool:
    """In "US, UK, CA", among several countries' codes, a code that is also a state's is a country's."""
    sure = [word for word in words if word.is_code and word.countries and not word.subdivisions]
    return len(words) > 2 and len(sure) > 1 and all(word.is_code and word.countries for word in words)


def _next_run(words: Sequence[Word], start: int) -> tuple[int, list[Spot]]:
    """How many words from `start` belong together, and the places they name (none: an unknown word)."""
    for length in range(min(_LONGEST_RUN, len(words) - start), 1, -1):
        run = words[start : start + length]
        if spots := _best(run):
            return length, spots
    if start + 1 < len(words) and (spot := _with_a_foreign_code(*words[start : start + 2])):
        return 2, [spot]
    spot = _alone(words[start])
    return 1, [spot] if spot else []


def _with_a_foreign_code(word: Word, code: Word) -> Spot | None:
    """The city of "Catania, CT" and "Bern, BE", whose code is a province there and a state or country abroad.

    Where no province explains the state's code, the city may be a small namesake: it stays open.
    """
    city = None if word.closes or word.is_code or word.is_soft else city_alone(word.text)
    is_sure = code.text in ("US", "UK")  # "London, US" is somebody's list
    if not city or code.cities or not code.closes or not code.is_code or len(code.text) != 2 or is_sure:
        return None
    if city.country in code.countries or city.country in dict(code.subdivisions):
        return None
    is_state = any(country in _POSTAL for country, _ in code.subdivisions)
    text = f"{word.text}, {code.text}"
    if is_state and code.text not in FOREIGN_PROVINCES.get(city.country, ()):
        return Spot(text, city=word.text, hint=f"ambiguous: {text}")
    return Spot(text, city.country, city.region or None, city.name, hint=code.text)


def _best(run: Sequence[Word]) -> list[Spot]:
    """The places of the best reading of the whole run; empty when the words do not belong together."""
    readings = [*_readings(run), *_readings(run[::-1])]
    if not readings:
        return []
    text = ", ".join(word.text for word in run)
    top = max(reading.score for reading in readings)
    spots = [reading.spots for reading in readings if reading.score == top]
    fewest = min(map(len, spots))  # "Seattle, Washington, USA" is one place before it is two cities
    spots = [found for found in spots if len(found) == fewest]
    with_city = [found for found in spots if found[0].city]
    countries = {found[0].country for found in spots}
    if len(countries) > 1 and len(with_city) < len(spots):
        return [Spot(text, hint=f"ambiguous: {text}")]
    # Richmond, CA: "City, ST" is how an American address is written
    chosen = min(with_city or spots, key=lambda found: found[0].country != "US")
    return [spot._replace(text=text if len(chosen) == 1 else spot.text) for spot in chosen]


def _readings(run: Sequence[Word]) -> Iterator[_Reading]:
    """Readings of `run` as written from small to large."""
    for country, region, used in _closings(run):
        settled = _settle(run[:-used], country, region, run[-1])
        if settled:
            yield _Reading(2 * used + settled.score, settled.spots)


def _closings(run: Sequence[Word]) -> Iterator[tuple[str, str | None, int]]:
    """What the end of `run` may be: (country, region or None, how many words say so)."""
    last, *others = reversed(run)
    ends = [(country, None) for country in last.countries] + list(last.subdivisions)
    for country, region in ends:
        yield country, region, 1
        for used, word in enumerate(others, start=2):
            states = [state for home, state in word.subdivisions if home == country]
            if region is None and states:
                region = states[0]
            elif country not in word.countries and region not in states:
                break
            yield country, region, used


def _settle(rest: Sequence[Word], country: str, region: str | None, closer: Word) -> _Reading | None:
    """The places that `rest` names inside the country and region, or None if it cannot belong there."""
    if not rest:
        return _Reading(0, [Spot("", country, region)])
    known = [city_within(word.cities, country, region) for word in rest]
    if all(known):
        cities = {city.name: city for city in known if city}
        return _Reading(2 * len(rest), [_inside(city, country, region) for city in cities.values()])
    unknown = [word for word, city in zip(rest, known, strict=True) if not city]
    # "Milan, MI, Italy": a code after the city may be another country's way to write its provinces
    if any(word.is_named and not (word.is_code and known[0]) for word in unknown):
        return _elsewhere(rest, country, region, closer)
    if closer.is_soft:
        return None
    names = [word.text for word in unknown]
    if known[0]:  # "London, Greater Anglia, UK": the unknown word is the region
        spot = _inside(known[0], country, region)
        return _Reading(3, [spot if region else spot._replace(region=names[0])])
    if last := known[-1]:
        return _Reading(2, [_inside(last, country, region)._replace(hint=", ".join(names))])
    return _Reading(0, [_unknown_city(names, country, region)])


def _inside(city: City, country: str, region: str | None) -> Spot:
    return Spot(city.name, country, region or city.region or None, city.name)


def _unknown_city(names: Sequence[str], country: str, region: str | None) -> Spot:
    """A town too small for the gazetteer, as written; what cannot be a town's name is a hint."""
    towns = [name for name in names if is_city_name(name)]
    hints = [name for name in names if not is_city_name(name)]
    if len(towns) > 1 and not region:
        region, hints = towns[1], [*hints, *towns[2:]]
    return Spot(names[0], country, region, towns[0] if towns else None, ", ".join(hints))


def _elsewhere(rest: Sequence[Word], country: str, region: str | None, closer: Word) -> _Reading | None:
    """A name known from another place: here a namesake too small to be listed ("Wyoming, MN"), or None."""
    word = rest[0]
    if len(rest) > 1 or word.is_code or word.is_soft or closer.is_soft or word.area:
        return None
    if {closer.text, closer.key} & _CITY_LIKE:  # "Boston, New York" are two cities
        return None
    if closer.is_code:
        is_address = country in _POSTAL and bool(region)
        is_rivalled = bool(word.countries and closer.countries) or _is_known_abroad(word)
        allowed = is_address and (not is_rivalled or is_small_town(word.text, country, region or ""))
    else:
        allowed = not word.closes and ((country in _POSTAL and bool(region)) or not city_alone(word.text))
    return _Reading(-1, [Spot(word.text, country, region, word.text)]) if allowed else None


def _is_known_abroad(word: Word) -> bool:
    """Whether the name alone means a city that is neither in the US nor in Canada."""
    city = None if word.closes else city_alone(word.text)
    return bool(city and city.country not in _POSTAL)


def _alone(word: Word) -> Spot | None:
    """The place `word` names with no other word to help, or None for a word that names none."""
    if word.area:
        return Spot(word.text, None, word.area)
    if word.is_code:
        return _code_alone(word)
    if word.is_soft:
        return None
    city = city_alone(word.text)
    if word.countries:
        country = min(word.countries)
        if word.subdivisions:
            hint = f"ambiguous: {word.text} is a country and a state"
            return Spot(word.text, hint=hint, either=(country, word.subdivisions[0]))
        return Spot(word.text, country)
    if word.subdivisions:
        return _subdivision_alone(word, city)
    if city:
        return Spot(word.text, city.country, city.region or None, city.name)
    if word.cities:
        return Spot(word.text, None, None, word.text, hint="ambiguous: several places of this name")
    return None


def _subdivision_alone(word: Word, city: City | None) -> Spot:
    country, region = word.subdivisions[0]
    if not city or city.population < _RIVALS_A_STATE or (city.country != country and country in _POSTAL):
        return Spot(word.text, country, region)
    if (city.country, city.region) == (country, region):
        return Spot(word.text, country, region, city.name)  # New York
    hint = f"ambiguous: {word.text} is a state and a city"
    return Spot(word.text, country if city.country == country else None, hint=hint)


def _code_alone(word: Word) -> Spot | None:
    if word.cities:  # SF, LA, DC
        city = word.cities[0]
        return Spot(word.text, city.country, city.region, city.name)
    states = [pair for pair in SUBDIVISION_CODES.get(word.text, ()) if pair[0] in _POSTAL or len(pair[1]) > 2]
    country = min(word.countries, default=None)
    if states and country:
        return Spot(word.text, hint=f"ambiguous: {word.text}", either=(country, states[0]))
    if states:
        return Spot(word.text, *states[0])
    return Spot(word.text, country) if country else None


def _without_parents(spots: list[Spot]) -> list[Spot]:
    """One place for "Hong Kong, China"."""
    kept: list[Spot] = []
    for spot in spots:
        parent = _PARENTS.get(kept[-1].country or "") if kept else None
        if parent is None or (spot.country, spot.region, spot.city) != (parent, None, None):
            kept.append(spot)
    return kept
