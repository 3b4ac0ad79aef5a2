"""Sources: what is read, how it goes, and a box that recognises a board, shows what it would bring, and
adds it.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from catalog.adapters import ADAPTERS
from catalog.admission import InvalidPattern
from catalog.errors import UnknownPlatform
from catalog.forms import SourceForm
from catalog.links import is_public_link
from catalog.models import Alert, Listing, Pull, Source, SourceBundle, SourceRequest, Subscription
from catalog.presentation import pull_bars, source_line, wish_line
from catalog.services.discovery import preview_pattern
from catalog.services.looking import LOOK_SECONDS, BoardNotFound, LookUnderWay, found_board, look
from catalog.services.sources import add_board, ask_for, follow, request_pull

SHOWN_ROWS = 50
PAGE_SIZE = 50
MOST_DIGITS = 18  # of an id: more are none that the database could have
STATES = {"": "all", "failing": "failing", "off": "switched off", "unread": "never read whole"}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def sources(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {}
    if request.method == "POST":
        step = {"add": _add, "ask": _ask}.get(request.POST.get("step", ""), _look)
        said = step(request)
        if isinstance(said, HttpResponse):
            return said
        context = said
    status = context.pop("status", HTTPStatus.BAD_REQUEST if "error" in context else HTTPStatus.OK)
    answer = render(request, "catalog/sources.html", context | _list(request), status=status)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        answer["Retry-After"] = str(round(LOOK_SECONDS))
    return answer


def _list(request: HttpRequest) -> dict[str, Any]:
    search = request.GET.get("q", "").replace("\0", "").strip()[:100]
    state = request.GET.get("state", "")
    rows = Source.objects.matching(search).in_state(state if state in STATES else "")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    recent = Pull.objects.recent([source.pk for source in page])
    followed = set(Subscription.objects.filter(user_id=_person(request)).values_list("source_id", flat=True))
    return {
        "page": page,
        "sources": [source_line(source, recent.get(source.pk, []), source.pk in followed) for source in page],
        "has_sources": page.paginator.count > 0 or Source.objects.exists(),
        "search": search,
        "states": [(name or None, words, name == state) for name, words in STATES.items()],
        "bundles": SourceBundle.objects.with_counts(_person(request)),
        "requests": [wish_line(wish) for wish in SourceRequest.objects.filter(user_id=_person(request))[:10]],
        "alerts": Alert.objects.filter(resolved_at=None).select_related("source")[:10],
        "platforms": sorted((adapter.name for adapter in ADAPTERS.values()), key=str.casefold),
    }


def _look(request: HttpRequest) -> dict[str, Any]:
    """Recognise the address and read the board's first pages; nothing is recorded yet."""
    form = SourceForm(request.POST)
    typed = form.typed()
    if refusal := form.refusal():
        return {**typed, "error": refusal}
    given = form.cleaned_data
    try:
        seen = look(
            user_id=_person(request),
            url=given["url"],
            company=given["company"],
            title_pattern=given["titles"],
        )
    except UnknownPlatform as unknown:
        why = unknown.why or "No board is recognised in this address"
        return {**typed, "error": why, "may_ask": is_public_link(given["url"])}
    except LookUnderWay:
        words = "You are looking at another address just now. Try again when that page is there."
        return {**typed, "error": words, "status": HTTPStatus.TOO_MANY_REQUESTS}
    board = seen.found.board
    return {
        **typed,
        "found": seen.found,
        "platform": ADAPTERS[board.kind],
        "board": seen.signed_board,
        "known": Source.objects.filter(kind=board.kind, region=board.region, token=board.token).first(),
        "preview": seen.preview,
        "kept": seen.preview.kept[:SHOWN_ROWS],
        "dropped": seen.preview.dropped[:SHOWN_ROWS],
    }


