"""Postings: what the catalog admitted, and what is known of it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Cast, Coalesce, Now

if TYPE_CHECKING:
    from datetime import date, datetime

CHANGE_OVERLAP = timedelta(minutes=2)
SEARCH_MAX_WORDS = 6
_TOKENS = re.compile(r"[^\W_]+")


def _prefix(token: str) -> str:
    """A word's beginning as the search has it; a plural finds its singular too."""
    singular = token[:-1] if len(token) > 4 and token.endswith("s") and not token.endswith("ss") else ""
    return f"({token}:* | {singular}:*)" if singular else f"{token}:*"


class PostingQuerySet(models.QuerySet["Posting"]):
    def listed(self) -> Self:
        """Postings that at least one source shows now and admits."""
        from catalog.models.listings import Listing  # which knows postings

        shown = Listing.objects.filter(posting=models.OuterRef("pk"), kept=True, unlisted_at=None)
        return self.filter(models.Exists(shown))

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

    def found_by(self, words: str) -> Self:
        """Postings in which each word occurs, or begins a word: in title, employer, places or text.

        A posting whose words are not read yet, which takes seconds, is found by its title. Index:
        catalog_posting_search.
        """
        found = self
        for word in words.split()[:SEARCH_MAX_WORDS]:
            if tokens := _TOKENS.findall(word.lower()):
                query = SearchQuery(" & ".join(map(_prefix, tokens)), search_type="raw", config="simple")
                found = found.filter(Q(search=query) | Q(search=None, title__icontains=word))
        return found

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
    facts_hash = models.CharField(
        max_length=64, blank=True, db_default="", help_text="The content that the facts below were read from."
    )
    near_copy_key = models.CharField(max_length=64, blank=True, db_default="")
    company_key = models.CharField(max_length=200, blank=True, db_default="")
    role_key = models.CharField(max_length=200, blank=True, db_default="")
    search = SearchVectorField(null=True, editable=False)
    checked_at = models.DateTimeField(null=True, blank=True, help_text="When it was last asked after.")
    next_check_at = models.DateTimeField(null=True, blank=True)
    check_failures = models.PositiveSmallIntegerField(default=0, db_default=0)
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
            ),
            models.Index(
                fields=["company_key", "role_key"], condition=~Q(role_key=""), name="catalog_posting_roles"
            ),
            models.Index(
                fields=["id"], condition=~Q(facts_hash=F("content_hash")), name="catalog_posting_unread"
            ),
            models.Index(
                fields=["next_check_at"],
                condition=Q(next_check_at__isnull=False),
                name="catalog_posting_check_due",
            ),
            GinIndex(fields=["search"], name="catalog_posting_search"),
        ]

    def __str__(self) -> str:
        return f"{self.title} at {self.company}" if self.company else self.title

    @property
    def is_closed(self) -> bool:
        return self.availability == self.Availability.CLOSED


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


class SearchWord(models.Model):
    """A word of titles and employers' names: what a misspelled search may have meant."""

    word = models.CharField(max_length=60, unique=True)

    class Meta:
        indexes = [GinIndex(fields=["word"], opclasses=["gin_trgm_ops"], name="catalog_searchword_trgm")]

    def __str__(self) -> str:
        return self.word


class GroupDecision(models.Model):
    """A person's word on whether two postings are one role; it goes before any rule, for good."""

    first = models.ForeignKey(Posting, models.CASCADE, related_name="+")
    second = models.ForeignKey(Posting, models.CASCADE, related_name="+")
    is_same = models.BooleanField()
    decided_by = models.CharField(max_length=150)
    reason = models.CharField(max_length=300, blank=True, db_default="")
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="catalog_groupdecision_once"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="catalog_groupdecision_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} {'=' if self.is_same else '≠'} {self.second_id}"


class PageFetch(models.Model):
    """A look at a posting's page or its platform's answer, and what came of it."""

    class Outcome(models.TextChoices):
        OPEN = "open", "the posting is shown"
        CLOSED = "closed", "the posting is said to be closed"
        UNKNOWN = "unknown", "nothing follows from it"

    posting = models.ForeignKey(Posting, models.CASCADE, related_name="fetches")
    url = models.URLField(max_length=2048)
    outcome = models.CharField(max_length=10, choices=Outcome)
    method = models.CharField(max_length=20, help_text="platform, page, person")
    evidence = models.CharField(max_length=500, blank=True, db_default="")
    size = models.PositiveIntegerField(default=0, db_default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["posting", "-at"], name="catalog_fetch_latest")]

    def __str__(self) -> str:
        return f"{self.posting_id} {self.outcome}"
