"""The kind of employment: what the source states, corrected by what the title calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from catalog.adapters.base import EmploymentType
from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.level import level_of
from reviews.rules.sentences import sentences_of
from reviews.rules.titles import plain_of

RULE = "employment_type"

_KINDS: tuple[tuple[EmploymentType, str], ...] = (
    (
        "internship",
        r"internships?|praktikum|werkstudent(?:in)?|working[- ]students?|alternance|apprentissage|インターン",
    ),
    (
        "part_time",
        r"part[- ]?time|teilzeit|temps partiel|tiempo parcial|media jornada|deeltijd|deltid"
        r"|tempo parziale|tempo parcial|osa-aikainen|アルバイト|パート(?!ナ)",
    ),
    (
        "temporary",
        r"temporary|seasonal|temp[- ]to[- ]hire|fixed[- ]term|befristet|cdd|interim|maternity cover"
        r"|契約社員",
    ),
    (
        "contract",
        r"contract(?:or)?|contract[- ]to[- ]hire|freelance(?:r)?|1099|c2c|corp[- ]to[- ]corp|w2 contract",
    ),
    ("volunteer", r"volunteer|ehrenamt\w*|bénévol\w+"),
    (
        "full_time",
        r"full[- ]?time|vollzeit|temps plein|cdi|tiempo completo|jornada completa|voltijd|permanent"
        r"|festanstellung|heltid|temps complet|tempo (?:pieno|integral|completo)|kokoaikainen|正社員",
    ),
)
_ANY = "|".join(pattern for _, pattern in _KINDS)
# In a title these words count only where they stand apart: a "Contract Manager" manages contracts.
_IN_TITLE = re.compile(
    rf"(?:[(\[,|/\u2013-]\s?|^)(?:\d{{1,2}}[- ]months?\s)?({_ANY})(?=\s?[)\],|/\u2013-]|\s?$)",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    rf"\b(?:employment|job|position|contract|role)\s?(?:type"
    rf"|status)\s?[:\u2013-]\s?(?:[\w-]+,?\s){{0,2}}?({_ANY})\b"
    rf"|\bthis (?:is|will be) an? (?:[\w-]+,?\s){{0,3}}?({_ANY})[\w,/ -]{{0,30}}?\b(?:role|position|job"
    rf"|opportunity|contract"
    r"|internship|engagement|assignment)\b"
    rf"|^({_ANY})[.,]?$",
    re.IGNORECASE,
)
_CUES = (
    "type",
    "status",
    "this ",
    "time",
    "zeit",
    "contract",
    "cdi",
    "cdd",
    "temps",
    "tiempo",
    "jornada",
    "tempo",
    "tijd",
    "heltid",
    "deltid",
    "aikainen",
    "student",
    "altern",
    "apprentissage",
    "praktikum",
    "befristet",
    "festanstellung",
    "社員",
    "アルバイト",
    "パート",
    "インターン",
    "permanent",
    "intern",
    "freelance",
)
_WORDS = {kind: kind.replace("_", "-") for kind, _ in _KINDS}


@dataclass(frozen=True, slots=True)
class EmploymentFact:
    """`kind` is None when the posting does not say; `sentence` stands in it verbatim."""

    kind: EmploymentType | None = None
    sentence: str = ""


def employment_of(title: str, text: str = "", stated: EmploymentType | None = None) -> EmploymentFact:
    """The title's own word first (sources file interns as full-time), then the stated type, then the text."""
    if "intern" in level_of(title).levels:
        return EmploymentFact("internship", title)
    if match := _IN_TITLE.search(plain_of(title)):
        return EmploymentFact(_kind(match[1]), title)
    if stated and stated != "other":
        return EmploymentFact(stated)
    for sentence in sentences_of(text):
        if not sentence.has_any(_CUES):
            continue
        if match := _IN_TEXT.search(sentence.text):
            return EmploymentFact(_kind(next(filter(None, match.groups()))), sentence.text)
    return EmploymentFact(stated)


def _kind(word: str) -> EmploymentType | None:
    return next((kind for kind, pattern in _KINDS if re.fullmatch(pattern, word, re.IGNORECASE)), None)


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The posting's kind of employment is one of the wanted."""
    if not criteria.employment_types:
        return Step(RULE, "skip", "no kind of employment asked for")
    fact = employment_of(snapshot.title, snapshot.text, snapshot.employment_type)
    if fact.kind is None:
        return Step(RULE, "unknown", "the kind of employment is not stated")
    said = f"it is {_WORDS.get(fact.kind, fact.kind)}"
    if fact.kind == "other":
        return Step(RULE, "unknown", "the kind of employment has no usual name", fact.sentence)
    return Step(RULE, "pass" if fact.kind in criteria.employment_types else "reject", said, fact.sentence)
