from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from catalog.views import follow_source, source, sources
from config.status import healthz, readyz
from tracker.views import events

urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
    path("events/", events, name="events"),
    path("", include("taskqueue.urls")),
    path("", include("tracker.urls")),
    path("", include("reviews.urls")),
    path("sources/", sources, name="sources"),
    path("sources/follow/", follow_source, name="follow_source"),
    path("sources/<int:source_id>/", source, name="source"),
    path("", include("boards.urls")),
]

handler500 = "config.status.server_error"
