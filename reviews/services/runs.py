"""Runs: which postings a revision has still to answer for, and the decision about each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from catalog.models import Posting, PostingQuerySet
from reviews.adapters.base import Reviewer
from reviews.models import Decision, Filter, FilterRevision, Outcome, ReviewRun, RunDecision, Verdict
from reviews.reviewers import reviewer_of, rules_reviewer
from reviews.services.questions import question_about, snapshot_of
from reviews.stages import eligible, funnel
from taskqueue.handlers import Claim
from taskqueue.models import Task, TaskStatus, account_of
from taskqueue.services import enqueue, enqueue_children, request_cancel

CHUNK = 25
# A posting that failed as often is left alone until its text or the question changes.
FAILURES_BEFORE_REST = 3
REST = timedelta(minutes=5)  # after a run that came to nothing: a refused key is refused again


def run_subject(run_id: int) -> str:
    return f"review-run:{run_id}"


@transaction.atomic
def start_run(revision: FilterRevision, *, asked_by: str = "") -> ReviewRun:
    """A run of the revision over the catalog, planned by a worker; one that is under way is returned instead.

    The filter's row is locked, so that two callers never ask the same questions side by side.
    """
    filter_ = Filter.objects.select_for_update(of=["self"]).select_related("owner").get(pk=revision.filter_id)
    for run in revision.runs.exclude(status=ReviewRun.Status.FINISHED):
        if Task.objects.unfinished().filter(subject=run_subject(run.pk)).exists():
            return run
    run = ReviewRun.objects.create(revision=revision, asked_by=asked_by)
    enqueue(
        "reviews.plan",
        payload={"run_id": run.pk},
        subject=run_subject(run.pk),
        key=f"reviews.plan:{run.pk}",
        priority=30,
        account=account_of(filter_.owner) if filter_.owner else "",  # a person's reviews take turns
    )
    return run


def unanswered(revision: FilterRevision) -> PostingQuerySet:
    """Eligible postings that no verdict answers as they are now, but for those that keep failing."""
    reviewer = reviewer_of(revision)
    now = timezone.now()
    answered = Verdict.objects.answering(prompt_hash=revision.prompt_hash, model=reviewer.model)
    decided = Decision.objects.filter(
        revision=revision,
        posting=OuterRef("pk"),
        input_hash=OuterRef("content_hash"),
        policy_digest=policy_digest(revision, reviewer),
    )
    spent = decided.annotate(
        failures=Count("outcomes", filter=Q(outcomes__verdict=None) & Q(outcomes__isnull=False))
    ).filter(failures__gte=FAILURES_BEFORE_REST)
    return (
        eligible(revision.parsed(), now)
        .exclude(Exists(answered.filter(posting=OuterRef("pk"))))
        .exclude(Exists(decided.filter(action=Decision.Action.SKIP)))
        .exclude(Exists(spent))
    )


def selected(revision: FilterRevision) -> PostingQuerySet:
    """Eligible postings that the revision's own reviewer lets in, by answers to what they say now."""
    reviewer = reviewer_of(revision)
    chosen = Verdict.objects.answering(prompt_hash=revision.prompt_hash, model=reviewer.model).selected(
        keep_unsure=revision.on_ambiguous == FilterRevision.Ambiguous.KEEP
    )
    return eligible(revision.parsed(), timezone.now()).filter(Exists(chosen.filter(posting=OuterRef("pk"))))


def plan_run(claim: Claim, run: ReviewRun) -> int:
    """Decide, durably and before anything is asked, what happens to each unanswered posting (R4).

    In chunks: each commits its decisions together with the task that answers them, so a planner that
    dies is followed by one that finds the rest. Returns the number of postings decided about.
    """
    revision = run.revision
    reviewer = reviewer_of(revision)
    met = RunDecision.objects.filter(run=run, decision__posting=OuterRef("pk"))
    pending = list(unanswered(revision).exclude(Exists(met)).order_by("pk").values_list("pk", flat=True))
    counts = {**funnel(revision.parsed(), timezone.now()), "unanswered": len(pending)}
    ReviewRun.objects.filter(pk=run.pk).update(counts=counts)
    for start in range(0, len(pending), CHUNK):
        claim.checkpoint()
        claim.progress(start, len(pending), "deciding")
        _decide_chunk(claim, run, reviewer, pending[start : start + CHUNK])
    return len(pending)


@transaction.atomic(durable=True)
def _decide_chunk(claim: Claim, run: ReviewRun, reviewer: Reviewer, posting_ids: Iterable[int]) -> None:
    claim.hold()
    postings = (
        Posting.objects.filter(pk__in=posting_ids)
        .select_related("text", "compensation")
        .prefetch_related("places")
        .order_by("pk")
    )
    decided = [_decision(run.revision, reviewer, posting) for posting in postings]
    Decision.objects.bulk_create(decided, ignore_conflicts=True)
    stored = Decision.objects.filter(
        revision=run.revision,
        posting__in=[decision.posting_id for decision in decided],
        input_hash__in=[decision.input_hash for decision in decided],
        policy_digest=policy_digest(run.revision, reviewer),
    )
    RunDecision.objects.bulk_create(
        (RunDecision(run=run, decision=decision) for decision in stored), ignore_conflicts=True
    )
    ask = sorted(decision.pk for decision in stored if decision.action == Decision.Action.REVIEW)
    if ask:
        enqueue_children(
            claim,
            "reviews.answer",
            [{"run_id": run.pk, "decision_ids": ask}],
            subject=run_subject(run.pk),
            priority=30,
        )


