"""Who sees what: personal membership, managed boards, their runs and members."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse

from catalog.models import Posting
from reviews.models import Filter, ReviewRun


class MembershipQuerySet(models.QuerySet["Membership"]):
    def of(self, person: AbstractBaseUser) -> Self:
        return self.filter(user_id=person.pk)


class Membership(models.Model):
    """A posting is on a person's board: listed, eligible, and let in by every enabled filter (V1)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    posting = models.ForeignKey(Posting, models.CASCADE, related_name="memberships")
    joined_at = models.DateTimeField(db_default=Now())

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="boards_membership_once")]

    def __str__(self) -> str:
        return f"{self.posting_id} for {self.user_id}"


class MembershipRefresh(models.Model):
    """When a person's membership was last computed. The row that refreshes of one person queue up on."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="membership_refresh")
    computed_at = models.DateTimeField(null=True)
    counts = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.user_id} at {self.computed_at}"


class ManagedBoardQuerySet(models.QuerySet["ManagedBoard"]):
    def public(self) -> Self:
        return self.filter(status=ManagedBoard.Status.PUBLISHED)

    def behind(self) -> Self:
        """Public boards that an edit, or a change of the catalog, may have put out of date.

        An empty catalog is nothing to choose from: the first list waits for the first postings.
        """
        return self.public().filter(
            Exists(Posting.objects.all()),
            Q(checked_at=None)
            | Q(public_revision=None)
            | ~Q(public_revision=F("revision"))
            | Exists(Posting.objects.changed_since(OuterRef("checked_at"))),
        )


class ManagedBoard(models.Model):
    """A public list, chosen under its own criteria."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        PUBLISHED = "published"
        UNPUBLISHED = "unpublished"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    summary = models.CharField(max_length=500, blank=True, db_default="")
    filter = models.OneToOneField(Filter, models.PROTECT, related_name="board")
    status = models.CharField(max_length=20, choices=Status, default=Status.DRAFT)
    revision = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Raised by each edit that changes what is selected."
    )
    public_revision = models.PositiveIntegerField(
        null=True, blank=True, help_text="The revision that the public list was chosen under."
    )
    published_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, help_text="The catalog was looked through as of then.")
    reviewed_count = models.PositiveIntegerField(default=0, db_default=0)

    objects = ManagedBoardQuerySet.as_manager()

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("boards:board", args=[self.slug])


class BoardRun(models.Model):
    """One selection for a board, under the revision it started from."""

    class Status(models.TextChoices):
        RUNNING = "running"
        PUBLISHED = "published"
        SUPERSEDED = "superseded"
        FAILED = "failed"

    board = models.ForeignKey(ManagedBoard, models.CASCADE, related_name="runs")
    revision = models.PositiveIntegerField()
    review_run = models.ForeignKey(ReviewRun, models.CASCADE, related_name="board_runs")
    status = models.CharField(max_length=20, choices=Status, default=Status.RUNNING)
    note = models.CharField(max_length=500, blank=True, db_default="")
    joined = models.PositiveIntegerField(default=0, db_default=0)
    left = models.PositiveIntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["board"], condition=Q(status="running"), name="boards_one_run_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.board} r{self.revision} {self.status}"


class BoardMemberQuerySet(models.QuerySet["BoardMember"]):
    def public(self) -> Self:
        """Members of boards that are public."""
        return self.filter(board__status=ManagedBoard.Status.PUBLISHED)


class BoardMember(models.Model):
    """A posting is on a public list."""

    board = models.ForeignKey(ManagedBoard, models.CASCADE, related_name="members")
    posting = models.ForeignKey(Posting, models.CASCADE, related_name="board_members")
    joined_at = models.DateTimeField(db_default=Now())
    published_revision = models.PositiveIntegerField()

    objects = BoardMemberQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "posting"], name="boards_member_once")]

    def __str__(self) -> str:
        return f"{self.posting_id} on {self.board_id}"
