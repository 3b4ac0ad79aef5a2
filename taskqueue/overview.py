"""What the console's overview of the queue shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError
from django.utils import timezone

from taskqueue.models import HostBudget, Task, Worker
from taskqueue.presentation import (
    Chart,
    Span,
    advance,
    chart,
    duration,
    is_still,
    number,
    round_count,
    round_seconds,
)
from taskqueue.services import watching

HOURS = {1: "1 hour", 6: "6 hours", 24: "1 day", 168: "7 days"}
USUAL_HOURS = 6
MOST_ROWS = 50  # of a table; the lists have the rest
READ_SECONDS = 3.0  # a statement may take


@dataclass(frozen=True, slots=True)
class Running:
    """A task in flight, as its row shows it."""

    task: Task
    seconds: float | None
    advance: str
    is_still: bool


def overview(hours: int) -> dict[str, Any]:
    """The overview of the last `hours`; `is_late` and no figures if the database takes too long for them."""
    now = timezone.now()
    context: dict[str, Any] = {
        "now": now,
        "hours": hours,
        "spans": HOURS,
        "most": MOST_ROWS,
        "is_late": False,
    }
    try:
        with watching.limited(READ_SECONDS):
            return context | {"charts": charts(hours, now)} | _figures(now)
    except OperationalError:
        return context | {"is_late": True}


def charts(hours: int, now: datetime) -> list[Chart]:
    """Depth, and age of the oldest, over the last hours."""
    since = (now - timedelta(hours=hours)).replace(second=0, microsecond=0)
    step, moments = watching.history(since, now)
    span = Span(since, now, step)
    return [
        chart(
            "depth",
            "Tasks in line",
            moments,
            span,
            value=lambda moment: moment.depth,
            words=number,
            round_up=round_count,
        ),
        chart(
            "oldest",
            "Waiting time of the oldest",
            moments,
            span,
            value=lambda moment: moment.oldest_seconds,
            words=duration,
            round_up=round_seconds,
        ),
    ]


def _figures(now: datetime) -> dict[str, Any]:
    kinds = watching.kinds()
    totals = sum((kind.counts for kind in kinds), Counter[str]())
    oldest_at = min((kind.oldest_at for kind in kinds if kind.oldest_at), default=None)
    return {
        "totals": totals,
        "oldest_at": oldest_at,
        "reaped": watching.reaped_lately(),
        "running": [_running(task, now) for task in watching.in_flight(MOST_ROWS)],
        "kinds": kinds,
        "orphans": [kind for kind in kinds if not kind.has_worker and kind.counts["in_line"]],
        "lanes": watching.lanes(MOST_ROWS),
        "alive": Worker.objects.alive().count(),
        "workers": list(watching.workers()[:MOST_ROWS]),
        "hosts": list(HostBudget.objects.order_by("-next_slot_at", "pk")[:MOST_ROWS]),
    }


def _running(task: Task, now: datetime) -> Running:
    seconds = (now - task.started_at).total_seconds() if task.started_at else None
    return Running(task, seconds, advance(task, now), is_still(task, now))
