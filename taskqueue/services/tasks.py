"""Tasks as their callers know them: enqueued, cancelled, retried."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from taskqueue.errors import ClaimLost, KeyHeld, PayloadTooLarge
from taskqueue.models import URGENT, Task, Token
from taskqueue.services.claims import hold
from taskqueue.services.families import cancel_family
from taskqueue.services.prepared import execute_prepared
from taskqueue.sql import enqueueing as sql
from taskqueue.sql import families

WAKE_SECONDS = 0.005  # one notification for what a connection commits within them: each takes a lock
MOST_AT_ONCE = 5_000  # rows a statement
ROWS_A_WRITE = 16  # of COPY: the server works on them while the next are being written


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The task that holds the key, and whether this call made it."""

    task_id: int
    created: bool


@dataclass(slots=True)
class New:
    """A task to be queued with many others. Not frozen: that takes longer than everything else about it."""

    payload: Mapping[str, Any] = field(default_factory=dict)
    subject: str = ""
    key: str | None = None
    account: str = ""
    host: str = ""


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
    """A task is queued, once per unfinished `key` (Q1), when the caller's transaction commits.

    Raises PayloadTooLarge.
    """
    values: dict[str, Any] = {
        "kind": kind,
        "payload": payload_text(kind, payload or {}),
        "subject": subject,
        "key": key,
        "host": host,
        "priority": priority,
        "not_before": not_before,
        "parent": parent,
        "account": account,
        "wake": priority <= URGENT or connection.in_atomic_block or not _has_just_notified(),
    }
    while True:
        if inserted := execute_prepared(sql.ENQUEUE, values):
            if values["wake"] and not connection.in_atomic_block:
                connection.notified_at = time.monotonic()  # type: ignore[attr-defined]
            return Enqueued(task_id=inserted[0][0], created=True)
        # A committed row has the key. It may end before it is read here: then the key is free again.
        holder = Task.objects.holding(key).values_list("pk", flat=True).first()
        if holder is not None:
            return Enqueued(task_id=holder, created=False)


@transaction.atomic
def enqueue_many(kind: str, tasks: Iterable[New], *, priority: int = 50) -> int:
    """The tasks are queued, those whose key is free; returns how many. Raises PayloadTooLarge."""
    keyed: list[New] = []
    created = 0
    with connection.cursor() as cursor:
        cursor.execute(sql.DUE_NOW, {"priority": priority})
        due, position, _ = cursor.fetchone()

        def rows() -> Iterator[str]:
            nonlocal created
            front, end = f"{_copied(kind)}\t", f"\t{priority}\t{due.isoformat()}\t{position.isoformat()}\n"
            for task in tasks:
                if task.key is not None:
                    keyed.append(task)
                    continue
                created += 1
                fields = (task.subject, payload_text(kind, task.payload), task.account, task.host)
                yield front + "\t".join(map(_copied, fields)) + end

        some = rows()
        with cursor.copy(sql.COPY_TASKS) as copy:
            while text := "".join(islice(some, ROWS_A_WRITE)):
                copy.write(text)
        keyed.sort(key=lambda task: task.key or "")
        for start in range(0, len(keyed), MOST_AT_ONCE):
            batch = keyed[start : start + MOST_AT_ONCE]
            common = {"kind": kind, "priority": priority, "due": due, "position": position}
            cursor.execute(sql.ENQUEUE_KEYED, {**common, **_columns(kind, batch)})
            created += cursor.fetchone()[0]
    return created


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
    belong to the parent's account and, unless told otherwise, share its priority. Raises ClaimLost and
    PayloadTooLarge.
    """
    if not hold(claim.token):
        raise ClaimLost(f"task {claim.token.task_id}, attempt {claim.token.attempt}")
    values: dict[str, Any] = {
        "kind": kind,
        "payloads": f"[{','.join(payload_text(kind, payload) for payload in payloads)}]",
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

    False if there was nothing to retry. `attempts` only grows: the spent ones are given back instead. Raises
    KeyHeld, having changed nothing, while another task has the key of one of them.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(families.RETRY_FAMILY, {"task": task_id})
            return bool(cursor.rowcount)
    except IntegrityError as error:
        key = Task.objects.filter(pk=task_id).values_list("dedupe_key", flat=True).first()
        holder = Task.objects.holding(key).values_list("pk", flat=True).first()
        raise KeyHeld(task_id, holder) from error


def _columns(kind: str, tasks: Sequence[New]) -> dict[str, list[Any]]:
    return {
        "payloads": [payload_text(kind, task.payload) for task in tasks],
        "subjects": [task.subject for task in tasks],
        "keys": [task.key for task in tasks],
        "accounts": [task.account for task in tasks],
        "hosts": [task.host for task in tasks],
    }


def payload_text(kind: str, payload: Mapping[str, Any]) -> str:
    """As the row holds it. Raises PayloadTooLarge."""
    text = json.dumps(payload)
    if len(text) > settings.QUEUE_PAYLOAD_MAX_BYTES:
        raise PayloadTooLarge(kind, len(text), settings.QUEUE_PAYLOAD_MAX_BYTES)
    return text


def _copied(text: str) -> str:
    """As COPY reads it (PostgreSQL 18, COPY, "Text Format")."""
    return text.replace("\\", r"\\").replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def _has_just_notified() -> bool:
    """Whether this connection has sent and committed a notification a moment ago."""
    return time.monotonic() - getattr(connection, "notified_at", -WAKE_SECONDS) < WAKE_SECONDS
