"""Answers: asked one decision at a time, and written once."""

from __future__ import annotations

from dataclasses import asdict

from django.db import transaction
from django.db.models.functions import Now

from reviews.adapters.base import Reviewed, Reviewer, ReviewFailed, Usage
from reviews.models import Decision, ModelCall, Outcome, Verdict
from reviews.reviewers import reviewer_of
from reviews.services.questions import question_about
from taskqueue.handlers import Claim

STATUS = {
    "pass": Verdict.Status.PASSED,
    "reject": Verdict.Status.REJECTED,
    "unsure": Verdict.Status.UNSURE,
}

# The provider's state and not the question's: asking the next one would only be refused as well.
PROVIDER_REFUSES = frozenset({"unauthorized", "quota", "rate_limited", "bad_request"})


def answer_decision(claim: Claim, decision: Decision) -> None:
    """Ask the decision's question and write its outcome; a decision that has a verdict is left alone.

    A paid request is on the ledger before it leaves. Verdict, usage and outcome then commit together
    under the claim, or none of them. Raises ReviewFailed for what is no failure of this question: one that
    another try may cure, or a provider that answers none.
    """
    if decision.outcomes.filter(verdict__isnull=False).exists():
        return
    reviewer = reviewer_of(decision.revision)
    call = _announce(claim, decision, reviewer) if reviewer.is_paid else None
    try:
        reviewed = reviewer.review(question_about(decision, decision.created_at))
    except ReviewFailed as failed:
        if call is not None:
            _book(call, failed.usage, ModelCall.Outcome.FAILED, str(failed))
        if failed.is_transient or failed.outcome in PROVIDER_REFUSES:
            raise
        _write_failure(claim, decision, call, failed)
        return
    try:
        _write_answer(claim, decision, reviewer, call, reviewed)
    except BaseException:
        if call is not None:  # nothing was written of it; the answer was bought all the same (B8)
            _book(call, reviewed.usage, ModelCall.Outcome.ANSWERED, "answered, and could not be applied")
        raise


@transaction.atomic(durable=True)
def _announce(claim: Claim, decision: Decision, reviewer: Reviewer) -> ModelCall:
    claim.hold()
    owner = decision.revision.filter.owner
    return ModelCall.objects.create(
        purpose="review",
        payer=owner.get_username() if owner else "fleet",
        provider=reviewer.name,
        model=reviewer.model,
        transport="live",
        decision=decision,
    )


@transaction.atomic(durable=True)
def _write_answer(
    claim: Claim, decision: Decision, reviewer: Reviewer, call: ModelCall | None, reviewed: Reviewed
) -> None:
    claim.hold()
    if call is not None:
        _book(call, reviewed.usage, ModelCall.Outcome.ANSWERED, "")
    answer = reviewed.answer
    verdict, _ = Verdict.objects.get_or_create(
        posting_id=decision.posting_id,
        prompt_hash=decision.revision.prompt_hash,
        model=reviewer.model,
        input_hash=decision.input_hash,
        status__in=list(STATUS.values()),
        defaults={
            "status": STATUS[answer.verdict],
            "reason": answer.reason,
            "quote": answer.quote,
            "rule": answer.rule,
            "note": answer.note,
            "steps": [asdict(step) for step in answer.steps],
        },
    )
    Outcome.objects.create(decision=decision, verdict=verdict, call=call)


@transaction.atomic(durable=True)
def _write_failure(claim: Claim, decision: Decision, call: ModelCall | None, failed: ReviewFailed) -> None:
    """An answer that cannot be read is kept as a failure: no verdict, neither pass nor rejection (R7)."""
    claim.hold()
    Outcome.objects.create(decision=decision, call=call, failure=str(failed))


def _book(call: ModelCall, usage: Usage | None, outcome: str, detail: str) -> None:
    ModelCall.objects.filter(pk=call.pk, outcome=ModelCall.Outcome.SENT).update(
        outcome=outcome,
        detail=detail[:2000],
        finished_at=Now(),
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        request_id=(usage.request_id or "")[:100] if usage else "",
    )
