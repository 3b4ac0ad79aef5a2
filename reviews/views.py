"""A person's filters. Somebody else's look like none (V4)."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from reviews.forms import FilterForm
from reviews.models import Filter, FilterRevision, Verdict
from reviews.reviewers import reviewer_of
from reviews.services.filters import create_filter, revise_filter, switch_filter


@never_cache
@login_required
@require_safe
def filters(request: HttpRequest) -> HttpResponse:
    own = Filter.objects.filter(owner_id=request.user.pk)
    return render(request, "reviews/filters.html", {"filters": [_line(one.current()) for one in own]})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_filter(request: HttpRequest) -> HttpResponse:
    form = FilterForm(request.POST or None, initial={"on_ambiguous": "drop", "remote": "any"})
    if request.method == "POST" and form.is_valid():
        owner = request.user
        assert owner.is_authenticated
        made = create_filter(
            name=form.cleaned_data["name"], criteria=form.criteria, owner=owner, by=owner.get_username()
        )
        revise_filter(
            filter_id=made.pk, criteria=form.criteria, on_ambiguous=form.cleaned_data["on_ambiguous"]
        )
        messages.success(request, "Saved. Your board follows within a minute.")
        return redirect("tracker:board")
    return render(request, "reviews/filter_form.html", {"form": form})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_filter(request: HttpRequest, filter_id: int) -> HttpResponse:
    own = get_object_or_404(Filter.objects.filter(owner_id=request.user.pk), pk=filter_id)
    if request.method == "POST" and "switch" in request.POST:
        switch_filter(filter_id=own.pk, enabled=not own.is_enabled)
        messages.success(request, f"{own.name} is now {'off' if own.is_enabled else 'on'}.")
        return redirect("reviews:filters")
    current = own.current()
    form = FilterForm(request.POST or None, initial=FilterForm.initial_from(current))
    if request.method == "POST" and form.is_valid():
        after = revise_filter(
            filter_id=own.pk,
            criteria=form.criteria,
            name=form.cleaned_data["name"],
            on_ambiguous=form.cleaned_data["on_ambiguous"],
            by=request.user.get_username(),
        )
        words = (
            f"Saved as revision {after.number}."
            if after.pk != current.pk
            else "Saved; nothing it selects changed."
        )
        messages.success(request, words)
        return redirect("reviews:filter", filter_id=own.pk)
    context = {"form": form, "filter": _line(current), "revisions": _history(own, current)}
    return render(request, "reviews/filter_form.html", context)


def _line(revision: FilterRevision) -> dict[str, Any]:
    counts = Verdict.objects.answering(
        prompt_hash=revision.prompt_hash, model=reviewer_of(revision).model
    ).aggregate(
        shown=Count("pk", filter=Q(status=Verdict.Status.PASSED)),
        hidden=Count("pk", filter=Q(status=Verdict.Status.REJECTED)),
        unsure=Count("pk", filter=Q(status=Verdict.Status.UNSURE)),
    )
    return {
        "name": revision.filter.name,
        "words": revision.parsed().words(),
        "url": reverse("reviews:filter", args=[revision.filter_id]),
        "revision": revision.number,
        "enabled": revision.filter.is_enabled,
        "counts": counts if any(counts.values()) else None,
    }


def _history(own: Filter, current: FilterRevision) -> list[dict[str, Any]]:
    return [
        {
            "number": revision.number,
            "words": revision.parsed().words(),
            "created_at": revision.created_at,
            "created_by": revision.created_by,
            "is_current": revision.pk == current.pk,
        }
        for revision in own.revisions.order_by("-number")
    ]
