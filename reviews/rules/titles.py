"""The parts of a job title: the role it names first, and what qualifies it."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

MAX_TITLE = 300


def word_set(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


# Nouns that name a role. The head of a title decides: "Recruiter, Software Engineering" recruits.
ROLE_NOUNS = word_set(
    """
    accountant actor actuary administrator adviser advisor advocate agent analyst animator apprentice
    architect artist assistant associate attorney auditor barista bartender biologist bookkeeper broker
    buyer captain caregiver carpenter cashier chef chemist clerk clinician coach consultant controller
    cook coordinator copywriter counsel counselor curator cleaner dean dentist designer developer
    dietitian director dispatcher doctor driver economist editor educator electrician engineer estimator
    evangelist examiner executive expert facilitator fellow foreman generalist guard handler head
    hygienist installer instructor intern internship interpreter inspector investigator janitor
    journalist laborer lawyer lead leader lecturer librarian machinist manager marketer mathematician
    mechanic merchandiser nurse officer operator optician owner painter paralegal paramedic partner
    pharmacist photographer physician physicist pilot planner plumber principal producer professional
    professor programmer psychologist recruiter receptionist rep representative researcher salesperson
    scheduler scientist sde secretary server specialist statistician stocker strategist student
    supervisor surgeon surveyor swe teacher technician technologist teller tester therapist trader
    trainee trainer translator tutor underwriter veterinarian videographer volunteer waiter welder
    worker writer entwickler entwicklerin ingenieur ingenieurin berater beraterin leiter leiterin
    leitung mitarbeiter mitarbeiterin kaufmann kauffrau werkstudent werkstudentin praktikant
    praktikantin praktikum softwareentwickler referent assistenz ingénieur ingénieure développeur
    développeuse responsable stagiaire chargé chargée technicien chef ingeniero ingeniera desarrollador
    desarrolladora analista gerente programador programadora técnico becario ingegnere sviluppatore
    stagista tirocinante ontwikkelaar medewerker adviseur programista inżynier specjalista desenvolvedor
    desenvolvedora engenheiro engenheira estagiário utvecklare ingenjör udvikler エンジニア
    """
)
# A head of these alone is completed by what follows the comma: "Manager, Sales", "Engineer, Backend".
RANK_NOUNS = word_set(
    """
    manager director head lead leader intern internship associate supervisor officer executive vp
    president chief engineer developer analyst specialist consultant scientist designer coordinator
    representative
    """
)
_GENDER = re.compile(
    r"\(?\b[mwfdhxi*]\s?[/|,]\s?[mwfdhxi*](?:\s?[/|,]\s?[mwfdhxi*])?\b\)?"  # (m/w/d), m/f/x, H/F
    r"|(?<=\w)(?:[:*_·]|/-?)(?:in(?:nen)?|e|euse|a|trice)\b"  # Entwickler:in, Ingénieur·e, Desarrollador/a
    r"|\((?:all genders|gn|in|e|a|euse)\)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*[,;|:\u2013\u2014()\[\]{}•·]\s*|\s+[-@~]+\s+|\s+-|-\s+(?!(?:bis|und|oder)\b)")
_FROM_HERE_ON = re.compile(
    r"\s(?:for|at|within|with|to(?!\s(?:mid\b|middle|senior|lead\b|staff\b|principal))|in(?!\stest\b)|from|on|supporting|reporting)\s.*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[a-z]{3})[.!?](?:\s.*)?$", re.DOTALL)
_PLURAL_OPS = ("shops", "tops", "stops", "drops", "props", "loops", "crops", "troops", "co-ops", "coops")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Title:
    """`plain` is the title decoded; `head` names the role, `qualifiers` are the other parts in order."""

    plain: str
    head: str
    qualifiers: tuple[str, ...]


def plain_of(title: str) -> str:
    """The title as a person reads it: one level of entities decoded, no forms for genders, single spaces."""
    decoded = unicodedata.normalize("NFKC", html.unescape(title[:MAX_TITLE]))
    return " ".join(_GENDER.sub("", decoded).split())


@lru_cache(maxsize=64)
def title_of(title: str) -> Title:
    plain = _SENTENCE_END.sub("", plain_of(title))
    parts = [part.strip() for part in _SEPARATOR.split(plain) if part.strip()]
    if not parts:
        return Title(plain, plain, ())
    at = next((number for number, part in enumerate(parts) if has_role_noun(part)), 0)
    head, after = parts[at], ""
    if cut := _FROM_HERE_ON.search(head):
        head, after = head[: cut.start()], cut[0].strip()
    rest = [after] if after else []
    return Title(plain, head.strip() or plain, (*rest, *parts[:at], *parts[at + 1 :]))


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def singular(word: str) -> str:
    """The word without a plural's "s". "Devops" and "salesops" are somebody's ops, no plurals."""
    if len(word) > 4 and word.endswith("ops") and not word.endswith(_PLURAL_OPS):
        return singular(word[:-3]) + "ops"
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "js"))
    return word[:-1] if is_plural else word


def has_role_noun(part: str) -> bool:
    return any(singular(word) in ROLE_NOUNS for word in words_of(part))
