"""Filters and their revisions; decisions, the calls they led to, and verdicts."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from catalog.models import CHANGE_OVERLAP, Posting
from reviews.criteria import Criteria


class FilterQuerySet(models.QuerySet["Filter"]):
    def enabled(self) -> Self:
        return self.filter(is_enabled=True)

    def owned_by(self, person: AbstractBaseUser) -> Self:
        return self.filter(owner_id=person.pk)

    def personal(self) -> Self:
        return self.exclude(owner=None)

    def behind(self) -> Self:
        """Enabled filters of people that the catalog, or an edit, has passed since they were checked."""
        return (
            self.enabled()
            .personal()
            .filter(
                Q(checked_at=None)
                | Q(changed_at__gte=F("checked_at") - CHANGE_OVERLAP)
                | Exists(Posting.objects.changed_since(OuterRef("checked_at")))
            )
        )


class Filter(models.Model):
    """What somebody wants to see: a name and a line of immutable revisions."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="filters"
    )
    name = models.CharField(max_length=200)
    is_enabled = models.BooleanField(default=True, db_default=True)
    changed_at = models.DateTimeField(db_default=Now(), help_text="Last revised, enabled or disabled.")
    checked_at = models.DateTimeField(null=True, help_text="The catalog was looked through as of then.")
    created_at = models.DateTimeField(db_default=Now())

    objects = FilterQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def current(self) -> FilterRevision:
        """The newest revision. Every filter has one, from the transaction that made it."""
        return self.revisions.latest("number")


class FilterRevision(models.Model):
    """Criteria as they once were, with all that decides an answer. Never edited: a trigger refuses (R1)."""

    class Ambiguous(models.TextChoices):
        KEEP = "keep", "show it"
        DROP = "drop", "leave it out"

    filter = models.ForeignKey(Filter, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    criteria = models.JSONField(default=dict)
    prompt = models.TextField(help_text="The question as put to a reviewer.")
    prompt_hash = models.CharField(max_length=64, db_index=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=100, help_text="As asked for; a verdict names the one that answered.")
    on_ambiguous = models.CharField(max_length=10, choices=Ambiguous, default=Ambiguous.DROP)
    created_by = models.CharField(max_length=150, blank=True, db_default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["filter", "number"], name="reviews_revision_once")]
        ordering = ["filter", "-number"]

    def __str__(self) -> str:
        return f"{self.filter} r{self.number}"

    def parsed(self) -> Criteria:
        return Criteria.parse(self.criteria)


class ReviewRun(models.Model):
    """One pass of a filter's revision over the catalog."""

    class Status(models.TextChoices):
        PLANNED = "planned"
        ANSWERING = "answering"
        FINISHED = "finished"

    revision = models.ForeignKey(FilterRevision, models.CASCADE, related_name="runs")
    status = models.CharField(max_length=20, choices=Status, default=Status.PLANNED)
    transport = models.CharField(max_length=10, default="live")
    counts = models.JSONField(default=dict, help_text="Postings left after each stage, in order.")
    asked_by = models.CharField(max_length=150, blank=True, db_default="")
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.revision}"


class Decision(models.Model):
    """What was to be done about one posting under one revision, committed before it was done (R4).

    Once per distinct content: however often runs meet the same posting, text and policy, it is one row.
    """

    class Action(models.TextChoices):
        REVIEW = "review", "ask the reviewer"
        REUSE = "reuse", "reuse a verdict on the same content"
        SKIP = "skip", "a rule rejected it before any request"

    revision = models.ForeignKey(FilterRevision, models.CASCADE, related_name="decisions")
    posting = models.ForeignKey(Posting, models.CASCADE, related_name="decisions")
    input_hash = models.CharField(max_length=64, help_text="The posting's content hash when it was decided.")
    policy_digest = models.CharField(max_length=64, help_text="Of prompt, provider and model.")
    stage = models.CharField(max_length=20)
    action = models.CharField(max_length=10, choices=Action)
    rule = models.CharField(max_length=100, blank=True, db_default="")
    reason = models.TextField(blank=True, db_default="")
    quote = models.TextField(blank=True, db_default="")
    snapshot = models.JSONField(default=dict, help_text="The posting as asked about, without its text.")
    text = models.ForeignKey(
        "catalog.PostingText", models.SET_NULL, null=True, related_name="+", help_text="The text asked about."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "posting", "input_hash", "policy_digest"], name="reviews_decision_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.posting_id}"


