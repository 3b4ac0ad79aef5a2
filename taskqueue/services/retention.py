"""What is forgotten, and when."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from taskqueue.models import Worker
from taskqueue.sql import keeping as sql

MOST_AT_ONCE = 1_000  # rows a statement: a longer one holds its locks and keeps vacuum back for longer
KEEP_DEAD_WORKERS = timedelta(days=1)


def free_keys() -> int:
    """Keys of cycles that are over are nobody's (Q1); returns how many of one batch."""
    return _batch(sql.FREE_KEYS, {"most": MOST_AT_ONCE})


def prune() -> int:
    """Families that ended before the retention are gone (Q14), as are dead workers; returns the tasks."""
    Worker.objects.filter(last_seen_at__lt=Now() - KEEP_DEAD_WORKERS).delete()
    while _batch(sql.PRUNE_TURNS, {"most": MOST_AT_ONCE}):
        pass
    gone = 0
    while batch := _batch(sql.PRUNE, {"days": settings.QUEUE_RETENTION_DAYS, "most": MOST_AT_ONCE}):
        gone += batch
    return gone


def _batch(statement: str, values: dict[str, int]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)
