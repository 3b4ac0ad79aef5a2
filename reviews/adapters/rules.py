"""The embedded reviewer: rules over the posting's facts and sentences. It costs nothing and needs no key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from reviews.adapters.base import Reviewed
from reviews.criteria import Criteria
from reviews.question import Answer, Question, Snapshot, Step
from reviews.rules import (
    clearance,
    employment,
    exclusions,
    experience,
    language,
    level,
    pay,
    places,
    roles,
    sponsorship,
)

# Raise it when any rule answers differently: verdicts of other rules are then not reused (R7).
RULES_VERSION: Final = 1

Rule = Callable[[Criteria, Snapshot], Step]

# The first that rejects decides. Rules that read only the listing come before those that read the text, and
# within each, those that are surest of their ground.
RULES: Final[tuple[Rule, ...]] = (
    exclusions.check_companies,
    exclusions.check_words,
    roles.check,
    employment.check,
    places.check_place,
    places.check_mode,
    places.check_from,
    pay.check,
    level.check,
    experience.check,
    clearance.check,
    sponsorship.check,
    language.check,
)
NOT_READ: Final = "The description of what is wanted needs a model to read it; the rules did not."


class RulesReviewer:
    """Rejects when a rule rejects, is unsure when something asked for is not known, passes otherwise.

    How old a posting may be (`max_age_days`) is not asked here: a verdict outlives the day it was given on,
    and eligibility sees to it before.
    """

    name: Literal["rules"] = "rules"
    model: str = f"rules-{RULES_VERSION}"
    is_paid: bool = False

    def review(self, question: Question) -> Reviewed:
        steps = tuple(rule(question.criteria, question.snapshot) for rule in RULES)
        return Reviewed(_answer(steps, question.snapshot, has_text=bool(question.criteria.text)))


def _answer(steps: tuple[Step, ...], snapshot: Snapshot, *, has_text: bool) -> Answer:
    asked = [step for step in steps if step.outcome != "skip"]
    note = NOT_READ if has_text else ""
    if rejecting := next((step for step in asked if step.outcome == "reject"), None):
        reason, rule, quote = rejecting.reason, rejecting.rule, rejecting.quote
        return Answer("reject", _sentence([reason]), quote, rule, steps, note)
    if unknown := [step for step in asked if step.outcome == "unknown"]:
        reasons = [step.reason for step in unknown]
        return Answer("unsure", _sentence(reasons), unknown[0].quote, unknown[0].rule, steps, note)
    if asked:
        # What speaks for it, not what merely does not speak against it; a sentence rather than the title.
        grounds = [step for step in asked if step.quote] or asked
        shown = next((step for step in grounds if step.quote and step.quote in snapshot.text), grounds[0])
        reasons = [step.reason for step in grounds]
        return Answer("pass", _sentence(reasons), shown.quote, shown.rule, steps, note)
    if has_text:
        return Answer("unsure", "Nothing the rules can check is asked for.", "", "text", steps, note)
    return Answer("pass", "Nothing is asked for.", "", "", steps, note)


def _sentence(reasons: list[str]) -> str:
    """The first reasons as one short sentence."""
    said = "; ".join(reasons[:3])
    return f"{said[0].upper()}{said[1:]}."
