"""Whether a page says that its posting is closed: by a sentence about the posting that says nothing else,
in a place where such notices stand. Pure.

A page proves nothing by being gone, moved, blocked or empty (A3). What counts is a whole sentence whose
subject is this job, position or offer ("Unfortunately, this position has been filled."), in title, first
heading, the beginning of the page, or anywhere on a page that shows little else. A sentence that goes on
says something else: a condition, a date to come, who may not apply, another place, another posting. So
nothing is searched for inside sentences; the languages are in closed_languages.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from catalog.closed_languages import CLOSED

BEGINNING: Final = 900  # characters in which a notice above the posting stands
SHORT_PAGE: Final = 1_800  # characters of a page that has nothing but its notice
_READ: Final = 20_000  # characters in which a notice is looked for at all
# Bounds what a pattern meets: each sentence costs a constant, the text its length.
_LONGEST_SENTENCE: Final = 260
_SENTENCES_OF_A_LINE: Final = 3  # later ones are a paragraph's

_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_APOSTROPHES: Final = re.compile(r"[\u2018\u2019\u02bc\u00b4`]")
# Letters that are no base letter with a mark, as they are written without them.
_LETTERS: Final = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "\u0131": "i"})
_ENDS: Final = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_DIVIDERS: Final = re.compile(r"[|\u00b7\u2022]|\s[-\u2013\u2014]\s")  # of the parts of a title
_SIGNS: Final = (
    " \t*\u2022\u00b7\u26a0\ufe0f\u2716\u2715\u274c\u2757\u2139\u203c\U0001f6ab\U0001f512-\u2013\u2014>#"
)
_STOPS: Final = " .!\u3002\uff01\u2026:"
_WORD: Final = re.compile(r"[^\W_]+")


def closed_sentence(text: str, *, title: str = "") -> str | None:
    """The sentence that says that the posting is closed, as it stands in the text; None where none does.

    One that names a job speaks of the posting only if `title`, where it is known, has the same words.
    """
    for sentence in _sentences(text):
        if _says_closed(_plain(sentence), _plain(title)):
            return sentence
    return None


def closed_notice(title: str, heading: str, text: str, *, posting_title: str = "") -> str | None:
    """The same for a page: only where notices stand."""
    parts = "\n".join(_DIVIDERS.sub("\n", place[:_READ]) for place in (title, heading))
    beginning = text if len(text) <= SHORT_PAGE else text[:BEGINNING]
    return closed_sentence(parts, title=posting_title) or closed_sentence(beginning, title=posting_title)


def _says_closed(sentence: str, title: str) -> bool:
    for pattern in CLOSED:
        if said := pattern.fullmatch(sentence):
            named = " ".join(filter(None, said.groups()))
            return not title or set(_WORD.findall(named)) <= set(_WORD.findall(title))
    return False


def _sentences(text: str) -> Iterator[str]:
    """The sentences that can be notices: the first few of each line, none that is long."""
    for line in text[:_READ].split("\n"):
        for number, piece in enumerate(_ENDS.split(line)[:_SENTENCES_OF_A_LINE]):
            sentence = " ".join(piece.split())
            is_rest = number > 0 and sentence[:1].islower()  # of a sentence with "U.S. " in it
            if sentence and len(sentence) <= _LONGEST_SENTENCE and not is_rest:
                yield sentence


def _plain(sentence: str) -> str:
    """In small letters, without accents, with one kind of apostrophe and of space, without signs around."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("'", sentence))
    plain = _MARKS.sub("", decomposed).lower().translate(_LETTERS)
    return " ".join(unicodedata.normalize("NFKC", plain).split()).strip(_SIGNS).rstrip(_STOPS)
