"""Whether a posting demands a security clearance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.sentences import sentences_of

RULE = "clearance"

ClearanceVerdict = Literal["required", "preferred", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class ClearanceFact:
    """`sentence` is the one that says so, verbatim."""

    verdict: ClearanceVerdict = "unknown"
    sentence: str = ""


_CLEARANCE = re.compile(
    r"\b(?:security|government|dod|doe|federal|secret|sci|nato|active|current|national security|vetting"
    r"|polygraph|public trust|q|l|sc|dv|nv1|nv2|baseline|top[- ]secret"
    r"|ts(?:/sci)?)\b[\w\s/()-]{0,25}\bclearances?\b"
    r"|\bclearances?\b(?=[^.;]{0,30}\b(?:secret|ts/sci|sci|level|poly\w*)\b)|\bts/sci\b"
    r"|\btop[- ]secret/sci\b|\bpolygraph\b"
    r"|\bpublic trust (?:\w+ )?(?:position|eligib\w+|investigation|determination|level)\b"
    r"|\b(?:sc|dv|security)[- ]cleared\b|\bsicherheitsüberprüfung\b"
    r"|\bhabilitation (?:secret|défense|confidentiel)\b|\bclearances?\s?(?:level|required|status)?\s?:",
    re.IGNORECASE,
)
_CUES = ("clear", "ts/sci", "secret/sci", "polygraph", "public trust", "sicherheits", "habilitation")
_OTHER_CLEARANCE = re.compile(
    r"\b(?:customs|medical|health|background|child abuse|regulatory|fda|sale|items?|music|rights"
    r"|copyright|ground|drug|airport|tsa|fingerprint|police)\s(?:\w+\s)?clearances?\b"
    r"|\bclearances? (?:sale|section|rack|items?|event|pricing)\b"
    # Whoever works with children in Pennsylvania shows these (Acts 33, 34, 114, 151 and 168).
    r"|\bact\s?\d{2,3}\b[^.;]{0,60}?\bclearances?\b"
    r"|(?<!security )(?<!secret )(?<!sci )\bclearances?\b(?:(?!\bsecret|\bsci\b)[^.;]){0,40}?"
    r"(?:\bact\s?\d{2,3}\b|[:(].{0,20}\b(?:child abuse|fingerprint|criminal))",
    re.IGNORECASE,
)
_NO_CLEARANCE = re.compile(
    r"\b(?:no|without|not|n['\u2019]t|never)\b[^.;]{0,50}$|n['\u2019]t\b[^.;]{0,50}$", re.IGNORECASE
)
_NO_CLEARANCE_AFTER = re.compile(
    r"^[^.;]{0,30}?(?:\b(?:is|are)\s(?:not|n['\u2019]t)|n['\u2019]t|\bnot)\s(?:\w+\s)?(?:required|needed"
    r"|necessary|mandatory)|^\s?(?:level|required|status)?\s?:?\s?(?:none|no\b|n/a|not)",
    re.IGNORECASE,
)
_CLEARANCE_A_PLUS = re.compile(
    r"\b(?:preferred|preferably|a plus|desired|desirable|nice to have|bonus|helpful|advantage\w*|ideally"
    r"|beneficial)\b",
    re.IGNORECASE,
)


def clearance_in(text: str) -> ClearanceFact:
    """Whether a security clearance is demanded; other clearances (customs, medical, a sale) are not meant."""
    best = ClearanceFact()
    for sentence in sentences_of(text):
        if not sentence.has_any(_CUES):
            continue
        plain = _OTHER_CLEARANCE.sub(" ", sentence.text)
        match = _CLEARANCE.search(plain)
        if match is None:
            continue
        before, after = plain[: match.start()], plain[match.end() :]
        if _NO_CLEARANCE.search(before) or _NO_CLEARANCE_AFTER.search(after):
            best = best if best.verdict != "unknown" else ClearanceFact("none", sentence.text)
        elif _CLEARANCE_A_PLUS.search(plain) or sentence.section == "preferred":
            best = best if best.verdict == "preferred" else ClearanceFact("preferred", sentence.text)
        else:
            return ClearanceFact("required", sentence.text)
    return best


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """Somebody who cannot hold a clearance: none is demanded. A text that mentions none demands none."""
    if criteria.clearance != "none":
        return Step(RULE, "skip", "a clearance would not matter")
    if not snapshot.text:
        return Step(RULE, "unknown", "the text that would demand a clearance is not known")
    fact = clearance_in(snapshot.text)
    if fact.verdict == "required":
        return Step(RULE, "reject", "a security clearance is demanded", fact.sentence)
    return Step(RULE, "pass", "no security clearance is demanded", fact.sentence)