def _decision(revision: FilterRevision, reviewer: Reviewer, posting: Posting) -> Decision:
    """Ask, or skip where a rule rejects: the embedded rules come before a paid request (R2)."""
    decision = Decision(
        revision=revision,
        posting=posting,
        input_hash=posting.content_hash,
        policy_digest=policy_digest(revision, reviewer),
        stage="review",
        action=Decision.Action.REVIEW,
        snapshot=snapshot_of(posting),
        text=posting.text,
    )
    if reviewer.is_paid:
        answer = rules_reviewer().review(question_about(decision, timezone.now())).answer
        if answer.verdict == "reject":
            decision.stage, decision.action = "rules", Decision.Action.SKIP
            decision.rule, decision.reason, decision.quote = answer.rule, answer.reason, answer.quote
    return decision


def policy_digest(revision: FilterRevision, reviewer: Reviewer) -> str:
    """Identity of the question and of who answers it."""
    return hashlib.sha256(f"{revision.prompt_hash} {reviewer.name} {reviewer.model}".encode()).hexdigest()


@transaction.atomic(durable=True)
def settle_run(run_id: int) -> bool:
    """Finish the run once every decision to ask has an outcome; returns whether it is finished.

    The run's row is locked, so of two last answers one sees the other's outcome.
    """
    run = ReviewRun.objects.select_for_update().get(pk=run_id)
    if run.status == ReviewRun.Status.ANSWERING and not open_decisions(run).exists():
        run.status = ReviewRun.Status.FINISHED
        ReviewRun.objects.filter(pk=run_id).update(status=run.status, finished_at=Now())
    return run.status == ReviewRun.Status.FINISHED


def open_decisions(run: ReviewRun) -> QuerySet[Decision]:
    """The run's decisions to ask that it has no outcome for yet; an earlier run's failure is none."""
    settled = Outcome.objects.filter(decision=OuterRef("pk")).filter(
        Q(at__gte=run.started_at) | Q(verdict__isnull=False)
    )
    return Decision.objects.filter(runs__run=run, action=Decision.Action.REVIEW).exclude(Exists(settled))


def answered_count(revision: FilterRevision) -> int:
    """How many postings have an answer to the revision's question, as they are now."""
    model = reviewer_of(revision).model
    return Verdict.objects.answering(prompt_hash=revision.prompt_hash, model=model).count()


def why_unanswered(run: ReviewRun) -> str:
    """What kept the run from an answer, in words; "" where its questions are answered.

    Single answers that could not be read are told by the explanation of their posting. A run that was cut
    short, or that got none at all, has nothing to be used.
    """
    tasks = Task.objects.filter(subject=run_subject(run.pk), status=TaskStatus.FAILED)
    failed = tasks.order_by("-pk").first()
    if run.status != ReviewRun.Status.FINISHED:
        return f"the review was cut short: {failed.error if failed else 'its tasks ended'}"
    asked = Decision.objects.filter(runs__run=run, action=Decision.Action.REVIEW)
    if asked.exists() and not asked.filter(outcomes__verdict__isnull=False).exists():
        return f"none of {asked.count()} questions was answered"
    return ""


def begin_answering(claim: Claim, run_id: int) -> None:
    """The plan is whole: from now on the run is finished when its last decision has an outcome."""
    with transaction.atomic(durable=True):
        claim.hold()
        ReviewRun.objects.filter(pk=run_id, status=ReviewRun.Status.PLANNED).update(
            status=ReviewRun.Status.ANSWERING
        )
    settle_run(run_id)


def check_filter(filter_: Filter) -> ReviewRun | None:
    """Start a run where the newest revision leaves postings unanswered.

    As of when it was looked at is noted only once nothing is: what a run could not answer is asked again,
    after a rest where the run came to nothing.
    """
    looked_at = timezone.now()
    revision = filter_.current()
    if not unanswered(revision).exists():
        Filter.objects.filter(pk=filter_.pk).update(checked_at=looked_at)
        return None
    return None if is_resting(revision) else start_run(revision, asked_by="schedule")


def is_resting(revision: FilterRevision) -> bool:
    """Whether the revision's last run ended without finishing, so recently that another would end alike."""
    last = revision.runs.order_by("-started_at").first()
    if last is None or last.status == ReviewRun.Status.FINISHED or last.started_at < timezone.now() - REST:
        return False
    return not Task.objects.unfinished().filter(subject=run_subject(last.pk)).exists()


@transaction.atomic
def abandon_run(run: ReviewRun) -> None:
    """Nothing of the run is asked any more: its selection could not be used."""
    for task_id in Task.objects.unfinished().filter(subject=run_subject(run.pk)).values_list("pk", flat=True):
        request_cancel(task_id)
