"""Liveness and readiness: two different answers (D2)."""

from __future__ import annotations

import logging
import secrets

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

logger = logging.getLogger(__name__)


@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers. Says nothing of the database: its outage is no reason to restart the web."""
    return JsonResponse({"status": "alive", "release": settings.RELEASE})


@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Requests can be served: the database answers and its schema is this release's."""
    try:
        executor = MigrationExecutor(connection)
        behind = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        return JsonResponse({"status": "unready", "reason": f"database: {error}"[:300]}, status=503)
    if behind:
        return JsonResponse(
            {"status": "unready", "reason": "migrations are pending: run migrate"}, status=503
        )
    return JsonResponse({"status": "ready", "release": settings.RELEASE})


def server_error(request: HttpRequest) -> HttpResponse:
    """A page that needs nothing that may just have failed, with a number that the log has too."""
    incident = secrets.token_hex(4)
    logger.error("incident %s at %s", incident, request.path)
    return HttpResponse(render_to_string("500.html", {"incident": incident}), status=500)
