"""What a posting's text says of the applicant and of the work, each with the sentence that says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviews.rules.clearance import clearance_in
from reviews.rules.experience import ExperienceFact, experience_in
from reviews.rules.language import UNKNOWN, language_of, languages_demanded
from reviews.rules.language_names import CODES, name_of
from reviews.rules.remote import remote_scope_in
from reviews.rules.scopes import Scope, label_of
from reviews.rules.sponsorship import sponsorship_in

SPONSORSHIP_WORDS = {
    "offers": "offered",
    "denies": "not offered",
    "citizens_only": "citizens or residents only",
    "caution": "a permit to work is asked for",
}
CLEARANCE_WORDS = {"required": "required", "preferred": "welcome", "none": "not needed"}


@dataclass(frozen=True, slots=True)
class TextFact:
    """`sentence` stands verbatim in the text; "" where the whole text speaks, as for its language."""

    label: str
    value: str
    sentence: str = ""


def text_facts(text: str) -> tuple[TextFact, ...]:
    """What `text` says; what it does not say is left out (A9)."""
    return tuple(_facts(text)) if text else ()


def _facts(text: str) -> Iterator[TextFact]:
    experience = experience_in(text)
    if experience.min_years is not None or experience.max_years is not None:
        yield TextFact("Experience", _years(experience), experience.sentence)
    sponsorship = sponsorship_in(text)
    if words := SPONSORSHIP_WORDS.get(sponsorship.verdict):
        yield TextFact("Visa sponsorship", words, sponsorship.sentence)
    clearance = clearance_in(text)
    if words := CLEARANCE_WORDS.get(clearance.verdict):
        yield TextFact("Security clearance", words, clearance.sentence)
    scope = remote_scope_in(text)
    if scope.sentence:
        yield TextFact("Remote from", _from(scope.allowed, scope.excluded), scope.sentence)
    for demand in languages_demanded(text):
        names = " or ".join(name_of(code) for code in demand.codes)
        yield TextFact("Language", names if demand.is_required else f"{names}, welcome", demand.sentence)
    code = language_of(text)
    if code != UNKNOWN and code in CODES:
        yield TextFact("Written in", name_of(code))


def _years(fact: ExperienceFact) -> str:
    least, most = fact.min_years, fact.max_years
    if least is not None and most is not None and most != least:
        years = f"{least:g} to {most:g} years"
    elif most is not None and least is None:
        years = f"up to {most:g} years"
    elif not least:
        years = "none needed"
    else:
        years = f"{least:g}+ years"
    return years if fact.is_required else f"{years}, preferred"


def _from(allowed: tuple[Scope, ...] | None, excluded: tuple[Scope, ...]) -> str:
    inside = ", ".join(dict.fromkeys(label_of(scope.label) for scope in allowed or ()))
    outside = ", ".join(dict.fromkeys(label_of(scope.label) for scope in excluded))
    return "; ".join(part for part in (inside, f"not {outside}" if outside else "") if part)
