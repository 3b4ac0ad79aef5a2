"""Places and work model as a platform's location texts state them, before anything is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from catalog.adapters.base import Remote
from catalog.adapters.fields import one_line
from catalog.work_mode import strip_work_mode, work_mode_hint

MAX_TEXT = 2_000
MAX_PLACE = 200
MAX_PLACES = 100

# Commas separate the parts of one place ("Boston, MA"), so they are not here. "or" is a word in small
# letters only: OR is Oregon.
_SEPARATORS = re.compile(r"([()]|;|\||•|\s/\s|\sor\s)")
# What may stand beside a work model without naming a place: "Remote-Friendly (Travel-Required)".
_BESIDE_MODEL = re.compile(
    r"(?:\b(?:fully|partly|only|optional|option|eligible|possible|preferred|required|flexible|travel|working|work"
    r"|role|position|full|part|time|days?|per|a|week|\d+x?)\b|[\W_])*+",
    re.IGNORECASE,
)
_NOT_A_PLACE = re.compile(
    r"(?:\d+\+?|multiple|various|several)\s*(?:locations?|cities|offices)?|n/?a|none|tb[acd]|unknown|other|[\W_]*",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[\W\d_]+")
_MODELS: dict[str, Remote] = {
    **dict.fromkeys(("onsite", "inoffice", "office", "officebased", "inperson", "onpremise"), "no"),
    **dict.fromkeys(
        ("hybrid", "hybridremote", "remotehybrid", "flexible", "partiallyremote", "teilweise"), "hybrid"
    ),
    **dict.fromkeys(
        ("remote", "fullyremote", "fully", "fullremote", "remoteonly", "telecommute", "virtual", "telework"),
        "yes",
    ),
}


def places(values: Iterable[object]) -> tuple[str, ...]:
    """The places that location texts name, in their order, each once.

    Texts that join several places are split. Work models and "2 Locations" are not places; "Remote"
    stays only where it is all that is said.
    """
    named: dict[str, str] = {}
    remote: list[str] = []
    for part in _parts(values):
        if not _is_work_model(part):
            named.setdefault(part.casefold(), part[:MAX_PLACE])
        elif work_mode_hint(part) == "yes":
            remote.append(part[:MAX_PLACE])
    return tuple(named.values())[:MAX_PLACES] or tuple(remote[:1])


def names_a_place(value: object) -> bool:
    """Whether a location text says where, not only how ("Hybrid")."""
    return any(not _is_work_model(part) for part in _parts([value]))


def remote_in(values: Iterable[object]) -> Remote:
    """The work model that location texts state in words. A city alone states none."""
    return work_mode_hint("; ".join(one_line(value, limit=MAX_TEXT) for value in values))


def remote_named(value: object) -> Remote:
    """The work model that a platform's own word for it names: "ON_SITE", "fully remote", "Hybrid"."""
    return _MODELS.get(_LETTERS.sub("", one_line(value, limit=50).casefold()), "unknown")


def _is_work_model(part: str) -> bool:
    rest, mode, _ = strip_work_mode(part)
    return mode != "unknown" and _BESIDE_MODEL.fullmatch(rest) is not None


def _parts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        for part in _split(one_line(value, limit=MAX_TEXT)):
            if not _NOT_A_PLACE.fullmatch(part):
                yield part


def _split(text: str) -> Iterator[str]:
    """Cut at separators outside parentheses: "Remote (US; Canada)" is one text.

    So is "Remote in the United States or Canada", whose "or" belongs to where remote work is done from.
    """
    depth, part = 0, ""
    for piece in _SEPARATORS.split(text):
        joins = piece.strip() == "or" and work_mode_hint(part) != "unknown"
        if depth == 0 and not joins and piece not in ("(", ")") and _SEPARATORS.fullmatch(piece):
            yield part.strip(" ,")
            part = ""
            continue
        depth = max(0, depth + (piece == "(") - (piece == ")"))
        part += piece
    yield part.strip(" ,")
