"""Sources and what was seen at them; postings and what is known of them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast, Coalesce, Now

from catalog.admission import InvalidPattern, TitlePattern

if TYPE_CHECKING:
    from datetime import date, datetime

CHANGE_OVERLAP = timedelta(minutes=2)
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


class Source(models.Model):
    """A board at a hiring platform that is read again and again."""

    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    token = models.CharField(max_length=200, help_text="The board's name at its platform.")
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


class Pull(models.Model):
    """One reading of a source, whatever came of it."""

    class Outcome(models.TextChoices):
        RUNNING = "running"
        COMPLETE = "complete"
        PARTIAL = "partial"
        EMPTY = "empty"
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


class TitleRule(models.Model):
    """A title pattern as it once decided, stored once however many listings it decided."""

    pattern = models.CharField(max_length=500, unique=True)

    def __str__(self) -> str:
        return self.pattern


class PostingQuerySet(models.QuerySet["Posting"]):
    def listed(self) -> Self:
        """Postings that at least one source shows now and admits."""
        return self.filter(
            models.Exists(Listing.objects.filter(posting=models.OuterRef("pk"), kept=True, unlisted_at=None))
        )

    def not_closed(self) -> Self:
        return self.exclude(availability=Posting.Availability.CLOSED)

    def described(self) -> Self:
        """Postings whose whole text is known (A5)."""
        return self.exclude(text=None)

    def posted_since(self, day: date, instant: datetime) -> Self:
        """Postings dated on or after; those without a date count by when they were first seen.

        A posting cannot have been published after it was first seen, so an undated one that was seen
        before `instant` is certainly older; a younger one may be older and is kept (A9).
        """
        return self.filter(
            Q(posted_at__gte=instant)
            | Q(posted_at=None, posted_on__gte=day)
            | Q(posted_at=None, posted_on=None, first_seen_at__gte=instant)
        )

    def changed_since(self, instant: datetime | models.OuterRef) -> Self:
        """Postings that whoever looked at `instant` may not have seen as they are now.

        A transaction that began before `instant` may commit after it, with its own earlier clock: hence
        the overlap, far longer than any transaction here.
        """
        return self.filter(changed_at__gte=instant - CHANGE_OVERLAP)

    def newest_first(self) -> Self:
        """By the day it was posted, where a source says so, else by when it was first seen."""
        dated = Coalesce("posted_at", Cast("posted_on", models.DateTimeField()), "first_seen_at")
        return self.order_by(dated.desc(), "-pk")

    def for_rows(self) -> Self:
        """What a list row shows, without the texts."""
        return self.select_related("compensation")


class Posting(models.Model):
    """A role at one employer that the catalog admitted, as its leading listing last showed it."""

    class Availability(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"
        UNKNOWN = "unknown"

    canonical_url = models.TextField(unique=True)
    apply_url = models.TextField(blank=True, db_default="")
    title = models.CharField(max_length=500)
    company = models.CharField(max_length=200, blank=True, db_default="")
    department = models.CharField(max_length=200, blank=True, db_default="")
    locations = models.JSONField(default=list, help_text="Places as the source writes them.")
    remote = models.CharField(max_length=10, default="unknown", db_default="unknown")
    employment_type = models.CharField(max_length=20, blank=True, db_default="")
    posted_at = models.DateTimeField(null=True, blank=True)
    posted_on = models.DateField(
        null=True, blank=True, help_text="The day, where the source states no instant."
    )
    availability = models.CharField(max_length=10, choices=Availability, default=Availability.OPEN)
    availability_reason = models.CharField(max_length=300, blank=True, db_default="")
    text = models.ForeignKey("PostingText", models.SET_NULL, null=True, blank=True, related_name="+")
    content_hash = models.CharField(max_length=64, help_text="Identity of all that a review reads.")
    near_copy_key = models.CharField(max_length=64, blank=True, db_default="")
    lead = models.ForeignKey("Listing", models.SET_NULL, null=True, blank=True, related_name="+")
    places: models.ManyToManyField[Place, PostingPlace] = models.ManyToManyField(
        "Place", through="PostingPlace", related_name="postings"
    )
    first_seen_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now(), db_index=True)

    objects = PostingQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["near_copy_key"], condition=~Q(near_copy_key=""), name="catalog_posting_copies"
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} at {self.company}" if self.company else self.title

    @property
    def is_closed(self) -> bool:
        return self.availability == self.Availability.CLOSED


class ListingQuerySet(models.QuerySet["Listing"]):
    def listed(self) -> Self:
        return self.filter(unlisted_at=None)

    def kept(self) -> Self:
        return self.filter(kept=True)


class Listing(models.Model):
    """What a source showed under one of its own ids, admitted or not (A1)."""

    class Ruling(models.TextChoices):
        NO_PATTERN = "no_pattern", "the source admits every title"
        PATTERN = "pattern", "its title matches the source's pattern"
        PATTERN_MISS = "pattern_miss", "its title does not match the source's pattern"
        DROP_BOX = "drop_box", "it is a test record or a talent pool, not a job"

    source = models.ForeignKey(Source, models.CASCADE, related_name="listings")
    external_key = models.CharField(max_length=300)
    url = models.TextField()
    title = models.CharField(max_length=500)
    company = models.CharField(max_length=200, blank=True, db_default="")
    locations = models.JSONField(default=list)
    posted_at = models.DateTimeField(null=True, blank=True)
    posted_on = models.DateField(null=True, blank=True)
    kept = models.BooleanField()
    ruling = models.CharField(max_length=20, choices=Ruling)
    rule = models.ForeignKey(TitleRule, models.PROTECT, null=True, blank=True, related_name="+")
    fingerprint = models.CharField(max_length=64, help_text="Of the listing as read and of what ruled on it.")
    pull = models.ForeignKey(Pull, models.SET_NULL, null=True, related_name="+", help_text="Last change.")
    posting = models.ForeignKey(Posting, models.SET_NULL, null=True, blank=True, related_name="listings")
    first_seen_at = models.DateTimeField(db_default=Now())
    unlisted_at = models.DateTimeField(null=True, blank=True)

    objects = ListingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "external_key"], name="catalog_listing_once")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def last_seen_at(self) -> datetime | None:
        """A listed row is not touched by pulls that find it unchanged (A7): its source's time is its own."""
        return self.unlisted_at or self.source.last_complete_at or self.source.last_pull_at


