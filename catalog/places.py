"""Reads the places that postings write: "US, CA, Santa Clara", "Remote - UK", "Berlin or München (hybrid)".

Pure. What a text does not settle stays None, with the reason in `hint` (contract A9): "Ontario, CA" is in
California or in Canada, "Cambridge" in one of four countries, "2 Locations" nowhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from catalog.gazetteer import city_alone, country_name, country_names
from catalog.place_grammar import Spot, read_spots
from catalog.place_tables import (
    CITY_ALIASES,
    FOREIGN_PROVINCES,
    REGION_WORDS,
    REGIONS,
    SUBDIVISION_CODES,
    SUBDIVISION_NAMES,
    fold,
)
from catalog.place_words import word_named
from catalog.work_mode import WorkMode, strip_work_mode, work_mode_hint

__all__ = [
    "ParsedPlace",
    "WorkMode",
    "countries_of",
    "country_name",
    "parse_place",
    "split_exclusions",
    "work_mode_hint",
]

_MAX_CHARS: Final = 4_000  # the longest honest list seen has 60 places; past this it is somebody's essay
_BRACKETED: Final = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_MARK: Final = re.compile("\x00(\\d+)\x00")
_HARD: Final = re.compile(r"\s*[;|•·]\s*")
# "OR" in capitals is Oregon
_SOFT: Final = re.compile(
    r"(\s*,?\s+(?:and/or|[Oo]r|[Aa]nd|AND|oder|und|ou|et|o|e|y|&|\+)\s+|\s*(?<!\bn)/(?!a\b)\s*|(?<=\w)&(?=\w))"
)
# What leaves places out, up to the end of its part: "Worldwide (except US)", "Remote outside the EU".
_EXCLUSION: Final = re.compile(
    r"(?:\b(?i:except(?:ing)?(?: for)?|exclud(?:ing|es?)|excl\.?|(?<=where )but|but not|other than"
    r"|with the exception of|not (?:in|from|including|available (?:in|to)|hiring in|open to)"
    r"|outside(?: of)?)\b"
    r"|\b(?:not|[Nn]o)(?= [A-Z]{2}\b)|\b(?:[Nn]on|[Ee]x)-(?=[A-Z]))([^()\[\];|•·]*)"
)
_PROVINCE_AFTER_SLASH: Final = re.compile(r"\b([^\W\d_][^,;|/()]{2,40}?)\s?/\s?([A-Z]{2})\b")
_RUN_TOGETHER: Final = re.compile(r"(,\s*([A-Z]{2}))\s+(?=([A-Z][\w.]*))")
_TIME_ZONES: Final = re.compile(r"\b(?:[ECMP][SD]?T/)+[ECMP][SD]?T\b|\b[ECMP][SD]T\b|\bET\b")
_OPTIONAL: Final = re.compile(r"friendly|possible|optional|allowed|eligible|\bok(?:ay)?\b", re.IGNORECASE)
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_VEILED: Final = str.maketrans(" &/", "\x01\x02\x03")
_UNVEILED: Final = str.maketrans("\x01\x02\x03", " &/")
_PLACELESS: Final = frozenset({"n/a", "na", "tbd", "tba", "none", "-"})


@dataclass(frozen=True, slots=True)
class ParsedPlace:
    """One place of a posting. `country` is ISO 3166-1 alpha-2.

    `region` is a state's postal code (US, Canada, Australia, India), another subdivision's name, or, with no
    country, a key of `place_tables.REGIONS` ("EMEA"). `remote` says that the work is done from anywhere in
    the place. `raw` is the part of the text that it was read from, `hint` what stood beside it and is no
    place ("East Coast/ET"), or why it is ambiguous.
    """

    raw: str
    country: str | None
    region: str | None
    city: str | None
    remote: bool
    hint: str


class _Piece(NamedTuple):
    """What stands between two separators that part places: "Remote in the United States"."""

    text: str
    joiner: str  # to the piece before: "or", "/", … or "" for a separator that parts lists
    spots: list[Spot]
    mode: WorkMode
    hints: list[str]

    @property
    def is_bare(self) -> bool:
        """Whether it says "remote" and no place."""
        return self.mode == "yes" and not self.spots

    @property
    def has_city(self) -> bool:
        return any(spot.city for spot in self.spots)


def countries_of(place: ParsedPlace) -> frozenset[str]:
    """The countries `place` lies in or covers; empty when that is not known."""
    if place.country:
        return frozenset({place.country})
    return REGIONS.get(place.region or "", frozenset())


@lru_cache(maxsize=4096)
def parse_place(raw: str) -> tuple[ParsedPlace, ...]:
    """The places that `raw` names, in its order and each once; empty when it names none ("2 Locations").

    Every part is a place of its own: "Berlin; München or remote in the EU" are three.
    """
    text = _without_symbols(raw if len(raw) <= _MAX_CHARS else raw[:_MAX_CHARS].rpartition(";")[0])
    if text.casefold() in _PLACELESS:
        return ()
    pieces = _with_shared_remoteness(_with_settled_names(_pieces(text)))
    aside = [hint for piece in pieces if not piece.spots for hint in piece.hints]
    places: dict[tuple[object, ...], ParsedPlace] = {}
    for piece in pieces:
        for spot in piece.spots:
            place = _place(piece, spot, aside)
            places.setdefault((place.country, place.region, place.city or spot.hint, place.remote), place)
    return tuple(places.values())


def split_exclusions(raw: str) -> tuple[str, str]:
    """`raw` without the places it leaves out, and those: "Remote - US (excluding CA)" → "CA"."""
    kept = " ".join(_EXCLUSION.sub(" ", raw).split())
    return kept, "; ".join(match[1].strip() for match in _EXCLUSION.finditer(raw))


def _place(piece: _Piece, spot: Spot, aside: Sequence[str]) -> ParsedPlace:
    hints = [spot.hint, *piece.hints, *aside]
    return ParsedPlace(
        raw=piece.text if len(piece.spots) == 1 else spot.text,
        country=spot.country,
        region=spot.region,
        city=spot.city,
        remote=piece.mode == "yes",
        hint="; ".join(dict.fromkeys(hint for hint in hints if any(map(str.isalpha, hint)))),
    )


def _without_symbols(raw: str) -> str:
    """`raw` in single spaces, flags written out, other pictures and control characters dropped."""
    named = _FLAG.sub(lambda flag: f" {country_name(_flag_code(flag[0]))}, ", raw.replace("\n", ";"))
    kept = ("" if unicodedata.category(char) in ("So", "Cc", "Cf") else char for char in named)
    return " ".join("".join(kept).replace("\t", ";").split())


def _flag_code(flag: str) -> str:
    return "".join(chr(ord(letter) - ord("\U0001f1e6") + ord("A")) for letter in flag)


def _pieces(text: str) -> list[_Piece]:
    brackets: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        brackets.append(match[1].strip())
        return f" \x00{len(brackets) - 1}\x00 "

    text = _PROVINCE_AFTER_SLASH.sub(_joined_province, text)
    text = _RUN_TOGETHER.sub(_part_addresses, _BRACKETED.sub(set_aside, text))
    return [
        piece
        for part, joiner in _alternatives(text)
        if part.strip(" ,-")
        for piece in _read_piece(part, brackets, joiner)
    ]


def _alternatives(text: str) -> list[tuple[str, str]]:
    """The parts of `text`, each with the word that joins it to the one before.

    The "and" and "&" inside a place's name are veiled meanwhile: Trinidad and Tobago is one place.
    """
    veiled = _joined_names().sub(lambda match: match[0].translate(_VEILED), text)
    veiled = _EXCLUSION.sub(lambda match: match[0].translate(_VEILED), veiled)
    parts: list[tuple[str, str]] = []
    for hard in _HARD.split(veiled):
        soft = _SOFT.split(hard)
        parts += zip(soft[::2], ["", *(joiner.strip(" ,") for joiner in soft[1::2])], strict=True)
    return [(part.translate(_UNVEILED), joiner) for part, joiner in parts]


@cache
def _joined_names() -> re.Pattern[str]:
    names = {*country_names(), *REGION_WORDS, *SUBDIVISION_NAMES, *CITY_ALIASES}
    joined = sorted((name for name in names if re.search(r" and |&|/", name)), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, joined))})\b", re.IGNORECASE)


def _part_addresses(match: re.Match[str]) -> str:
    """Puts back the break that "Nashville, TN Philadelphia, PA" has lost between its two addresses."""
    following = word_named(match[3])
    is_state = any(country in ("US", "CA") for country, _ in SUBDIVISION_CODES.get(match[2], ()))
    goes_on = following.closes or match[3] in ("United", "Remote", "Hybrid", "Metro", "Area", "Office")
    return match[0] if goes_on or not is_state else f"{match[1]}; "


def _joined_province(match: re.Match[str]) -> str:
    """One place for "Curitiba/PR", which is a city and its province."""
    city = city_alone(match[1].rpartition(" - ")[2])
    is_one = bool(city) and match[2] in FOREIGN_PROVINCES.get(city.country if city else "", ())
    return f"{match[1]}, {match[2]}" if is_one else match[0]


def _read_piece(text: str, brackets: Sequence[str], joiner: str) -> list[_Piece]:
    inner = [brackets[int(number)] for number in _MARK.findall(text)]
    written = _MARK.sub(lambda match: f"({brackets[int(match[1])]})", text)
    written = re.sub(r"\s+(,|$)", r"\1", " ".join(written.split()))
    outer, left_out = _without_exclusion(_MARK.sub(" ", text))
    zones = _TIME_ZONES.findall(outer)
    outer, mode, said = strip_work_mode(_TIME_ZONES.sub("", outer))
    for content in inner:
        inner_mode = strip_work_mode(content)[1]
        mode = inner_mode if mode == "unknown" or inner_mode == "hybrid" else mode
    outer, hints = _with_brackets(outer, inner)
    found = [read_spots(part) for part, _ in _alternatives(outer)]
    spots = [spot for part, _ in found for spot in part]
    hints = [*hints, *left_out, *zones, *(word for _, unread in found for word in unread)]
    if not spots and "anywhere" in said.casefold():
        spots = [Spot(written, None, "Worldwide")]
    if not spots and _OPTIONAL.search(said):
        hints = [written]
    elif mode in ("hybrid", "no"):
        hints.insert(0, said)
    if mode == "yes" and sum(bool(spot.city) for spot in spots) > 1 and said in written.split(", "):
        # "New York, San Francisco, Remote" is a list of three
        return [_Piece(written, joiner, spots, "unknown", hints), _Piece(said, "", [], "yes", [])]
    return [_Piece(written, joiner, spots, mode, hints)]


def _without_exclusion(text: str) -> tuple[str, list[str]]:
    found = [match[0].strip() for match in _EXCLUSION.finditer(text)]
    return _EXCLUSION.sub(" ", text), found


def _with_brackets(outer: str, inner: Sequence[str]) -> tuple[str, list[str]]:
    """`outer` with what its brackets add to the place ("Berlin (Germany)"), and what they merely say."""
    hints: list[str] = []
    for content in inner:
        if _EXCLUSION.search(content):
            hints.append(content)
            continue
        named = strip_work_mode(_TIME_ZONES.sub("", content))[0].strip(" ,-/")
        if named and not outer.strip(" ,-:"):
            outer = named
        elif fold(f"{outer.strip()} ({named})") in CITY_ALIASES:
            outer = f"{outer.strip()} ({named})"
        elif named and word_named(named).closes:
            outer = f"{outer}, {named}"
        elif named or _TIME_ZONES.search(content):
            hints.append(content)
    return outer, hints


def _with_settled_names(pieces: list[_Piece]) -> list[_Piece]:
    """Pieces in which "CA" and "Georgia" are what their neighbours are: countries, or states."""
    spots = [spot for piece in pieces for spot in piece.spots]
    sure = [spot for spot in spots if not spot.either]
    are_states = all(spot.country in ("US", "CA") and spot.region for spot in sure)
    are_countries = all(spot.country and not spot.region for spot in sure)
    if not sure or any(spot.city for spot in sure) or not (are_states or are_countries):
        return pieces
    return [
        piece._replace(spots=[_settled(spot, as_state=are_states) for spot in piece.spots])
        for piece in pieces
    ]


def _settled(spot: Spot, *, as_state: bool) -> Spot:
    if not spot.either:
        return spot
    country, state = spot.either
    return Spot(spot.text, *state) if as_state else Spot(spot.text, country)


def _with_shared_remoteness(pieces: list[_Piece]) -> list[_Piece]:
    """Each piece with the "remote" that a neighbour says for it; a bare "Remote" becomes a place of its own.

    "Remote | United States" is one place, "Berlin / Remote" too; "Berlin; Remote" are two.
    """
    located = [piece for piece in pieces if piece.spots]
    bare = [piece for piece in pieces if piece.is_bare]
    if not located and any(piece.mode == "hybrid" for piece in pieces):
        return []
    if not located:
        return [piece._replace(spots=[Spot(piece.text)]) for piece in bare[:1]]
    is_slashed = len(located) == 1 and any(piece.joiner == "/" for piece in pieces)
    is_said_of_all = bool(bare) and (is_slashed or not any(piece.has_city for piece in located))
    is_wide = any(piece.mode == "yes" and not piece.has_city for piece in located)
    shared: list[_Piece] = []
    for piece in pieces:
        if piece.is_bare:
            is_place = not is_said_of_all and not _OPTIONAL.search(piece.text)
            shared.append(piece._replace(spots=[Spot(piece.text)]) if is_place else piece)
            continue
        before = shared[-1] if shared and piece.joiner else None
        goes_on = bool(before and before.mode == "yes" and before.has_city and piece.has_city)
        is_shared = is_said_of_all or goes_on or (is_wide and not piece.has_city)
        shared.append(piece._replace(mode="yes") if is_shared and piece.mode == "unknown" else piece)
    return shared
