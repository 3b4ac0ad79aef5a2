"""The catalog in the operators' console: sources, how their pulls went, and the evidence, read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from unfold.admin import ModelAdmin

from catalog.models import Listing, Observation, Posting, PostingText, Pull, Source
from catalog.services.sources import request_pull
from config.console import Evidence

if TYPE_CHECKING:
    from django.http import HttpRequest


@admin.register(Source)
class SourceAdmin(ModelAdmin):
    list_display = [
        "name",
        "kind",
        "token",
        "state",
        "last_pull_at",
        "last_complete_at",
        "listed",
        "failures",
    ]
    list_filter = ["kind", "is_active"]
    search_fields = ["name", "token", "company"]
    fields = [
        "name",
        "company",
        "kind",
        "token",
        "region",
        "url",
        "host",
        "title_pattern",
        "interval_minutes",
    ]
    fields += ["is_active", "note", "failures", "next_pull_at", "last_pull_at", "last_complete_at"]
    readonly_fields = ["kind", "token", "region", "url", "host", "note", "failures", "next_pull_at"]
    readonly_fields += ["last_pull_at", "last_complete_at"]
    actions = ["pull_now"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return Source.objects.annotate(
            listed_count=Count("listings", filter=Q(listings__unlisted_at=None, listings__kept=True))
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # a source is added by its address: the Sources page or `addsource`

    def has_delete_permission(self, request: HttpRequest, obj: Source | None = None) -> bool:
        return False  # its evidence would go with it: switch it off instead

    @admin.display(description="State")
    def state(self, source: Source) -> str:
        return source.state_words()

    @admin.display(description="Admitted now", ordering="listed_count")
    def listed(self, source: Source) -> int:
        return int(getattr(source, "listed_count", 0))

    @admin.action(description="Pull now", permissions=["change"])
    def pull_now(self, request: HttpRequest, sources: QuerySet[Source]) -> None:
        for source in sources:
            request_pull(source)
        self.message_user(request, f"Pulls queued: {len(sources)}.")


@admin.register(Pull)
class PullAdmin(Evidence, ModelAdmin):
    list_display = ["source", "outcome", "fault", "seen", "kept", "new", "changed", "unlisted", "started_at"]
    list_filter = ["outcome", "fault", "source__kind"]
    list_select_related = ["source"]
    search_fields = ["source__name", "detail"]


@admin.register(Listing)
class ListingAdmin(Evidence, ModelAdmin):
    list_display = ["title", "source", "kept", "ruling", "first_seen_at", "unlisted_at"]
    list_filter = ["kept", "ruling", "source"]
    list_select_related = ["source"]
    search_fields = ["title", "url", "external_key"]
    show_full_result_count = False


class TextInline(Evidence, admin.TabularInline[PostingText, Posting]):
    model = PostingText
    fields = ["content_hash", "method", "fetched_at"]
    extra = 0


class ObservationInline(Evidence, admin.TabularInline[Observation, Posting]):
    model = Observation
    fields = ["kind", "source", "at"]
    extra = 0


@admin.register(Posting)
class PostingAdmin(Evidence, ModelAdmin):
    list_display = ["title", "company", "availability", "remote", "posted_at", "first_seen_at"]
    list_filter = ["availability", "remote", "employment_type"]
    search_fields = ["title", "company", "canonical_url"]
    inlines = [ObservationInline, TextInline]
    show_full_result_count = False
