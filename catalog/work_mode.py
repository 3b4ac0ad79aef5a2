"""Finds what a place's text says about working there: remote, hybrid, on site. Pure."""

from __future__ import annotations

import re
from typing import Final, Literal

WorkMode = Literal["yes", "no", "hybrid", "unknown"]  # remote work, as the adapters' `Remote` says it

# Written so that "remote" in another sense (sensing, control, a remote site) is no work mode.
_NO: Final = re.compile(
    r"\b(?:non?|not)[\s-]+remote\b|\bremote(?: work)?\s*[:=]\s*no\b|\bno remote(?: work)?\b"
    r"|\bon[\s-]?site(?: only)?\b|\bin[\s-](?:the[\s-])?office\b|\bin[\s-]person\b|\boffice[\s-]based\b"
    r"|\bvor ort\b|\bsur site\b|\bpr[eé]sentiel\b|\bpresencial\b",
    re.IGNORECASE,
)
_HYBRID: Final = re.compile(
    r"\bh[yií]brid[aeo]?(?:[\s-]+(?:remote|work(?:ing)?|role|position|working model))*\b|\bibrido\b"
    r"|\bpart(?:ial|ially|ly|[\s-]time)?[\s-]+(?:remote|home[\s-]?office)\b"
    r"|\bremote[\s/-]+hybrid\b|\b(?:remote|home[\s-]?office)[\s-]+(?:partly|partially|teilweise)\b"
    r"|\bteilweise(?:[\s-]+(?:remote|home[\s-]?office|mobil(?:es arbeiten)?))?\b"
    r"|\bt[eé]l[eé]travail partiel\b|\bhome[\s-]?office (?:m[öo]glich|possible)\b|ハイブリッド",
    re.IGNORECASE,
)
_REMOTE: Final = re.compile(
    r"(?:\b(?:100\s?%|fully|full|completely|permanent(?:ly)?)[\s-]+)?"
    r"(?:\b(?:remote(?:ly)?(?![\s-]+(?:sensing|control|access|desktop|support|monitoring|sites?)\b)"
    r"|work(?:ing)?[\s-]from[\s-](?:home|anywhere)|wfh|home[\s-]?(?:based|office)"
    r"|telecommut(?:e|ing)|telework(?:ing)?|virtual(?:ly)?|t[eé]l[eé]travail|teletrabajo|remot[oa]|fernarbeit"
    r"|zdaln(?:a|ie)|distributed|anywhere)\b|(?:フル)?リモート(?:ワーク)?|テレワーク|在宅勤務)"
    r"(?:[\s-]+(?:first|friendly|only|ok|okay|eligible|possible|optional|allowed|jobs?|position|roles?|work(?:ers?)?"
    r"|locations?|based|team)\b)*",
    re.IGNORECASE,
)
_MEANINGS: Final[tuple[tuple[re.Pattern[str], WorkMode], ...]] = (
    (_NO, "no"),
    (_HYBRID, "hybrid"),
    (_REMOTE, "yes"),
)
_WORLDWIDE: Final = re.compile(r"\bworldwide\b|\bweltweit\b", re.IGNORECASE)
_OPTIONS: Final = re.compile(r"[;|•·\n]|,?\s+(?:or|oder|ou)\s+", re.IGNORECASE)
_STRENGTH: Final[tuple[WorkMode, ...]] = ("yes", "hybrid", "no")


def work_mode_hint(raw: str) -> WorkMode:
    """What `raw` says of remote work: "yes", "hybrid", "no", or "unknown" for a place and nothing else.

    Of several ways ("London or remote") the one that asks for the least presence counts.
    """
    modes = {strip_work_mode(option)[1] for option in _OPTIONS.split(raw)}
    return next((mode for mode in _STRENGTH if mode in modes), "unknown")


def strip_work_mode(text: str) -> tuple[str, WorkMode, str]:
    """`text` with commas for its words about the work mode, the mode, and those words."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(match[0].strip())
        return " , "

    mode: WorkMode = "unknown"
    for pattern, meaning in _MEANINGS:
        text, count = pattern.subn(take, text)
        # "Hybrid, remote two days": the restriction holds whatever else is said
        if count and mode == "unknown":
            mode = meaning
    if mode == "unknown" and _WORLDWIDE.search(text):  # a place too, so the word stays
        mode = "yes"
    return text, mode, ", ".join(found)
