"""The catalog in the operators' console: sources, how their pulls went, and the evidence, read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.html import format_html
from unfold.admin import ModelAdmin

from catalog.models import (
    Alert,
    Listing,
    Observation,
    PageFetch,
    Posting,
    PostingText,
    Pull,
    PullPage,
    RobotsFile,
    Source,
    SourceBundle,
    SourceRequest,
)
from catalog.presentation import pull_bars
from catalog.services.closing import close_posting
from catalog.services.groups import decide_copies
from catalog.services.saved_cases import saved_case
from catalog.services.sources import answer_request, request_pull
from config.console import Evidence


@admin.register(Source)
class SourceAdmin(ModelAdmin):
    list_display = [
        "name",
        "kind",
        "state",
        "last_pull_at",
        "last_complete_at",
        "listed",
        "failures",
    ]
    list_filter = ["kind", "is_active"]
    search_fields = ["name", "token", "company"]
    fieldsets = [
        ("Health", {"fields": ["health", "failures", "note"]}),
        ("Board", {"fields": ["name", "company", "kind", "token", "region", "url", "host"]}),
        ("Reading", {"fields": ["is_active", "title_pattern", "interval_minutes", "obeys_robots"]}),
        ("Times", {"fields": ["next_pull_at", "last_pull_at", "last_complete_at"]}),
    ]
    readonly_fields = ["health", "kind", "token", "region", "url", "host", "note", "failures", "next_pull_at"]
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

    @admin.display(description="How it goes")
    def health(self, source: Source) -> str:
        """Its newest pulls as a chart, and the way to what they left."""
        pulls = Pull.objects.recent([source.pk]).get(source.pk, [])
        return render_to_string(
            "admin/catalog/source_health.html",
            {
                "source": source,
                "state": source.state_words(),
                "chart": pull_bars(pulls[::-1]) if pulls else None,
                "pull": pulls[0] if pulls else None,
                "alerts": source.alerts.filter(resolved_at=None),
            },
        )

    @admin.display(description="Admitted now", ordering="listed_count")
    def listed(self, source: Source) -> int:
        return int(getattr(source, "listed_count", 0))

    @admin.action(description="Pull now", permissions=["change"])
    def pull_now(self, request: HttpRequest, sources: QuerySet[Source]) -> None:
        for source in sources:
            request_pull(source)
        self.message_user(request, f"Pulls queued: {len(sources)}.")


class PageInline(Evidence, admin.TabularInline[PullPage, Pull]):
    model = PullPage
    fields = ["number", "url", "status", "rows", "size", "test_case"]
    readonly_fields = ["url", "test_case"]
    extra = 0

    @admin.display(description="Keep")
    def test_case(self, page: PullPage) -> str:
        return format_html(
            '<a href="{}">Save as a test case</a>', reverse("admin:catalog_test_case", args=[page.pk])
        )


@admin.register(Pull)
class PullAdmin(Evidence, ModelAdmin):
    list_display = ["source", "outcome", "fault", "seen", "kept", "new", "changed", "unlisted", "started_at"]
    list_filter = ["outcome", "fault", "source__kind"]
    list_select_related = ["source"]
    search_fields = ["source__name", "detail"]
    inlines = [PageInline]

    def get_urls(self) -> list[Any]:
        own = path(
            "page/<int:page_id>/", self.admin_site.admin_view(self.test_case), name="catalog_test_case"
        )
        return [own, *super().get_urls()]

    def test_case(self, request: HttpRequest, page_id: int) -> FileResponse:
        """The answer as it came, and what the adapter reads in it today, to be kept with the tests."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        page = get_object_or_404(PullPage.objects.select_related("pull__source"), pk=page_id)
        try:
            archive = saved_case(page)
        except FileNotFoundError:
            raise Http404("The answer is not kept any more.") from None
        name = f"{page.pull.source.kind}-{page.pull_id}-{page.number}.zip"
        return FileResponse(archive, as_attachment=True, filename=name)


@admin.register(Listing)
class ListingAdmin(Evidence, ModelAdmin):
    list_display = ["title", "source", "kept", "ruling", "first_seen_at", "unlisted_at"]
    list_filter = ["kept", "ruling", "source__kind"]
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


class FetchInline(Evidence, admin.TabularInline[PageFetch, Posting]):
    model = PageFetch
    fields = ["outcome", "method", "evidence", "at"]
    extra = 0


@admin.register(Posting)
class PostingAdmin(Evidence, ModelAdmin):
    list_display = ["title", "company", "availability", "remote", "posted_at", "first_seen_at"]
    list_filter = ["availability", "remote", "employment_type"]
    search_fields = ["title", "company", "canonical_url"]
    inlines = [ObservationInline, FetchInline, TextInline]
    show_full_result_count = False
    actions = ["same_role", "different_roles", "closed"]

    @admin.action(description="These are one role", permissions=["view"])
    def same_role(self, request: HttpRequest, postings: QuerySet[Posting]) -> None:
        pairs = decide_copies(postings, is_same=True, by=str(request.user))
        self.message_user(request, f"Kept for {pairs} pairs; rules do not change it.")

    @admin.action(description="None of these is another's copy", permissions=["view"])
    def different_roles(self, request: HttpRequest, postings: QuerySet[Posting]) -> None:
        pairs = decide_copies(postings, is_same=False, by=str(request.user))
        self.message_user(request, f"Kept for {pairs} pairs; rules do not change it.")

    @admin.action(description="Closed: somebody looked", permissions=["view"])
    def closed(self, request: HttpRequest, postings: QuerySet[Posting]) -> None:
        for posting in postings:
            close_posting(posting.pk, by=str(request.user), reason="somebody looked")
        self.message_user(request, f"Closed: {len(postings)}. A source that shows one again reopens it.")


@admin.register(SourceBundle)
class SourceBundleAdmin(ModelAdmin):
    list_display = ["name", "slug", "description"]
    prepopulated_fields = {"slug": ["name"]}
    filter_horizontal = ["sources"]


@admin.register(SourceRequest)
class SourceRequestAdmin(ModelAdmin):
    """A wish: choose the source that was added for it, or only answer."""

    list_display = ["url", "user", "status", "created_at", "answered_at"]
    list_filter = ["status"]
    fields = ["url", "user", "note", "found", "status", "created_at", "source", "answer"]
    readonly_fields = ["url", "user", "note", "found", "status", "created_at"]
    autocomplete_fields = ["source"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: SourceRequest, form: Any, change: bool) -> None:
        answer_request(obj, answer=obj.answer, source=obj.source)


@admin.register(Alert)
class AlertAdmin(Evidence, ModelAdmin):
    list_display = ["kind", "source", "message", "raised_at", "resolved_at"]
    list_filter = ["kind", ("resolved_at", admin.EmptyFieldListFilter)]
    list_select_related = ["source"]
    actions = ["resolve"]

    @admin.action(description="Settled", permissions=["view"])
    def resolve(self, request: HttpRequest, alerts: QuerySet[Alert]) -> None:
        count = alerts.filter(resolved_at=None).update(resolved_at=Now())
        self.message_user(request, f"Settled: {count}.")


@admin.register(RobotsFile)
class RobotsFileAdmin(Evidence, ModelAdmin):
    list_display = ["host", "outcome", "fetched_at"]
    search_fields = ["host"]
