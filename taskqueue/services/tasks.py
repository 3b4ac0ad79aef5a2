"""Tasks as their callers know them: enqueued, cancelled, retried."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db import connection, transaction

from taskqueue import sql
from taskqueue.errors import ClaimLost
from taskqueue.models import Task, Token
from taskqueue.services.claims import hold
from taskqueue.services.families import cancel_family


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The task that holds the key, and whether this call made it."""

    task_id: int
    created: bool


class Held(Protocol):
    """A claim, seen from below the handlers."""

    @property
    def token(self) -> Token: ...


def enqueue(
    kind: str,
    *,
    payload: Mapping[str, Any] | None = None,
    subject: str = "",
    key: str | None = None,
    host: str = "",
    priority: int = 50,
    not_before: datetime | None = None,
    parent: int | None = None,
    account: str = "",
) -> Enqueued:
    """A task is queued, once per unfinished `key` (Q1), when the caller's transaction commits."""
    values: dict[str, Any] = {
        "kind": kind,
        "payload": json.dumps(payload or {}),
        "subject": subject,
        "key": key,
        "host": host,
        "priority": priority,
        "not_before": not_before,
        "parent": parent,
        "account": account,
    }
    while True:
        with connection.cursor() as cursor:
            cursor.execute(sql.ENQUEUE, values)
            if inserted := cursor.fetchone():
                return Enqueued(task_id=inserted[0], created=True)
        # A committed row has the key. It may end before it is read here: then the key is free again.
        holder = Task.objects.filter(dedupe_key=key).values_list("pk", flat=True).first()
        if holder is not None:
            return Enqueued(task_id=holder, created=False)


@transaction.atomic
def enqueue_children(
    claim: Held,
    kind: str,
    payloads: Iterable[Mapping[str, Any]],
    *,
    subject: str = "",
    host: str = "",
    priority: int | None = None,
) -> int:
    """The claimed task has one child of `kind` for each distinct payload; returns how many are new.

    A second run of the parent adds only what the first left out, finished children included. Children
    belong to the parent's account and, unless told otherwise, share its priority. Raises ClaimLost.
    """
    if not hold(claim.token):
        raise ClaimLost(f"task {claim.token.task_id}, attempt {claim.token.attempt}")
    values: dict[str, Any] = {
        "kind": kind,
        "payloads": json.dumps(list(payloads)),
        "parent": claim.token.task_id,
        "subject": subject,
        "host": host,
        "priority": priority,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.ENQUEUE_CHILDREN, values)
        return len(cursor.fetchall())


def request_cancel(task_id: int) -> bool:
    """Nothing of the task or of its descendants starts any more (Q10); False if all had ended already.

    What waits ends at once; what runs is flagged, stops at its next checkpoint wherever it runs, and
    acknowledges.
    """
    return cancel_family(task_id) > 0


def retry(task_id: int) -> bool:
    """A failed or cancelled task is pending again with all its retries, as are such descendants of it.

    False if there was nothing to retry. `attempts` only grows: the spent ones are given back instead.
    """
    with connection.cursor() as cursor:
        cursor.execute(sql.RETRY_FAMILY, {"task": task_id})
        return bool(cursor.rowcount)
