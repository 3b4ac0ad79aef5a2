"""Why a filter lets a posting in, or not: stages evaluated now, decisions and verdicts as recorded."""

from __future__ import annotations

from datetime import datetime

from catalog.explanation import Answer, Step
from catalog.models import Posting
from reviews.models import Decision, FilterRevision
from reviews.reviewers import reviewer_of
from reviews.services.runs import policy_digest
from reviews.stages import answers

OUTCOMES: dict[str, Answer] = {"passed": "yes", "rejected": "no", "unsure": "unknown", "failed": "unknown"}


def review_steps(posting: Posting, revision: FilterRevision, now: datetime) -> list[Step]:
    """The eligibility stages, or the one that fails; then the decision and its verdict."""
    told = answers(revision.parsed(), now, posting)
    last, passes = told[-1]
    if not passes:
        name = f"Eligibility for {revision.filter.name}: {last.name}"
        return [Step(name, "no", _sentence(last.fails), is_recorded=False)]
    words = "; ".join(stage.holds for stage, _ in told)
    eligible = Step(f"Eligibility for {revision.filter.name}", "yes", _sentence(words), is_recorded=False)
    return [eligible, _verdict(posting, revision)]


def _verdict(posting: Posting, revision: FilterRevision) -> Step:
    reviewer = reviewer_of(revision)
    name = f"Review by {reviewer.model}, {revision.filter.name}, revision {revision.number}"
    verdict = (
        posting.verdicts.decided()
        .filter(prompt_hash=revision.prompt_hash, model=reviewer.model, input_hash=posting.content_hash)
        .first()
    )
    if verdict is not None:
        return Step(
            name, OUTCOMES[verdict.status], _sentence(verdict.reason), quote=verdict.quote, at=verdict.at
        )
    decision = Decision.objects.filter(
        revision=revision,
        posting=posting,
        input_hash=posting.content_hash,
        policy_digest=policy_digest(revision, reviewer),
    ).first()
    if decision is None:
        return Step(name, "unknown", "It was not asked about yet, as it stands now.")
    if decision.action == Decision.Action.SKIP:
        return Step(
            "Rules, before any request",
            "no",
            _sentence(decision.reason),
            quote=decision.quote,
            at=decision.created_at,
        )
    failed = decision.outcomes.filter(verdict=None).order_by("-at").first()
    if failed is not None:
        words = f"Asked, and the answer could not be used: {failed.failure}."
        return Step(name, "unknown", words, at=failed.at)
    return Step(name, "unknown", "It was decided to ask; no linked outcome yet.", at=decision.created_at)


def _sentence(words: str) -> str:
    """Words as a sentence of their own."""
    words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "!", "?")) else f"{words}."
