"""Sources and their pulls, and what people make of them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Window
from django.db.models.functions import Now, RowNumber

from catalog.admission import InvalidPattern, TitlePattern

# Minutes between two pulls: a board asked more often is a nuisance to its platform, less often is no source.
SHORTEST_INTERVAL = 5
LONGEST_INTERVAL = 30 * 24 * 60


def check_title_pattern(pattern: str) -> None:
    """Raises ValidationError for a pattern that admission could not use."""
    try:
        TitlePattern(pattern)
    except InvalidPattern as refused:
        raise ValidationError(str(refused)) from refused


class SourceQuerySet(models.QuerySet["Source"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def due(self) -> Self:
        """Active sources whose next pull's time has come."""
        return self.active().filter(next_pull_at__lte=Now())

    def matching(self, search: str) -> Self:
        """Sources that somebody may mean by `search`: a name, an employer, a platform, a token."""
        if not search:
            return self.all()
        parts = ("name", "company", "kind", "token", "url")
        return self.filter(reduce(or_, (Q(**{f"{part}__icontains": search}) for part in parts)))

    def in_state(self, state: str) -> Self:
        """Only those "failing" (failed when last read), "off", or "unread" (never read whole); "" is all."""
        conditions = {
            "failing": Q(is_active=True, failures__gt=0),
            "off": Q(is_active=False),
            "unread": Q(is_active=True, last_complete_at=None),
        }
        return self.filter(conditions[state]) if state else self.all()


class Source(models.Model):
    """A board at a hiring platform that is read again and again."""

    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    token = models.CharField(max_length=1000, help_text="The board's name at its platform.")
    region = models.CharField(max_length=10, blank=True, db_default="")
    url = models.URLField(max_length=2048, help_text="The public careers page.")
    api_root = models.URLField(
        max_length=500, blank=True, db_default="", help_text="Read the platform's API here instead."
    )
    host = models.CharField(max_length=253, help_text="Whose pace a pull keeps to.")
    company = models.CharField(max_length=200, blank=True, db_default="")
    title_pattern = models.CharField(
        max_length=500,
        blank=True,
        db_default="",
        validators=[check_title_pattern],
        help_text="Titles to admit; empty admits all.",
    )
    interval_minutes = models.PositiveIntegerField(
        default=360,
        db_default=360,
        validators=[MinValueValidator(SHORTEST_INTERVAL), MaxValueValidator(LONGEST_INTERVAL)],
    )
    is_active = models.BooleanField(default=True, db_default=True)
    failures = models.PositiveIntegerField(default=0, db_default=0, help_text="Failed pulls in a row.")
    note = models.CharField(max_length=500, blank=True, db_default="", help_text="Why it is switched off.")
    obeys_robots = models.BooleanField(
        default=True, db_default=True, help_text="Off: a person decided to read it all the same."
    )
    validators = models.JSONField(
        default=dict, blank=True, help_text="What the last answer can be asked after by, and what it was."
    )
    recording_pull = models.BigIntegerField(
        default=0, db_default=0, help_text="The newest pull that began to record; older ones write no more."
    )
    next_pull_at = models.DateTimeField(db_default=Now())
    last_pull_at = models.DateTimeField(null=True, blank=True)
    last_complete_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = SourceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "region", "token", "api_root"], name="catalog_source_once"
            ),
            models.CheckConstraint(
                condition=Q(interval_minutes__range=(SHORTEST_INTERVAL, LONGEST_INTERVAL)),
                name="catalog_source_interval_in_bounds",
            ),
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def interval(self) -> timedelta:
        return timedelta(minutes=self.interval_minutes)

    def state_words(self) -> str:
        """How it is doing, for people."""
        if not self.is_active:
            return self.note or "switched off"
        if self.failures:
            pulls = "pull" if self.failures == 1 else "pulls"
            return f"{self.failures} failed {pulls} in a row; next at {self.next_pull_at:%Y-%m-%d %H:%M} UTC"
        hours, minutes = divmod(self.interval_minutes, 60)
        return "read every " + (f"{hours} h" if hours and not minutes else f"{self.interval_minutes} min")


class PullManager(models.Manager["Pull"]):
    def recent(self, sources: Collection[int], most: int = 20) -> dict[int, list[Pull]]:
        """The newest pulls of these sources, the newest first, without those that were put off."""
        rank = Window(RowNumber(), partition_by="source_id", order_by="-started_at")
        ended = self.filter(source__in=sources).exclude(
            outcome__in=(Pull.Outcome.RUNNING, Pull.Outcome.DEFERRED)
        )
        found: dict[int, list[Pull]] = {}
        for pull in ended.alias(rank=rank).filter(rank__lte=most).order_by("source_id", "-started_at"):
            found.setdefault(pull.source_id, []).append(pull)
        return found


