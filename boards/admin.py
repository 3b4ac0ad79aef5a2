"""Managed boards in the operators' console: their state, their runs, and the few things staff may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Count, QuerySet
from unfold.admin import ModelAdmin

from boards.forms import ManagedBoardForm
from boards.models import BoardRun, ManagedBoard
from boards.services.publication import (
    create_board,
    describe_board,
    revise_board,
    set_public,
    start_board_run,
)
from config.console import Evidence

if TYPE_CHECKING:
    from django.http import HttpRequest


@admin.register(ManagedBoard)
class ManagedBoardAdmin(ModelAdmin):
    list_display = [
        "title",
        "status",
        "revision",
        "public_revision",
        "members_now",
        "published_at",
        "checked_at",
    ]
    list_filter = ["status"]
    form = ManagedBoardForm
    fields = [
        "title",
        "slug",
        "summary",
        "criteria",
        "criteria_words",
        "status",
        "revision",
        "public_revision",
    ]
    fields += ["published_at", "checked_at"]
    readonly_fields = [
        "criteria_words",
        "status",
        "revision",
        "public_revision",
        "published_at",
        "checked_at",
    ]
    actions = ["publish_now", "show_to_everybody", "hide"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ManagedBoard]:
        return ManagedBoard.objects.annotate(member_count=Count("members"))

    def has_delete_permission(self, request: HttpRequest, obj: ManagedBoard | None = None) -> bool:
        return False  # its runs and reasons would go with it: take it down instead

    def save_model(
        self, request: HttpRequest, obj: ManagedBoard, form: ManagedBoardForm, change: bool
    ) -> None:
        """Through the services: the row read for the form may be behind the board by now."""
        given, by = form.cleaned_data, request.user.get_username()
        if not change:
            made = create_board(
                slug=given["slug"],
                title=given["title"],
                summary=given["summary"],
                criteria=given["criteria"],
                is_public=False,
                by=by,
            )
            obj.pk = made.pk
            return
        describe_board(board_id=obj.pk, title=given["title"], slug=given["slug"], summary=given["summary"])
        revise_board(board_id=obj.pk, criteria=given["criteria"], by=by)

    @admin.display(description="In words")
    def criteria_words(self, board: ManagedBoard) -> str:
        return board.filter.current().parsed().words() if board.pk else ""

    @admin.display(description="Members", ordering="member_count")
    def members_now(self, board: ManagedBoard) -> int:
        return int(getattr(board, "member_count", 0))

    @admin.action(description="Select and publish now", permissions=["change"])
    def publish_now(self, request: HttpRequest, boards: QuerySet[ManagedBoard]) -> None:
        for board in boards:
            start_board_run(board.pk, asked_by=request.user.get_username())
        self.message_user(request, f"Runs queued: {len(boards)}.")

    @admin.action(description="Show to everybody", permissions=["change"])
    def show_to_everybody(self, request: HttpRequest, boards: QuerySet[ManagedBoard]) -> None:
        for board in boards:
            set_public(board_id=board.pk, is_public=True)
        self.message_user(request, f"Shown to everybody: {len(boards)}.")

    @admin.action(description="Take down", permissions=["change"])
    def hide(self, request: HttpRequest, boards: QuerySet[ManagedBoard]) -> None:
        for board in boards:
            set_public(board_id=board.pk, is_public=False)
        self.message_user(request, f"Taken down: {len(boards)}.")


@admin.register(BoardRun)
class BoardRunAdmin(Evidence, ModelAdmin):
    list_display = ["board", "revision", "status", "joined", "left", "note", "started_at", "finished_at"]
    list_filter = ["status", "board"]
    list_select_related = ["board"]
