"""The console's side bar: the queue at a glance, then every list, by app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import reverse

if TYPE_CHECKING:
    from django.http import HttpRequest


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Groups of links, as Unfold takes them; a person's permissions decide which lists there are."""
    overview: dict[str, Any] = {
        "title": "Queue overview",
        "link": reverse("admin:queue_overview"),
        "permission": lambda request: request.user.has_perm("queue.view_task"),
    }
    apps = admin.site.get_app_list(request)
    return [{"items": [overview]}, *(_group(app, request.path, overview["link"]) for app in apps)]


def _group(app: dict[str, Any], here: str, overview: str) -> dict[str, Any]:
    links = [
        {
            "title": model["name"],
            "link": model["admin_url"],
            # The overview lies below the tasks' list.
            "active": here.startswith(model["admin_url"]) and here != overview,
        }
        for model in app["models"]
        if model["admin_url"]
    ]
    return {"title": app["name"], "separator": True, "items": links}
