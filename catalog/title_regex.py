"""Regular expressions over titles, matched in a time that grows with the pattern and the title, not faster.

Python's matcher tries one way after the other, and a short pattern can have millions of them. Here all ways
are followed at once: a set of places in the title, one bit each, goes through the pattern's parts, each once.
Whether anything matches comes out the same. What would need the ways one by one is refused: back references,
possessive and atomic parts. Only single characters are repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOST_NESTED = 50
_NOT_READ = re.compile(r"\(\?(?!:|=|!|<=|<!|P<)")
_BACK_REFERENCE = re.compile(r"\\[1-9]|\(\?P=")
_ESCAPE_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_SIGN_IN_CLASS = re.compile(r"\\.|[\[&~|]", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<edge>\\[AbBZ]|[$^])"
    r"|(?P<look>\(\?<?[=!])|(?P<open>\((?:\?:|\?P<\w+>)?)|(?P<close>\))|(?P<other>\|)"
    r"|(?P<character>\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|0[0-7]{0,2}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\])",
    re.DOTALL,
)
_REPEATED = re.compile(
    r"(?:(?P<sign>[*+?])|\{(?P<exactly>[0-9]+)\}|\{(?P<least>[0-9]*),(?P<most>[0-9]*)\})(?P<how>[?+]?)"
)
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class UnsupportedPattern(ValueError):
    """The text is no regular expression, or one of a kind that is not followed; the message says why."""


class Title:
    """A title, and where in it each part of a pattern stands, as bits: bit 0 is the first character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.everywhere = (1 << len(text) + 1) - 1
        self._places: dict[re.Pattern[str], int] = {}

    def places(self, part: re.Pattern[str]) -> int:
        """Where a part of at most one character matches."""
        found = self._places.get(part)
        if found is None:
            found = 0
            for match in part.finditer(self.text):
                found |= 1 << match.start()
            self._places[part] = found
        return found


class _Part:
    """A part of a pattern. What it does to a set of places, forwards or, for a look ahead, backwards."""

    __slots__ = ()

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        """Where matches that begin at these places end; `back`: where those that end there begin."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Character(_Part):
    kind: re.Pattern[str]
    least: int = 1
    most: int | None = 1

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        kind = title.places(self.kind)
        for _ in range(self.least):
            if not places:
                return 0
            places = _step(places, kind, back)
        if self.most is None:
            return _steps(places, kind, len(title.text), back)
        fresh, reached = places, places
        for _ in range(self.most - self.least):
            if not (fresh := _step(fresh, kind, back)):
                break
            reached |= fresh
        return reached


def _step(places: int, kind: int, back: bool) -> int:
    return (places >> 1) & kind if back else (places & kind) << 1


def _steps(places: int, kind: int, most: int, back: bool) -> int:
    """Any number of steps, in twice as long strides each time."""
    way = kind if back else kind << 1
    stride = 1
    while stride <= most:
        places |= way & (places >> stride if back else places << stride)
        way &= way >> stride if back else way << stride
        stride *= 2
    return places


@dataclass(frozen=True, slots=True)
class _Edge(_Part):
    kind: re.Pattern[str]

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        return places & title.places(self.kind)


@dataclass(frozen=True, slots=True)
class _Row(_Part):
    parts: tuple[_Part, ...]

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        for part in reversed(self.parts) if back else self.parts:
            if not places:
                break
            places = part.reach(title, places, back=back)
        return places


@dataclass(frozen=True, slots=True)
class _AnyOf(_Part):
    parts: tuple[_Part, ...]

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        reached = 0
        for part in self.parts:
            reached |= part.reach(title, places, back=back)
        return reached


@dataclass(frozen=True, slots=True)
class _Look(_Part):
    part: _Part
    is_ahead: bool
    is_wanted: bool

    def reach(self, title: Title, places: int, *, back: bool = False) -> int:
        seen = self.part.reach(title, title.everywhere, back=self.is_ahead)
        return places & (seen if self.is_wanted else ~seen)


class TitleRegex:
    """A regular expression, searched in titles; case never counts. Raises UnsupportedPattern."""

    def __init__(self, source: str) -> None:
        source = _ESCAPE_OR_CLASS.sub(_spelled_out, source)
        _check(source)
        self._whole = _Reader(source).pattern()

    def is_in(self, title: str) -> bool:
        taken_apart = Title(title)
        return self._whole.reach(taken_apart, taken_apart.everywhere) != 0


def _spelled_out(part: re.Match[str]) -> str:
    """A class with its signs escaped that a later Python may read otherwise, and warns of: "[[a]"."""
    text = part[0]
    if text[0] == "\\":
        return text
    return "[" + _SIGN_IN_CLASS.sub(lambda sign: sign[0] if sign[0][0] == "\\" else f"\\{sign[0]}", text[1:])


def _check(source: str) -> None:
    if _BACK_REFERENCE.search(source):
        raise UnsupportedPattern("back references are not supported")
    if _NOT_READ.search(_ESCAPE_OR_CLASS.sub("x", source)):
        raise UnsupportedPattern("groups of this kind are not supported")
    try:
        re.compile(source, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as fault:
        raise UnsupportedPattern(f"not a regular expression: {fault}") from None


class _Reader:
    """Takes apart a pattern that Python accepts: what is none was refused before."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._nested = 0

    def pattern(self) -> _Part:
        """Up to the end of the group, or of the whole."""
        if self._nested > _MOST_NESTED:
            raise UnsupportedPattern(f"groups are nested more than {_MOST_NESTED} deep")
        branches: list[_Part] = []
        row: list[_Part] = []
        while token := _TOKEN.match(self._source, self._at):
            self._at = token.end()
            if token["close"]:
                break
            if token["other"]:
                branches.append(_row(row))
                row = []
            else:
                row.append(self._part(token))
        branches.append(_row(row))
        return branches[0] if len(branches) == 1 else _AnyOf(tuple(branches))

    def _part(self, token: re.Match[str]) -> _Part:
        text = token[0]
        if token["edge"]:
            return _Edge(re.compile(text))
        if token["character"]:
            least, most = self._repetition() or (1, 1)
            return _Character(re.compile(text, re.IGNORECASE), least, most)
        self._nested += 1
        part = self.pattern()
        self._nested -= 1
        if token["look"]:
            part = _Look(part, is_ahead="<" not in text, is_wanted=text.endswith("="))
        repeated = self._repetition()
        if repeated is None:
            return part
        if repeated != (0, 1):
            raise UnsupportedPattern("a repeated group could take very long; repeat single characters")
        return _AnyOf((part, _Row(())))

    def _repetition(self) -> tuple[int, int | None] | None:
        token = _REPEATED.match(self._source, self._at)
        if token is None:
            return None
        self._at = token.end()
        if token["how"] == "+":
            raise UnsupportedPattern("repetitions that give nothing back are not supported")
        if token["sign"]:
            return _SIGNS[token["sign"]]
        if token["exactly"]:
            return int(token["exactly"]), int(token["exactly"])
        return int(token["least"] or 0), int(token["most"]) if token["most"] else None


def _row(parts: list[_Part]) -> _Part:
    return parts[0] if len(parts) == 1 else _Row(tuple(parts))
