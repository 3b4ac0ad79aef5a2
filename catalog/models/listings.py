"""What was seen at sources: listings, what ruled on them, and how a posting came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from catalog.models.postings import Posting
from catalog.models.sources import Pull, Source

if TYPE_CHECKING:
    from datetime import datetime


class TitleRule(models.Model):
    """A title pattern as it once decided, stored once however many listings it decided."""

    pattern = models.CharField(max_length=500, unique=True)

    def __str__(self) -> str:
        return self.pattern


class ListingQuerySet(models.QuerySet["Listing"]):
    def listed(self) -> Self:
        return self.filter(unlisted_at=None)

    def kept(self) -> Self:
        return self.filter(kept=True)

    def to_read_again(self, source: Source) -> Self:
        """Listings that the next reading writes again, changed or not. Index: catalog_listing_reread."""
        return self.filter(source=source, fingerprint="", unlisted_at=None)


class Listing(models.Model):
    """What a source showed under one of its own ids, admitted or not (A1)."""

    class Ruling(models.TextChoices):
        NO_PATTERN = "no_pattern", "the source admits every title"
        PATTERN = "pattern", "its title matches the source's pattern"
        PATTERN_MISS = "pattern_miss", "its title does not match the source's pattern"
        DROP_BOX = "drop_box", "it is a test record or a talent pool, not a job"
        CLOSED = "closed", "the source itself marks it as closed"

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
    fingerprint = models.CharField(
        max_length=64, help_text="Of the listing as read and of what ruled on it; empty: read it again."
    )
    pull = models.ForeignKey(Pull, models.SET_NULL, null=True, related_name="+", help_text="Last change.")
    posting = models.ForeignKey(Posting, models.SET_NULL, null=True, blank=True, related_name="listings")
    first_seen_at = models.DateTimeField(db_default=Now())
    unlisted_at = models.DateTimeField(null=True, blank=True)
    has_text = models.BooleanField(
        default=True, db_default=True, help_text="Whether the list shows its text."
    )
    detail_at = models.DateTimeField(null=True, blank=True, help_text="When its own page was last read.")
    detail_failures = models.PositiveSmallIntegerField(default=0, db_default=0)

    objects = ListingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "external_key"], name="catalog_listing_once")
        ]
        indexes = [
            models.Index(
                fields=["source"],
                condition=Q(kept=True, has_text=False, unlisted_at=None),
                name="catalog_listing_textless",
            ),
            models.Index(
                fields=["source"],
                condition=Q(fingerprint="", unlisted_at=None),
                name="catalog_listing_reread",
            ),
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
        CLOSED = "closed"
        REOPENED = "reopened"

    posting = models.ForeignKey(Posting, models.CASCADE, related_name="observations")
    source = models.ForeignKey(Source, models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind)
    pull = models.ForeignKey(Pull, models.SET_NULL, null=True, related_name="+")
    evidence = models.CharField(max_length=300, blank=True, db_default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.posting_id} {self.kind}"
