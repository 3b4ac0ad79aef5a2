"""Public pages: boards, a board, a posting of a board. No account, and nothing of anybody's."""

from __future__ import annotations

import hashlib
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_safe

from boards.explanation import explain_on_board
from boards.listing import PAGE_SIZE, ListQuery
from boards.models import BoardMember, ManagedBoard
from boards.presentation import source_lines
from boards.serializers import PublicPosting, PublicPostingPage, Row
from catalog.models import Posting
from reviews.models import Verdict
from reviews.reviewers import reviewer_of

STALE_AFTER_SECONDS = 3 * 3600
SIMILAR = 5


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    boards = ManagedBoard.objects.public()
    members = dict(boards.annotate(members_now=Count("members")).values_list("pk", "members_now"))
    rows = [
        {
            "title": board.title,
            "summary": board.summary,
            "url": board.get_absolute_url(),
            "member_count": members.get(board.pk, 0),
            "reviewed_count": board.reviewed_count,
            "published_at": board.published_at,
        }
        for board in boards
    ]
    return _cacheable(request, render(request, "boards/index.html", {"boards": rows}))


def _board_tag(request: HttpRequest, slug: str, posting_id: int | None = None) -> str | None:
    """A board's pages change when it is published anew, each hour (ages are shown), with each release."""
    board = ManagedBoard.objects.public().filter(slug=slug).first()
    if board is None:
        return None
    stands_for = [board.pk, board.published_at, board.checked_at, timezone.now().strftime("%Y%m%d%H")]
    if posting_id is not None:
        changed = Posting.objects.filter(pk=posting_id).values_list("changed_at", flat=True).first()
        stands_for.append(changed)
    stands_for += [settings.RELEASE, request.get_full_path(), request.user.pk]
    return f'W/"{hashlib.sha256(repr(stands_for).encode()).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=_board_tag)
def board(request: HttpRequest, slug: str) -> HttpResponse:
    shown = get_object_or_404(ManagedBoard.objects.public().select_related("filter"), slug=slug)
    query = ListQuery.parse(request.GET)
    members = Posting.objects.filter(board_members__board=shown)
    postings = query.narrow(members).for_rows().newest_first()
    page = Paginator(postings, PAGE_SIZE).get_page(query.page)
    context = {
        "board": board_line(shown),
        "rows": _rows(shown, list(page.object_list)),
        "page": page,
        "search": query.search,
        "meant": query.meant() if not page.object_list else None,
        "facets": query.facets(members),
        "applied": query.applied(),
        "ignored": query.ignored,
        "total": members.count() if query.is_narrowed else page.paginator.count,
    }
    return _cacheable(request, render(request, "boards/board.html", context))


@require_safe
@condition(etag_func=_board_tag)
def posting(request: HttpRequest, slug: str, posting_id: int) -> HttpResponse:
    member = (
        BoardMember.objects.public()
        .filter(board__slug=slug, posting_id=posting_id)
        .select_related("board__filter", "posting__text", "posting__compensation", "posting__lead__source")
        .first()
    )
    if member is None:
        raise Http404
    shown = member.posting
    context = {
        "board": board_line(member.board),
        "posting": PublicPostingPage.of(shown),
        "steps": explain_on_board(shown, member.board, timezone.now()),
        "sources": source_lines(shown),
        "similar": _similar(member),
    }
    return _cacheable(request, render(request, "boards/posting.html", context))


def board_line(shown: ManagedBoard) -> dict[str, Any]:
    """A board as its pages name it."""
    age = (timezone.now() - shown.checked_at).total_seconds() if shown.checked_at else 0
    return {
        "title": shown.title,
        "summary": shown.summary,
        "slug": shown.slug,
        "url": shown.get_absolute_url(),
        "criteria_words": shown.filter.current().parsed().words(),
        "published_at": shown.published_at,
        "reviewed_count": shown.reviewed_count,
        "is_stale": age > STALE_AFTER_SECONDS,
    }


def _rows(shown: ManagedBoard, postings: list[Posting]) -> list[Row]:
    revision = shown.filter.current()
    reasons = dict(
        Verdict.objects.answering(prompt_hash=revision.prompt_hash, model=reviewer_of(revision).model)
        .filter(posting__in=postings)
        .values_list("posting_id", "reason")
    )
    previous = ""
    rows = []
    for one in postings:
        rows.append(
            Row(
                posting=PublicPosting.of(one),
                url=reverse("boards:posting", args=[shown.slug, one.pk]),
                reason=reasons.get(one.pk, ""),
                is_same_company_as_previous=bool(one.company) and one.company == previous,
            )
        )
        previous = one.company
    return rows


def _similar(member: BoardMember) -> list[Row]:
    """Other members of the board at the same employer."""
    if not member.posting.company:
        return []
    others = (
        Posting.objects.filter(board_members__board=member.board, company=member.posting.company)
        .exclude(pk=member.posting_id)
        .for_rows()
        .newest_first()[:SIMILAR]
    )
    return _rows(member.board, list(others))


def _cacheable(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Anybody's copy may be shared for a minute; a signed-in person's carries their name and may not."""
    if request.user.is_authenticated:
        patch_cache_control(response, private=True, no_cache=True)
    else:
        patch_cache_control(response, public=True, max_age=60)
    return response
