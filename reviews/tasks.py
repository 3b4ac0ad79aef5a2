"""The reviews' task kinds."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from reviews.adapters.base import ReviewFailed
from reviews.models import Decision, Filter, ReviewRun
from reviews.services.answers import answer_decision
from reviews.services.runs import begin_answering, check_filter, plan_run, settle_run
from taskqueue.due import due_rows
from taskqueue.handlers import Claim, Done, Fail, Outcome, Retry, WaitForChildren, handler, schedule

CHECK_EVERY_SECONDS = 15  # how soon after a change of the catalog a filter is looked at again


@handler("reviews.check")
def check(claim: Claim) -> Outcome:
    """Look whether a person's filter has postings to answer for. Safe to run twice: a run is started once."""
    filter_ = Filter.objects.enabled().filter(pk=claim.payload["filter_id"]).first()
    if filter_ is None:
        return Done(note="the filter is gone or disabled")
    run = check_filter(filter_)
    return Done(note=f"run {run.pk}" if run else "nothing new to answer")


@schedule("reviews.check")
def filters_behind() -> QuerySet[Any, Any]:
    return due_rows(
        Filter.objects.behind(),
        about="filter",
        key="id",
        payload_name="filter_id",
        period=CHECK_EVERY_SECONDS,
    )


@handler("reviews.plan")
def plan(claim: Claim) -> Outcome:
    """Decide about every unanswered posting. Safe to run twice: what is decided already is not met again."""
    run = ReviewRun.objects.select_related("revision__filter").filter(pk=claim.payload["run_id"]).first()
    if run is None:
        return Fail(reason=_no_run(claim))
    decided = plan_run(claim, run)
    begin_answering(claim, run.pk)
    return WaitForChildren(note=f"{decided} postings decided about")


@handler("reviews.answer")
def answer(claim: Claim) -> Outcome:
    """Answer a handful of decisions. Safe to run twice: a decision with a verdict is not asked again."""
    decisions = (
        Decision.objects.filter(pk__in=claim.payload["decision_ids"])
        .select_related("revision__filter__owner", "text")
        .order_by("pk")
    )
    for number, decision in enumerate(decisions):
        claim.checkpoint()
        try:
            answer_decision(claim, decision)
        except ReviewFailed as failed:
            return Retry(reason=str(failed)) if failed.is_transient else Fail(reason=str(failed))
        claim.progress(number + 1, len(decisions), "")
    if not ReviewRun.objects.filter(pk=claim.payload["run_id"]).exists():
        return Fail(reason=_no_run(claim))
    settle_run(claim.payload["run_id"])
    return Done()


def _no_run(claim: Claim) -> str:
    return f"there is no review run {claim.payload['run_id']}"
