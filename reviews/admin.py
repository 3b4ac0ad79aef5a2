"""Reviews in the operators' console: what was asked, decided and answered, read-only."""

from __future__ import annotations

from django.contrib import admin
from unfold.admin import ModelAdmin

from config.console import Evidence
from reviews.models import Decision, Filter, FilterRevision, ModelCall, ReviewRun, Verdict


class RevisionInline(Evidence, admin.TabularInline[FilterRevision, Filter]):
    model = FilterRevision
    fields = ["number", "words", "provider", "model", "on_ambiguous", "created_by", "created_at"]
    readonly_fields = ["words"]
    extra = 0

    def words(self, revision: FilterRevision) -> str:
        return revision.parsed().words()


@admin.register(Filter)
class FilterAdmin(Evidence, ModelAdmin):
    list_display = ["name", "owner", "is_enabled", "changed_at", "checked_at"]
    list_filter = ["is_enabled"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    inlines = [RevisionInline]


@admin.register(ReviewRun)
class ReviewRunAdmin(Evidence, ModelAdmin):
    list_display = ["id", "revision", "status", "counts", "asked_by", "started_at", "finished_at"]
    list_filter = ["status"]
    list_select_related = ["revision__filter"]


@admin.register(Decision)
class DecisionAdmin(Evidence, ModelAdmin):
    list_display = ["posting", "revision", "stage", "action", "rule", "created_at"]
    list_filter = ["action", "stage"]
    list_select_related = ["posting", "revision__filter"]
    search_fields = ["posting__title", "posting__canonical_url"]
    show_full_result_count = False


@admin.register(Verdict)
class VerdictAdmin(Evidence, ModelAdmin):
    list_display = ["posting", "status", "rule", "reason", "model", "at"]
    list_filter = ["status", "model"]
    list_select_related = ["posting"]
    search_fields = ["posting__title", "reason"]
    show_full_result_count = False


@admin.register(ModelCall)
class ModelCallAdmin(Evidence, ModelAdmin):
    list_display = ["purpose", "payer", "model", "outcome", "input_tokens", "output_tokens", "started_at"]
    list_filter = ["outcome", "model", "purpose"]
    search_fields = ["payer", "request_id"]