class Observation(models.Model):
    """A change in how a source shows a posting. Appended, never edited."""

    class Kind(models.TextChoices):
        APPEARED = "appeared"
        REAPPEARED = "reappeared"
        FILTERED = "filtered"
        UNLISTED = "unlisted"

    posting = models.ForeignKey(Posting, models.CASCADE, related_name="observations")
    source = models.ForeignKey(Source, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind)
    pull = models.ForeignKey(Pull, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.posting_id} {self.kind}"


class PostingText(models.Model):
    """A version of a posting's whole text, kept once per content (A5)."""

    posting = models.ForeignKey(Posting, models.CASCADE, related_name="texts")
    content_hash = models.CharField(max_length=64)
    text = models.TextField()
    html = models.TextField(help_text="Sanitised; safe to show.")
    method = models.CharField(max_length=40, help_text="How it was obtained.")
    fetched_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["posting", "content_hash"], name="catalog_text_once")]

    def __str__(self) -> str:
        return self.content_hash[:12]


class Place(models.Model):
    """One place read out of a text that sources write; unknown parts are empty."""

    raw = models.CharField(max_length=300)
    ordinal = models.PositiveSmallIntegerField(default=0, help_text="A text may name several places.")
    country = models.CharField(max_length=2, blank=True, db_default="")
    region = models.CharField(max_length=100, blank=True, db_default="")
    city = models.CharField(max_length=150, blank=True, db_default="")
    remote = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["raw", "ordinal"], name="catalog_place_once")]

    def __str__(self) -> str:
        return self.raw


class PostingPlace(models.Model):
    posting = models.ForeignKey(Posting, models.CASCADE)
    place = models.ForeignKey(Place, models.PROTECT)
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["posting", "place"], name="catalog_postingplace_once")]


class Compensation(models.Model):
    """Pay as stated: by the source's own fields, or by a sentence of the text."""

    class Basis(models.TextChoices):
        STRUCTURED = "structured", "the source states it"
        TEXT = "text", "a sentence of the text states it"

    posting = models.OneToOneField(Posting, models.CASCADE, related_name="compensation")
    min = models.DecimalField(max_digits=14, decimal_places=2, null=True, blank=True)
    max = models.DecimalField(max_digits=14, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, db_default="")
    period = models.CharField(max_length=10, blank=True, db_default="")
    basis = models.CharField(max_length=10, choices=Basis)
    sentence = models.TextField(blank=True, db_default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(min=None, max=None), name="catalog_compensation_says_something"
            )
        ]

    def __str__(self) -> str:
        return f"{self.min}-{self.max} {self.currency}"
