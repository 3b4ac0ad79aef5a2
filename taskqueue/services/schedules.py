"""Schedules: what is due, queued once per cycle whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from taskqueue.services.tasks import payload_text
from taskqueue.sql import enqueueing as sql

LONGEST_PERIOD = 3_660 * 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Every:
    """One task every `seconds`: from one to ten years."""

    seconds: int
    subject: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    host: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.seconds <= LONGEST_PERIOD:
            raise ValueError(f"a period of {self.seconds} seconds: from 1 to {LONGEST_PERIOD}, ten years")


every = Every
Due = QuerySet[Any, Any] | Every


def enqueue_due(kind: str, due: Due) -> int:
    """Each row of `due` has a task for its current cycle (Q2); returns how many were queued.

    A QuerySet's values are (subject, payload, host, period in seconds), in that order. A row whose
    subject still has a pending task of the kind gets no other. Periods are taken as one second to ten years.
    Raises PayloadTooLarge for a payload of `every`.
    """
    try:
        query, params = _select(kind, due)
    except EmptyResultSet:  # the ORM knows without asking that nothing is due
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            sql.ENQUEUE_DUE.format(due=query, held_keys=sql.HELD_KEYS), [*params, kind, kind, kind, kind]
        )
        return len(cursor.fetchall())


def _select(kind: str, due: Due) -> tuple[str, tuple[Any, ...]]:
    if isinstance(due, Every):
        return sql.ONE_DUE, (due.subject, payload_text(kind, due.payload), due.host, due.seconds)
    query, params = due.query.sql_with_params()
    return query, tuple(params)
