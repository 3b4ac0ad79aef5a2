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
_DAYS = (
    r"(?:[1-4]|one|two|three|four)(?:\s?(?:-|\u2013|to|or)\s?(?:[1-5]|two|three|four|five))?\+?\sdays?"
    r"(?:\s(?:a|per|each|every|of the)\s(?:work)?week|\sweekly|\s?/\s?week)"
)
_AT_WORK = (
    r"(?:on[\s-]?site|in[\s-]person|(?:in|at|from)[\s-](?:(?:the|our|an?)[\s-])?(?:\w+\s){0,3}?(?:office|hq))"
)
_AT_HOME = (
    r"(?:home[\s-]?office|work(?:ing)? (?:remotely|from home)|wfh|telework\w*|remote(?: work(?:ing)?)?"
    r"|mobiles arbeiten)"
)
_HYBRID = re.compile(
    r"\bhybrid(?:[\s/-](?:remote|home|office|flexible))*[\s-](?:roles?|work(?:ing|place|week|ers?)?"
    r"|positions?|schedules?|polic(?:y|ies)|arrangements?|culture|set-?up|basis|office|days?)\b"
    r"|\b(?:is|are|be|work(?:s|ing)?) (?:\w+ )?hybrid\b(?=\s?(?:[.,;:()\u2013-]|$)"
    r"|\s(?:and|or|with|in|from|at|out|for|remote|based|role|position)\b)|#LI-Hybrid\b"
    r"|\b(?:\w+|\d)(?:\s?(?:-|\u2013|to|or)\s?(?:\w+|\d))?\+?\sdays?\s(?:a|per|each|every"
    r"|/)?\s?(?:week\s)?(?:in|at|from)\s(?:the|our|an)?\s?(?:\w+\s)?office\b"
    rf"|\b{_AT_WORK}\b[^.;]{{0,30}}?\b{_DAYS}|\b{_DAYS}\s(?:\w+\s)?{_AT_WORK}\b"
    rf"|\b{_AT_HOME}\s(?:up to |for )?{_DAYS}|\b{_DAYS}\s(?:of\s)?{_AT_HOME}\b"
    rf"|\b{_AT_HOME}\s(?:on|every)\s(?:mon|tues|wednes|thurs|fri)days?\b"
    r"|\b[1-4] tage?n? (?:\w+ )?(?:home[\s-]?office|remote|mobil\w*)"
    r"|\b(?:home[\s-]?office|remote) an [1-4] tagen"
    r"|\b[1-4] (?:jours?|d[ií]as?|giorni) (?:de |di )?(?:t[eé]l[eé]travail|teletrabajo|smart working)"
    r"|\bin[- ](?:the[- ])?office\s(?:\w+|\d)\sdays?\b|\bteilweise (?:remote|home)",
    re.IGNORECASE,
)
# Other things are hybrid models too; it takes a word of working life beside it.
_HYBRID_MAYBE = re.compile(
    r"\bhybrid[\s-](?:models?|approach|options?|patterns?|teams?|in|environment)\b", re.IGNORECASE
)
_OF_WORKING = re.compile(
    r"\b(?:office|remote(?:ly)?|on-?site|in[- ]person|home|days?|flexib\w+|location|employees|colleagues"
    r"|(?:offer|work (?:in|on|under)|operate \w+|follow|embrace) (?:an?|our|the)|hybrid in)\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\b(?:occasional(?:ly)?|sometimes|some|partial(?:ly)?|partly|limited|gelegentlich\w*|ad[- ]hoc)\s"
    r"(?:\w+\s){0,2}?(?:remote(?:ly)?|home|homeoffice|work(?:ing)? (?:from home|remotely))\b"
    r"|\b(?:remote(?:ly)?|from home|home[\s-]?office)\s(?:work\w*\s)?(?:occasionally|sometimes"
    r"|on occasion|from time to time|as needed|when needed|if needed|now and then|part of the|gelegentlich)\b"
    r"|\b(?:equipment|macbook|laptop|tools|need) [^.;]{0,40}\bwork(?:ing)? (?:remotely|from home)\b"
    r"|\b(?:experience (?:\w+ )?|(?:help|let|enable|allow)s? (?!you)(?:\w+ ){1,4}(?:to )?)"
    r"work(?:ing)? (?:remotely|from)",
    re.IGNORECASE,
)
# "Candidates located near Atlanta will work from the office 2 days per week" leaves the others remote.
_FOR_SOME = re.compile(
    r"\b(?:if you(?:['\u2019]re| are)? (?:\w+ )?(?:live|based|located|near|within)"
    r"|(?:candidates|employees|those|people|applicants) (?:who )?(?:are )?(?:located|based|liv(?:e|ing)"
    r"|residing|within|near))\b",
    re.IGNORECASE,
)
_COMPANY = re.compile(
    r"\b(?:we(?:['\u2019](?:re|ve))?|our (?:company|teams?|culture|organi[sz]ation|people|employees)"
    r"|(?:company|organi[sz]ation) (?:is|are))\b|\bremote-first company\b",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:(?:this|the) (?:\w+ )?(?:role|position|job|vacancy|internship)|this opportunity"
    r"|you(?:['\u2019]ll| will| can| may| must))\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r",?\s(?:but|however|though|although|whereas|while|yet)\b,?\s|;\s"
    r"|,\s(?=(?:this|the) (?:role|position|job)\b)",
    re.IGNORECASE,
)
_ANSWERED = re.compile(
    r"^\W*(?:is |fully |100% )?(?:remote|home[\s-]?office)(?: work(?:ing)?| possible| ok| option)?"
    r"\s?[:?=\u2013-]{1,2}\s?"
    r"(?:(?P<yes>yes|ja|oui|s[ií]|possible|ok|full(?:y)?|100\s?%)|(?P<no>no|nein|non|none|not possible)"
    r"|(?P<hybrid>partial(?:ly)?|partly|hybrid|teilweise))(?!\w)",
    re.IGNORECASE,
)
# A line of headings: "Location: Hybrid", "Berlin | Remote (EU) | Full-time", "ONSITE". Not a list of options.
_HEADED = re.compile(
    r"(?:^|[:|,(]\s?)(?:fully |100% )?(?P<mode>hybrid|remote)(?=\s?(?:[|,)(\u2014]|$))",
    re.IGNORECASE,
)
_ON_SITE = re.compile(r"(?:^|[|,(]\s?|\b)(?:ONSITE|ON-SITE)\b")
# What a hybrid role says too: "this role is on-site three days a week".
_PRESENT = re.compile(r"(?!.*\b(?:5|five|not?|every)\b).*\b(?:on[\s-]?site|office|person)\b", re.IGNORECASE)
MOST_HEADING_WORDS = 25
_NO = re.compile(
    r"\b(?:not|isn['\u2019]t|no|non)[\s-](?:a\s|an\s|fully\s"
    r"|currently\s)*remote\b(?!\s(?:only|sensing|control))"
    r"|\bremote (?:work )?(?:is |work is )?(?:not|n['\u2019]t) (?:an option|available|possible|offered"
    r"|permitted)|\b(?:cannot|can['\u2019]?t|not) be (?:\w+\s)?(?:performed|done|worked) remotely\b"
    r"|\bnot (?:\w+ )?(?:eligible|available|suitable|open|considered|offered) (?:for|to|as) "
    rf"(?:\w+ )?{_AT_HOME}\b"
    r"|(?:\bnot|n['\u2019]t|\bcannot|\bunable to) (?:\w+ ){0,2}(?:offer|support|allow|permit|provide"
    rf"|accommodate) (?:\w+ ){{0,2}}{_AT_HOME}\b|#LI-On-?site\b"
    rf"|\b{_AT_WORK}\b[^.;]{{0,30}}?\b(?:5|five) days (?:a|per|each) week|\b{_AT_WORK} every (?:week)?day\b"
    r"|\b(?:fully |100% )?(?:on-?site|in[- ]office|in[- ]person) (?:role|position|job|only|5 days"
    r"|five days)\b|\b(?:on-?site|in[- ]office) work\b|\b(?:5|five) days (?:a|per) week (?:in|at|on)"
    r"|\b(?:role|position|job) (?:is|will be|must be|requires(?: being| working| work)?) (?:[\w%]+ ){0,2}?"
    r"(?:on[\s-]?site|in[- ](?:the[- ])?(?:office|person))\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\b(?:fully|100\s?%|completely|entirely|permanently)[\s-]remote\b"
    r"|#LI-Remote\b|\bremote (?:(?:role|position|job|opportunity|internship)\b(?!\s(?:boards?|sites?"
    r"|markets?|search|seekers?|listings?|postings?|ads?|platforms?|descriptions?))"
    r"|work (?:is )?(?:possible|available))\b"
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
_CUES = (
    "remote",
    "hybrid",
    "office",
    "site",
    "person",
    "home",
    "anywhere",
    "teilweise",
    "mobil",
    "travail",
    "trabajo",
    "wfh",
)


def work_mode_in(text: str) -> WorkModeFact:
    """What sentences say of the work mode; the one that asks for the most presence counts.

    What is said of this role beats what is said of the company ("We're remote-first, but this role is on
    site"). A perk with a time limit ("work from anywhere for a month") is no work mode.
    """
    found: dict[tuple[bool, Remote], str] = {}
    for sentence in sentences_of(text):
        if sentence.has_any(_CUES):
            for clause in _clauses(sentence.text):
                if mode := _mode_in(clause):
                    is_company = bool(_COMPANY.search(sentence.text)) and not _ROLE.search(clause)
                    found.setdefault((is_company, mode), sentence.text)
    modes: tuple[Remote, ...] = ("hybrid", "no", "yes")
    for key in ((is_company, mode) for is_company in (False, True) for mode in modes):
        if key in found:
            return WorkModeFact(key[1], found[key])
    return WorkModeFact()


def _clauses(sentence: str) -> list[str]:
    """The parts of a sentence that speak of different things, or the sentence itself."""
    if not _COMPANY.search(sentence):
        return [sentence]
    return [clause for clause in _CLAUSES.split(sentence) if clause]


def is_perk(sentence: str) -> bool:
    """Whether remote work is promised for a time only: "work from anywhere for a month"."""
    return bool(_YES.search(sentence) and _PERK.search(sentence))


def _mode_in(sentence: str) -> Remote | None:
    if answered := _ANSWERED.search(sentence):
        answers: tuple[Remote, ...] = ("yes", "no", "hybrid")
        return next(mode for mode in answers if answered[mode])
    may_be_hybrid = _HYBRID_MAYBE.search(sentence) and _OF_WORKING.search(sentence)
    is_hybrid = bool(_HYBRID.search(sentence) or may_be_hybrid) and not _FOR_SOME.search(sentence)
    if (no := _NO.search(sentence)) and not (is_hybrid and _PRESENT.match(no[0])):
        return "no"
    if is_hybrid:
        return "hybrid"
    if len(sentence.split()) <= MOST_HEADING_WORDS:
        if headed := _HEADED.search(sentence):
            return "hybrid" if headed["mode"].casefold() == "hybrid" else "yes"
        if _ON_SITE.search(sentence) and "remote" not in sentence.casefold():
            return "no"
    is_remote = _YES.search(sentence) and not is_perk(sentence) and not _PARTLY.search(sentence)
    return "yes" if is_remote else None


def mode_of(snapshot: Snapshot) -> WorkModeFact:
    """The mode that the source states; failing that, what the title, the places or the text say."""
    if snapshot.remote != "unknown":
        return WorkModeFact(snapshot.remote)
    if any(place.remote for place in snapshot.places):
        return WorkModeFact("yes")
    if _TITLED_REMOTE.search(snapshot.title):
        return WorkModeFact("yes", snapshot.title)
    return work_mode_in(snapshot.text)
