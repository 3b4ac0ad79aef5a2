"""A person's own pages. Every object is reached through what that person may see (V4)."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from boards.explanation import explain_for_person
from boards.listing import PAGE_SIZE, ListQuery
from boards.models import Membership, MembershipRefresh
from boards.presentation import source_lines
from boards.serializers import PublicPosting, PublicPostingPage, Row
from catalog.models import Posting, PostingQuerySet
from catalog.services.groups import copies_of
from catalog.text_diff import text_diff
from reviews.forms import field_of
from reviews.models import Filter, FilterRevision, Verdict
from reviews.reviewers import reviewer_of
from taskqueue.models import account_of
from taskqueue.realtime import HUB, EventStream, Hub
from tracker.models import User
from tracker.sessions import Ticket, departed
from tracker.work import Work

VERSIONS = 20  # of a text, compared with one another


@never_cache
@login_required
@require_safe
def board(request: HttpRequest) -> HttpResponse:
    person = _person(request)
    query = ListQuery.parse(request.GET, keep=("show",))
    revisions = [one.current() for one in Filter.objects.enabled().owned_by(person)]
    shown = Posting.objects.filter(memberships__user=person)
    hidden = Posting.objects.listed().exclude(memberships__user=person)
    is_hidden_view = request.GET.get("show") == "hidden"
    postings = hidden if is_hidden_view else shown
    page = Paginator(query.narrow(postings).for_rows().newest_first(), PAGE_SIZE).get_page(query.page)
    refresh = MembershipRefresh.objects.filter(user=person).first()
    context = {
        "filters": [_filter_line(revision) for revision in revisions],
        "rows": _rows(list(page.object_list), revisions, is_hidden_view),
        "page": page,
        "show": "hidden" if is_hidden_view else "",
        "search": query.search,
        "meant": query.meant() if not page.object_list else None,
        "facets": query.facets(postings),
        "applied": query.applied(),
        "ignored": query.ignored,
        "counts": {"shown": shown.count(), "hidden": hidden.count(), "unsure": _unsure(hidden, revisions)},
        "refreshed_at": refresh.computed_at if refresh else None,
        "catalog_is_empty": not Posting.objects.exists(),
        "hiding": _hiding(hidden, revisions) if not shown.exists() else [],
        **_under_way(request),
    }
    return render(request, "tracker/board.html", context)


@never_cache
@login_required
@require_safe
def work(request: HttpRequest) -> HttpResponse:
    """The part of the board page that changes while something is under way."""
    return render(request, "partials/work.html", _under_way(request))


@require_GET
def events(request: HttpRequest) -> HttpResponse:
    """Server-sent events: the states of the person's own tasks, of everybody's for staff (Q13, Q15).

    A visitor is told 403. The address names no object, so there is nothing to hide behind a 404 (V4), and a
    redirect to the login page is nothing that an EventSource could show.
    """
    if not request.user.is_authenticated:
        return HttpResponseForbidden("Sign in to follow your tasks.\n", content_type="text/plain")
    hub: Hub | None = request.META.get(HUB)
    if hub is None:
        return HttpResponse("This server has no streams.\n", status=503, content_type="text/plain")
    person = _person(request)
    return EventStream(
        hub,
        account=account_of(person),
        is_staff=person.is_staff,
        ticket=Ticket.of(request),
        departed=departed,
    )


@never_cache
@login_required
@require_safe
def posting(request: HttpRequest, posting_id: int) -> HttpResponse:
    person = _person(request)
    member = get_object_or_404(
        Membership.objects.of(person).select_related(
            "posting__text", "posting__compensation", "posting__lead__source"
        ),
        posting_id=posting_id,
    )
    shown = member.posting
    context = {
        "posting": PublicPostingPage.of(shown),
        "steps": explain_for_person(shown, person, timezone.now()),
        "sources": source_lines(shown),
        "copies": copies_of(shown),
        "versions": shown.texts.count(),
    }
    return render(request, "tracker/posting.html", context)


@never_cache
@login_required
@require_safe
def texts(request: HttpRequest, posting_id: int) -> HttpResponse:
    """The versions of a posting's text, the newest first, each with what it changed."""
    member = get_object_or_404(
        Membership.objects.of(_person(request)).select_related("posting"), posting_id=posting_id
    )
    versions = list(member.posting.texts.order_by("-fetched_at", "-pk")[:VERSIONS])
    changes = [
        {"version": new, "pieces": list(text_diff(old.text, new.text)) if old else None}
        for new, old in zip(versions, [*versions[1:], None], strict=True)
    ]
    return render(request, "tracker/texts.html", {"posting": member.posting, "changes": changes})


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required lets nobody else in
    return request.user


