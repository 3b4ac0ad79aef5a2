"""Whether the work is remote: what the source says, else the title, the places and the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from catalog.adapters.base import Remote
from reviews.question import Snapshot
from reviews.rules.sentences import sentences_of


@dataclass(frozen=True, slots=True)
class WorkModeFact:
    """`mode` as the adapters say it; a city alone is "unknown". `sentence` stands in the text verbatim."""

    mode: Remote = "unknown"
    sentence: str = ""


_PERK = re.compile(
    r"\b(?:\d{1,2}|one|two|three|four|six|eight|twelve|a|an|several|few|some)[\s-](?:\w+\s)?(?:weeks?"
    r"|months?|days?)\b",
    re.IGNORECASE,
)
_HYBRID = re.compile(
    r"\bhybrid(?:[\s/-](?:remote|home|office|flexible))*[\s-](?:roles?|work\w*|models?|positions?"
    r"|schedules?|polic\w+|options?|arrangements?|culture|set-?up|basis|patterns?|approach|in\b|team"
    r"|days?)\b|\b(?:is|are|work\w*) (?:\w+ )?hybrid\b(?!\s(?:cloud|mobile))|#LI-Hybrid\b"
    r"|\b(?:\w+|\d)(?:\s?(?:-|\u2013|to|or)\s?(?:\w+|\d))?\+?\sdays?\s(?:a|per|each|every"
    r"|/)?\s?(?:week\s)?(?:in|at|from)\s(?:the|our|an)?\s?(?:\w+\s)?office\b"
    r"|\bin[- ](?:the[- ])?office\s(?:\w+|\d)\sdays?\b|\bteilweise (?:remote|home)",
    re.IGNORECASE,
)
# A line of headings: "Location: Hybrid", "Berlin | Remote (EU) | Full-time", "ONSITE". Not a list of options.
_HEADED = re.compile(
    r"(?:^|[:|,(]\s?)(?:fully |100% )?(?P<mode>hybrid|remote)(?=\s?(?:[|,)(\u2014]|$))",
    re.IGNORECASE,
)
_ON_SITE = re.compile(r"(?:^|[|,(]\s?|\b)(?:ONSITE|ON-SITE)\b")
MOST_HEADING_WORDS = 25
_NO = re.compile(
    r"\b(?:not|isn['\u2019]t|no|non)[\s-](?:a\s|an\s|fully\s"
    r"|currently\s)*remote\b(?!\s(?:only|sensing|control))"
    r"|\bremote (?:work )?(?:is |work is )?(?:not|n['\u2019]t) (?:an option|available|possible|offered"
    r"|permitted)|\b(?:cannot|can['\u2019]?t|not) be (?:\w+\s)?(?:performed|done|worked) remotely\b"
    r"|\b(?:fully |100% )?(?:on-?site|in[- ]office|in[- ]person) (?:role|position|job|only|5 days"
    r"|five days|work)\b|\b(?:5|five) days (?:a|per) week (?:in|at|on)"
    r"|\b(?:role|position|job) is (?:fully |100% )?(?:on-?site|in[- ](?:office|person))\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\b(?:fully|100\s?%|completely|entirely|permanently)[\s-]remote\b"
    r"|\bremote (?:role|position|job|opportunity|internship|work (?:is )?(?:possible|available))\b"
    r"|\b(?:role|position|job|team|company)\s(?:is|are|can be|may be)\s(?:\w+\s)?(?:remote"
    r"|performed remotely|done remotely)\b"
    r"|(?<!some )(?<!occasional )\b(?:work|working) (?:remotely"
    r"|from (?:anywhere|home))\b(?! (?:days?|stipend|budget|allowance|setup))"
    r"|\blocation\s?[:\u2013-]\s?(?:\w+\s)?remote\b"
    r"|\b(?:are|['\u2019]re|is|be|a)\s(?:\w+\s)?remote[- ]first\b"
    r"|\b(?:home|vollständig)\s?(?:office|remote) (?:möglich)?",
    re.IGNORECASE,
)
_TITLED_REMOTE = re.compile(
    r"(?:[(\[,|/\u2013-]\s?|^)(?:fully "
    r"|100% )?remote\b(?!\s(?:sensing|control|access|desktop|support|monitoring))",
    re.IGNORECASE,
)
_CUES = ("remote", "hybrid", "office", "site", "person", "home", "anywhere", "teilweise")


def work_mode_in(text: str) -> WorkModeFact:
    """What sentences say of the work mode; the one that asks for the most presence counts.

    A perk with a time limit ("work from anywhere for a month") is no work mode.
    """
    found: dict[Remote, str] = {}
    for sentence in sentences_of(text):
        if sentence.has_any(_CUES) and (mode := _mode_in(sentence.text)):
            found.setdefault(mode, sentence.text)
    for mode in ("hybrid", "no", "yes"):
        if mode in found:
            return WorkModeFact(mode, found[mode])
    return WorkModeFact()


def is_perk(sentence: str) -> bool:
    """Whether remote work is promised for a time only: "work from anywhere for a month"."""
    return bool(_YES.search(sentence) and _PERK.search(sentence))


def _mode_in(sentence: str) -> Remote | None:
    if _NO.search(sentence):
        return "no"
    if _HYBRID.search(sentence):
        return "hybrid"
    if len(sentence.split()) <= MOST_HEADING_WORDS:
        if headed := _HEADED.search(sentence):
            return "hybrid" if headed["mode"].casefold() == "hybrid" else "yes"
        if _ON_SITE.search(sentence) and "remote" not in sentence.casefold():
            return "no"
    return "yes" if _YES.search(sentence) and not is_perk(sentence) else None


def mode_of(snapshot: Snapshot) -> WorkModeFact:
    """The mode that the source states; failing that, what the title, the places or the text say."""
    if snapshot.remote != "unknown":
        return WorkModeFact(snapshot.remote)
    if any(place.remote for place in snapshot.places):
        return WorkModeFact("yes")
    if _TITLED_REMOTE.search(snapshot.title):
        return WorkModeFact("yes", snapshot.title)
    return work_mode_in(snapshot.text)
