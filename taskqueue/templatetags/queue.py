"""How templates say the queue's figures, and the tasks that a signed-in person has in flight."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.db.models import Case, F, When
from django.template import Context

from taskqueue import presentation
from taskqueue.models import Task, TaskStatus, account_of
from taskqueue.services.watching import in_flight_of

MOST_SHOWN = 20

register = template.Library()
register.filter("amount", presentation.number)
register.filter("duration", presentation.duration)
register.filter("held", presentation.held)
register.filter("megabytes", presentation.megabytes)
register.filter("kind", presentation.kind)
register.filter("progress", presentation.progress)
register.filter("state_words", presentation.state_words)
register.filter("worker_state", presentation.worker_state)
register.filter("host_state", presentation.host_state)


@register.filter
def ago(at: datetime | None, now: datetime) -> str:
    """For how long something has been so: "4 min"; unknown since when is unknown."""
    return presentation.duration(None if at is None else (now - at).total_seconds())


@register.filter
def count(counts: dict[str, int], state: str) -> int:
    """How many are in the state; none is 0, and was counted."""
    return counts.get(state, 0)


@register.inclusion_tag("queue/_in_flight.html", takes_context=True)
def tasks_in_flight(context: Context, subject: str = "") -> dict[str, Any]:
    """The person's own unfinished tasks, each with a button to cancel it (Q15).

    First what runs, then what is in line, in its order, then the rest, newest first.
    Only those about `subject`, if one is given. Staff see their own here too: the console has everybody's.
    """
    request = context["request"]
    own = in_flight_of(account_of(request.user)) if request.user.is_authenticated else Task.objects.none()
    if subject:
        own = own.filter(subject=subject)
    runs_first = Case(When(status=TaskStatus.RUNNING, then=0), default=1)
    shown = list(own.order_by(runs_first, F("position").asc(nulls_last=True), "-pk")[: MOST_SHOWN + 1])
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "tasks": shown[:MOST_SHOWN],
        "more": own.count() - MOST_SHOWN if len(shown) > MOST_SHOWN else 0,
        "has_stream": context.get("has_stream", False),
    }