def _under_way(request: HttpRequest) -> dict[str, Any]:
    return {"work": Work.of(_person(request)), "has_stream": HUB in request.META}


def _filter_line(revision: FilterRevision) -> dict[str, Any]:
    return {
        "name": revision.filter.name,
        "words": revision.parsed().words(),
        "url": reverse("reviews:filter", args=[revision.filter_id]),
    }


def _answers(revision: FilterRevision) -> Any:
    return Verdict.objects.answering(prompt_hash=revision.prompt_hash, model=reviewer_of(revision).model)


def _rows(postings: list[Posting], revisions: list[FilterRevision], is_hidden_view: bool) -> list[Row]:
    """Rows with the first filter's reason to let a posting in, or the first reason that kept it out."""
    reasons: dict[int, tuple[str, str]] = {}
    for revision in revisions:
        answers = _answers(revision).filter(posting__in=postings)
        for posting_id, status, reason in answers.values_list("posting_id", "status", "reason"):
            told = reasons.get(posting_id)
            if told is None or (told[0] == Verdict.Status.PASSED and status != Verdict.Status.PASSED):
                reasons[posting_id] = (status, reason)
    rows = []
    previous = ""
    for one in postings:
        status, reason = reasons.get(one.pk, ("", ""))
        rows.append(
            Row(
                posting=PublicPosting.of(one),
                url="" if is_hidden_view else reverse("tracker:posting", args=[one.pk]),
                reason="" if is_hidden_view else reason,
                why_not=(reason or "not answered for yet") if is_hidden_view else "",
                apply_url=one.apply_url,
                is_same_company_as_previous=bool(one.company) and one.company == previous,
                is_unsure=status == Verdict.Status.UNSURE,
            )
        )
        previous = one.company
    return rows


def _unsure(hidden: PostingQuerySet, revisions: list[FilterRevision]) -> int:
    unsure: set[int] = set()
    for revision in revisions:
        unsure.update(
            _answers(revision)
            .filter(status=Verdict.Status.UNSURE, posting__in=hidden.values("pk"))
            .values_list("posting_id", flat=True)
        )
    return len(unsure)


def _hiding(hidden: PostingQuerySet, revisions: list[FilterRevision]) -> list[tuple[str, int, str]]:
    """The three rules that hide most: (rule in words, postings, where to relax it)."""
    counted: dict[tuple[str, int], int] = {}
    for revision in revisions:
        for rule in (
            _answers(revision)
            .filter(status=Verdict.Status.REJECTED, posting__in=hidden.values("pk"))
            .values_list("rule", flat=True)
        ):
            key = (rule, revision.filter_id)
            counted[key] = counted.get(key, 0) + 1
    most = sorted(counted.items(), key=lambda item: -item[1])[:3]
    names = {revision.filter_id: revision.filter.name for revision in revisions}
    return [
        (f"{names[filter_id]}: {label}", count, f"{reverse('reviews:filter', args=[filter_id])}#{anchor}")
        for (rule, filter_id), count in most
        for label, anchor in [field_of(rule)]
    ]
