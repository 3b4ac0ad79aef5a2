from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from catalog.views import sources
from config.status import healthz, readyz

urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
    path("", include("taskqueue.urls")),
    path("", include("tracker.urls")),
    path("", include("reviews.urls")),
    path("sources/", sources, name="sources"),
    path("", include("boards.urls")),
]

handler500 = "config.status.server_error"
