"""What is forgotten, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue.models import Worker
from taskqueue.sql import keeping as sql

MOST_AT_ONCE = 1_000  # rows a statement: a longer one holds its locks and keeps vacuum back for longer
KEEP_DEAD_WORKERS = timedelta(days=1)
OLDEST = (datetime(1, 1, 1, tzinfo=UTC), 0)


def free_keys() -> int:
    """Keys of cycles that are over are nobody's (Q1); returns how many of one batch."""
    return _batch(sql.FREE_KEYS, {"most": MOST_AT_ONCE})


def prune() -> int:
    """Families that ended before the retention are gone (Q14), as are dead workers; returns the tasks."""
    Worker.objects.filter(last_seen_at__lt=Now() - KEEP_DEAD_WORKERS).delete()
    while _batch(sql.PRUNE_TURNS, {"most": MOST_AT_ONCE}):
        pass
    gone, last = 0, OLDEST
    while roots := _prune_families(*last):
        count, last = roots
        gone += count
    return gone


@transaction.atomic
def _prune_families(since: datetime, last: int) -> tuple[int, tuple[datetime, int]] | None:
    """Of the next batch of roots, the tasks that went, and the last root; None when there was none."""
    days = settings.QUEUE_RETENTION_DAYS
    with connection.cursor() as cursor:
        cursor.execute(sql.HOLD_OLD_ROOTS, {"days": days, "most": MOST_AT_ONCE, "since": since, "last": last})
        roots = cursor.fetchall()
    if not roots:
        return None
    return _batch(sql.PRUNE, {"days": days, "roots": [root for _, root in roots]}), roots[-1]


def _batch(statement: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)