class Pull(models.Model):
    """One reading of a source, whatever came of it."""

    class Outcome(models.TextChoices):
        RUNNING = "running"
        COMPLETE = "complete"
        PARTIAL = "partial"
        EMPTY = "empty"
        UNCHANGED = "unchanged"
        DEFERRED = "deferred"
        FAILED = "failed"

    source = models.ForeignKey(Source, models.CASCADE, related_name="pulls")
    task_id = models.BigIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=20, choices=Outcome, default=Outcome.RUNNING)
    fault = models.CharField(max_length=40, blank=True, db_default="", help_text="Which kind of failure.")
    detail = models.TextField(blank=True, db_default="")
    seen = models.PositiveIntegerField(default=0, db_default=0)
    kept = models.PositiveIntegerField(default=0, db_default=0)
    new = models.PositiveIntegerField(default=0, db_default=0)
    changed = models.PositiveIntegerField(default=0, db_default=0)
    unlisted = models.PositiveIntegerField(default=0, db_default=0)
    rejected = models.PositiveIntegerField(default=0, db_default=0)
    size = models.PositiveBigIntegerField(null=True, blank=True, help_text="Bytes of all pages, decoded.")
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = PullManager()

    class Meta:
        ordering = ["-started_at"]
        indexes = [models.Index(fields=["source", "-started_at"], name="catalog_pull_latest")]

    def __str__(self) -> str:
        return f"{self.source_id} {self.outcome}"


class PullPage(models.Model):
    """One response of a pull: what was asked, and what came, as kept."""

    pull = models.ForeignKey(Pull, models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()
    url = models.URLField(max_length=2048)
    status = models.PositiveSmallIntegerField()
    rows = models.PositiveIntegerField(null=True, blank=True, help_text="None: it could not be read.")
    size = models.PositiveBigIntegerField(help_text="Bytes, decoded.")
    raw_key = models.CharField(max_length=200, help_text="The response, as kept.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pull", "number"], name="catalog_pullpage_once")]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"{self.pull_id} page {self.number}"


class SourceBundleManager(models.Manager["SourceBundle"]):
    def with_counts(self, user_id: int) -> QuerySet[SourceBundle]:
        """Each with the number of its sources, and whether the person follows it."""
        followed = Subscription.objects.filter(bundle=OuterRef("pk"), user_id=user_id)
        return self.annotate(count=Count("sources"), is_followed=Exists(followed))


class SourceBundle(models.Model):
    """Sources of one theme, to be followed together."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True, db_default="")
    sources = models.ManyToManyField(Source, related_name="bundles", blank=True)

    objects = SourceBundleManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Subscription(models.Model):
    """A person follows a source, or a bundle and whatever is in it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="subscriptions")
    source = models.ForeignKey(Source, models.CASCADE, null=True, blank=True, related_name="subscriptions")
    bundle = models.ForeignKey(
        SourceBundle, models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(source=None) ^ Q(bundle=None), name="catalog_subscription_to_one_thing"
            ),
            models.UniqueConstraint(fields=["user", "source"], name="catalog_subscription_source_once"),
            models.UniqueConstraint(fields=["user", "bundle"], name="catalog_subscription_bundle_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} follows {self.source or self.bundle}"


class SourceRequest(models.Model):
    """A person asks for a source that they could not add themselves, and gets an answer."""

    class Status(models.TextChoices):
        OPEN = "open", "waiting for an answer"
        ADDED = "added", "added"
        REFUSED = "refused", "not added"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="source_requests")
    url = models.URLField(max_length=2048)
    note = models.CharField(max_length=500, blank=True, db_default="")
    found = models.CharField(max_length=500, blank=True, db_default="", help_text="What the page told.")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN, db_default=Status.OPEN)
    answer = models.CharField(max_length=500, blank=True, db_default="")
    source = models.ForeignKey(Source, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "url"], condition=Q(status="open"), name="catalog_request_once"
            )
        ]

    def __str__(self) -> str:
        return self.url


class LookPlace(models.Model):
    """A person's one place for looking at a board that is not added yet: taken until then."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    taken_until = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.user_id} until {self.taken_until}"


class RobotsFile(models.Model):
    """What a host asks of robots, as last read."""

    host = models.CharField(max_length=260, unique=True, help_text="With its port, where that is unusual.")
    text = models.TextField(blank=True, db_default="")
    outcome = models.CharField(max_length=40, help_text="fetched, none, or why it is not known.")
    failures = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Times in a row that it could not be read."
    )
    fetched_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.host}: {self.outcome}"


class Alert(models.Model):
    """Something in the catalog that a person has to look at; open until it is over or somebody says so."""

    class Kind(models.TextChoices):
        SWITCHED_OFF = "source_switched_off", "a source was switched off"
        EMPTIED = "source_emptied", "a board that had postings shows none"

    kind = models.CharField(max_length=40, choices=Kind)
    source = models.ForeignKey(Source, models.CASCADE, related_name="alerts")
    message = models.CharField(max_length=500)
    raised_at = models.DateTimeField(db_default=Now())
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-raised_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "source"], condition=Q(resolved_at=None), name="catalog_alert_open_once"
            )
        ]

    def __str__(self) -> str:
        return self.message