class RunDecision(models.Model):
    """A run met a decision."""

    run = models.ForeignKey(ReviewRun, models.CASCADE, related_name="met")
    decision = models.ForeignKey(Decision, models.CASCADE, related_name="runs")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "decision"], name="reviews_rundecision_once")]


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def decided(self) -> Self:
        """Verdicts that say something of the posting; a failed answer says nothing (R7)."""
        return self.exclude(status=Verdict.Status.FAILED)

    def current(self) -> Self:
        """Verdicts on what the posting says now; an answer about an older text is not one (R7)."""
        return self.filter(input_hash=F("posting__content_hash"))

    def answering(self, *, prompt_hash: str, model: str) -> Self:
        """Decided, current answers to one question by one model."""
        return self.decided().current().filter(prompt_hash=prompt_hash, model=model)

    def selected(self, *, keep_unsure: bool) -> Self:
        statuses = [Verdict.Status.PASSED] + ([Verdict.Status.UNSURE] if keep_unsure else [])
        return self.filter(status__in=statuses)


class Verdict(models.Model):
    """An answer about a posting, keyed by the question and the model that answered. Appended only."""

    class Status(models.TextChoices):
        PASSED = "passed"
        REJECTED = "rejected"
        UNSURE = "unsure"
        FAILED = "failed"

    posting = models.ForeignKey(Posting, models.CASCADE, related_name="verdicts")
    prompt_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=100)
    input_hash = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status)
    reason = models.TextField(blank=True, db_default="")
    quote = models.TextField(blank=True, db_default="")
    rule = models.CharField(max_length=100, blank=True, db_default="")
    steps = models.JSONField(default=list)
    note = models.TextField(blank=True, db_default="", help_text="What the reviewer left aside.")
    at = models.DateTimeField(db_default=Now())

    objects = VerdictQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["prompt_hash", "model", "posting", "input_hash"],
                condition=~Q(status="failed"),
                name="reviews_verdict_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.posting_id}"


class ModelCall(models.Model):
    """A request that costs money or compute, one row each, there before the request leaves.

    A row without `finished_at` is a request whose answer never reached the ledger: its usage is
    unknown, not zero (B8).
    """

    class Outcome(models.TextChoices):
        SENT = "sent"
        ANSWERED = "answered"
        FAILED = "failed"

    purpose = models.CharField(max_length=40)
    payer = models.CharField(max_length=150)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=100)
    transport = models.CharField(max_length=10)
    decision = models.ForeignKey(Decision, models.SET_NULL, null=True, related_name="calls")
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.SENT)
    detail = models.TextField(blank=True, db_default="")
    input_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    request_id = models.CharField(max_length=100, blank=True, db_default="")
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return f"{self.purpose} {self.model} {self.outcome}"


class Outcome(models.Model):
    """What became of a decision to ask: a verdict, or a failure in the reviewer's words."""

    decision = models.ForeignKey(Decision, models.CASCADE, related_name="outcomes")
    verdict = models.ForeignKey(Verdict, models.SET_NULL, null=True, related_name="outcomes")
    call = models.ForeignKey(ModelCall, models.SET_NULL, null=True, related_name="+")
    failure = models.TextField(blank=True, db_default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision"], condition=Q(verdict__isnull=False), name="reviews_outcome_once"
            )
        ]

    def __str__(self) -> str:
        return str(self.verdict or self.failure)