def _add(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    """Add what a look has found: nothing else that a form says is a board."""
    form = SourceForm(request.POST)
    typed = form.typed()
    if refusal := form.refusal():
        return {**typed, "error": refusal}
    try:
        board = found_board(request.POST.get("board", ""))
        added = add_board(
            board, company=form.cleaned_data["company"], title_pattern=form.cleaned_data["titles"]
        )
    except BoardNotFound:
        return {**typed, "error": "What was found is no longer known. Look at the address again."}
    except UnknownPlatform as unknown:
        return {**typed, "error": unknown.why}
    follow(_person(request), added.source, follows=True)
    words = (
        "is added; its first pull is on its way"
        if added.is_new
        else "was there already; it is being read again"
    )
    messages.success(request, f"{added.source.name} {words}.")
    return redirect("source", source_id=added.source.pk)


def _ask(request: HttpRequest) -> dict[str, Any] | HttpResponse:
    form = SourceForm(request.POST)
    typed = form.typed()
    if refusal := form.refusal():
        return {**typed, "error": refusal}
    given = form.cleaned_data
    if not given["url"]:
        return {**typed, "error": "Say which page is meant."}
    try:
        ask_for(_person(request), url=given["url"], note=given["company"])
    except UnknownPlatform as unknown:
        return {**typed, "error": f"{unknown.why}.".capitalize()}
    messages.success(request, "Your wish is noted. The answer stands on this page.")
    return redirect("sources")


def _person(request: HttpRequest) -> int:
    if request.user.pk is None:
        raise PermissionDenied
    return int(request.user.pk)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def source(request: HttpRequest, source_id: int) -> HttpResponse:
    """One source: its pulls, what it shows, and what another title pattern would change unsaved."""
    row = get_object_or_404(Source, pk=source_id)
    pattern = request.POST.get("titles", request.GET.get("titles", row.title_pattern)).strip()
    context: dict[str, Any] = {"pattern": pattern}
    try:
        if request.method == "POST":
            return _save_pattern(request, row, pattern)
        if pattern != row.title_pattern:
            context["diff"] = preview_pattern(row, pattern)
    except InvalidPattern as refused:
        context["error"] = str(refused)
    pulls = list(row.pulls.all()[:30])
    listed = Listing.objects.filter(source=row, unlisted_at=None)
    context |= {
        "source": row,
        "line": source_line(row, pulls, False),
        "platform": ADAPTERS.get(row.kind),
        "pulls": pulls,
        "bars": pull_bars(pulls[::-1]),
        "listed": listed.count(),
        "kept": listed.filter(kept=True).count(),
        "admitted": listed.filter(kept=True).order_by("-first_seen_at", "title")[:SHOWN_ROWS],
        "dropped": listed.filter(kept=False).order_by("title")[:SHOWN_ROWS],
        "follows": Subscription.objects.filter(user_id=_person(request), source=row).exists(),
        "alerts": row.alerts.filter(resolved_at=None),
    }
    return render(request, "catalog/source.html", context, status=400 if "error" in context else 200)


def _save_pattern(request: HttpRequest, row: Source, pattern: str) -> HttpResponse:
    if not getattr(request.user, "is_staff", False):
        raise PermissionDenied("Only staff change what a source admits.")
    preview_pattern(row, pattern)
    Source.objects.filter(pk=row.pk).update(title_pattern=pattern)
    request_pull(row)
    messages.success(request, f"{row.name} is read again with the new pattern.")
    return redirect("source", source_id=row.pk)


@login_required
@require_POST
def follow_source(request: HttpRequest) -> HttpResponse:
    """Follow a source or a bundle, or stop following it."""
    kind, _, number = request.POST.get("what", "").partition(":")
    if kind not in {"source", "bundle"} or not (number.isascii() and number.isdecimal()):
        raise PermissionDenied
    if len(number) > MOST_DIGITS:
        raise Http404
    thing: Source | SourceBundle
    if kind == "source":
        thing = get_object_or_404(Source, pk=int(number))
    else:
        thing = get_object_or_404(SourceBundle, pk=int(number))
    follow(_person(request), thing, follows=request.POST.get("follow") == "yes")
    return redirect("source", source_id=thing.pk) if kind == "source" else redirect("sources")
