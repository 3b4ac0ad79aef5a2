"""Two versions of a posting's text, sentence by sentence: what went and what came. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_PIECE = re.compile(r"[^\n.!?]+[.!?]*\s*|[\n.!?]+\s*")
MOST_PIECES = 4_000  # the comparison's time grows with the square


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Literal["same", "gone", "new"]
    text: str


def text_diff(before: str, after: str) -> Iterator[Piece]:
    """Pieces in the order in which a reader meets them; what was replaced stands before what replaces it."""
    old, new = _PIECE.findall(before)[:MOST_PIECES], _PIECE.findall(after)[:MOST_PIECES]
    for verb, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if verb == "equal":
            yield Piece("same", "".join(old[a:b]))
            continue
        if a < b:
            yield Piece("gone", "".join(old[a:b]))
        if c < d:
            yield Piece("new", "".join(new[c:d]))
