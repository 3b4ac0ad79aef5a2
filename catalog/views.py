"""Sources: where postings come from, how their pulls go, and a box to add one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from catalog.adapters import ADAPTERS
from catalog.errors import InvalidCompany, UnknownPlatform
from catalog.models import Pull, Source
from catalog.services.sources import add_source


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def sources(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {}
    if request.method == "POST":
        context = _add(request.POST.get("url", "").strip(), request.POST.get("company", "").strip())
    latest = Pull.objects.order_by("source_id", "-started_at").distinct("source_id")
    pulls = {pull.source_id: pull for pull in latest}
    context["sources"] = [_line(source, pulls.get(source.pk)) for source in Source.objects.all()]
    return render(request, "catalog/sources.html", context, status=400 if "error" in context else 200)


def _add(url: str, company: str) -> dict[str, Any]:
    try:
        added = add_source(url=url, company=company)
    except InvalidCompany as refused:
        return {"error": f"{refused}.".capitalize(), "url": url, "company": company}
    except UnknownPlatform:
        names = ", ".join(sorted(adapter.name for adapter in ADAPTERS.values()))
        error = f"No board is recognised in this address. Paste a careers page or posting at {names}."
        return {"error": error, "url": url, "company": company}
    if added.is_new:
        return {"result": f"{added.source.name} is added; its first pull is on its way."}
    return {"result": f"{added.source.name} was there already; it is being read again."}


def _line(source: Source, pull: Pull | None) -> dict[str, Any]:
    return {
        "name": source.name,
        "kind_label": ADAPTERS[source.kind].name,
        "url": source.url,
        "company": source.company,
        "is_active": source.is_active,
        "state_words": source.state_words(),
        "is_experimental": False,
        "last_complete_at": source.last_complete_at,
        "last_pull": {
            "outcome": pull.outcome,
            "at": pull.finished_at or pull.started_at,
            "seen": pull.seen,
            "kept": pull.kept,
            "error": f"{pull.fault}: {pull.detail}" if pull.fault else "",
        }
        if pull
        else None,
    }
