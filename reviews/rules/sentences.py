"""A posting's text as sentences, each a verbatim piece of it, with the section it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Section = Literal["required", "preferred", "other"]

# Bounds of what patterns look at, for texts are hostile; the longest real ones have 30,000 characters.
MAX_TEXT = 50_000
MAX_SENTENCES = 2_000
MAX_SENTENCE = 600  # characters
MAX_HEADING = 70

_BULLET = re.compile(r"^(?:[\s•·●◦▪■‣\u2043∙*\u2013\u2014>✓✔☑➤→-]|o(?=\s)){0,8}")
# A stop that ends a sentence is followed by space and something that starts one. Lists run into one line are
# parted at their marks.
_STOP = re.compile(
    r"[.!?\u3002\uff01\uff1f…]{1,3}[\"'”\u2019)\]]?(?:\s+(?=[\"'“\u2018(\[]?[^\W_a-z])"
    r"|(?<=[\u3002\uff01\uff1f]))|\s+[*•·●▪■‣]\s+|(?<![\d\s])\s+[-\u2013]\s+(?=[A-Z][a-z]|\d{1,2}\+)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|incl|excl|approx|min|max|ca|vs|no|nr|sr|jr|snr|dr|mr|mrs|ms|prof|st|inc|ltd"
    r"|co|corp|dept|est|yrs?|exp|z\.b|d\.h|u\.a|bzw|ggf|inkl|gem|abs|art|p\.ex|u\.s|u\.k|u\.s\.a|e\.u"
    r"|ph\.d|b\.s|b\.a|m\.s)|(?:^|[\s(])[A-Za-z])\.$",
    re.IGNORECASE,
)
_PREFERRED = re.compile(
    r"\b(?:preferred|preferences?|nice[- ]to[- ]haves?|bonus(?: points)?|pluses|a plus|desired|desirable"
    r"|ideally|good to have|would be (?:great|nice)|extra (?:credit|points)|optional|wünschenswert"
    r"|von vorteil|un plus|se valora|deseables?|atouts?)\b",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"\b(?:requirements?|required|qualifications?|must[- ]haves?"
    r"|what you(?:['\u2019]ll)? (?:need|bring|have)|you have|who you are|about you|skills|experience"
    r"|minimum|basic|your profile|we(?:['\u2019]re| are) looking for|ideal candidate|profil"
    r"|anforderungen|qualifikation|das bringst du mit|requisitos|vos? compétences|ton profil"
    r"|votre profil)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` stands verbatim in the posting; `section` is what the last heading above it announced.

    `low` is the text in lower case, for a cheap look before a pattern is tried.
    """

    text: str
    section: Section
    low: str

    def has_any(self, words: Iterable[str]) -> bool:
        return any(word in self.low for word in words)


@lru_cache(maxsize=4)  # every rule of one review reads the same text
def sentences_of(text: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    section: Section = "other"
    for line in text[:MAX_TEXT].splitlines():
        bare = _BULLET.sub("", line, count=1).strip()
        if not bare:
            continue
        for piece in _split(bare):
            section = _heading(piece) or section
            found.append(Sentence(piece, section, piece.casefold()))
        if len(found) >= MAX_SENTENCES:
            break
    return tuple(found[:MAX_SENTENCES])


def _heading(line: str) -> Section | None:
    """The section a line opens, None for a line that is no heading."""
    if len(line) > MAX_HEADING or not (line.endswith(":") or (line[-1].isalpha() and len(line.split()) <= 8)):
        return None
    if any(character.isdigit() for character in line):
        return None  # "5 years of experience required" demands, it does not announce
    if _PREFERRED.search(line):
        return "preferred"
    if _REQUIRED.search(line):
        return "required"
    return "other" if line.endswith(":") else None


def _split(line: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for stop in _STOP.finditer(line):
        if _ABBREVIATION.search(line, max(start, stop.start() - 12), stop.start() + 1):
            continue
        pieces.append(line[start : stop.end()].rstrip(" *•·●▪■‣-\u2013").strip())
        start = stop.end()
    pieces.append(line[start:].strip())
    return [part for piece in pieces if piece for part in _shortened(piece)]


def _shortened(piece: str) -> list[str]:
    """Cuts at a space what is longer than a sentence should be."""
    parts: list[str] = []
    while len(piece) > MAX_SENTENCE:
        cut = piece.rfind(" ", MAX_SENTENCE // 2, MAX_SENTENCE)
        cut = cut if cut > 0 else MAX_SENTENCE
        parts.append(piece[:cut].strip())
        piece = piece[cut:].strip()
    return [part for part in [*parts, piece] if part]
