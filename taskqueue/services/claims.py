"""Claims: from the choice of a task to what ends the attempt. Every write names the generation (Q5)."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue import sql
from taskqueue.models import Task, TaskStatus, Token
from taskqueue.services.families import cancel_family

logger = logging.getLogger(__name__)

LONGEST_ERROR = 2_000  # characters; a traceback beside it is as long at most


def claim_next(*, worker: str, kinds: Mapping[str, int]) -> Task | None:
    """The next claimable task, running in `worker`'s name under a new generation (Q3); None if there is none.

    `kinds` maps what the worker runs to the attempts its handlers allow.
    """
    if not kinds:
        return None
    candidate = Task.objects.claimable(kinds).in_claim_order().values("pk")[:1]
    query, params = candidate.query.sql_with_params()
    marks = [worker, settings.QUEUE_LEASE_SECONDS, json.dumps(dict(kinds)), settings.RELEASE[:100]]
    claimed = Task.objects.raw(sql.CLAIM_TASK.format(claimable=query), [*params, *marks])
    return next(iter(claimed), None)


def beat(token: Token, *, progress: Mapping[str, Any] | None = None) -> bool | None:
    """Extend the lease, save the progress; returns whether a cancel is wanted, None for a lost claim (Q6)."""
    saved = None if progress is None else json.dumps(progress)
    with connection.cursor() as cursor:
        cursor.execute(sql.BEAT, {**_names(token), "lease": settings.QUEUE_LEASE_SECONDS, "progress": saved})
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


def save_progress(token: Token, value: Mapping[str, Any]) -> bool:
    """The row shows `value`, and when it changed (Q7). False: the claim is lost."""
    return Task.objects.held_by(token).update(progress=value, progress_at=Now()) == 1


def hold(token: Token) -> bool:
    """The claim stays this one's until the transaction ends. False: it is lost."""
    with connection.cursor() as cursor:
        cursor.execute(sql.HOLD_CLAIM, _names(token))
        return cursor.fetchone() is not None


def finish(token: Token, *, note: str = "") -> bool:
    """The task is done, even if somebody asked too late for a cancel. False: the claim is lost."""
    return _leave(token, TaskStatus.DONE, note=note)


def park(token: Token, *, until: datetime, note: str = "") -> bool:
    """The task awaits a batch, claimable again at `until`; the attempt is given back. False: claim lost."""
    return _leave(token, TaskStatus.AWAITING_BATCH, note=note, not_before=until, given_back=1)


def delay(token: Token, *, until: datetime, reason: str) -> bool:
    """The task is pending until the host takes requests; the attempt is given back. False: claim lost."""
    return _leave(token, TaskStatus.PENDING, note=reason, not_before=until, given_back=1)


def release(token: Token, *, note: str = "given back by a worker that was told to stop") -> bool:
    """The task is pending at once; the attempt is given back (Q12). False: the claim is lost."""
    return _leave(token, TaskStatus.PENDING, note=note, given_back=1)


def wait(token: Token, *, note: str = "") -> bool:
    """The task ends when its children do (Q11); the attempt is given back. False: the claim is lost."""
    return _leave(token, TaskStatus.WAITING, note=note, given_back=1)


def acknowledge_cancel(token: Token) -> bool:
    """The task is cancelled, with whatever descends from it (Q10). False: the claim is lost."""
    return _leave(token, TaskStatus.CANCELLED, note="")


def try_again(token: Token, *, error: str, detail: str = "", after: timedelta | None = None) -> bool:
    """The attempt failed and another may not: pending after a wait, failed once retries are spent (Q8).

    `after` replaces the exponential wait. False: the claim is lost.
    """
    return _fail(token, error, detail, may_retry=True, wait=after)


def fail(token: Token, *, error: str, detail: str = "") -> bool:
    """The task failed for good; its payload stays. `detail` goes to the history. False: the claim is lost."""
    return _fail(token, error, detail, may_retry=False, wait=None)


@transaction.atomic
def reap() -> tuple[int, int]:
    """Tasks whose lease ended are pending again, or failed with retries spent (Q9): (reaped, lost) counts."""
    with connection.cursor() as cursor:
        cursor.execute(sql.FAIL_ATTEMPTS.format(failed=sql.LOST_ATTEMPTS))
        ended = cursor.fetchall()
    for task_id, status in ended:
        if status == TaskStatus.CANCELLED:
            cancel_family(task_id)
    counts = Counter(status for _, status in ended)
    lost = counts[TaskStatus.FAILED]
    if ended:
        logger.warning("tasks_reaped=%d tasks_lost=%d", len(ended) - lost, lost)
    return len(ended) - lost, lost


def storable(value: str) -> str:
    """The text as a row can hold it: without NUL characters or halves of surrogate pairs, and not endless."""
    return value.replace("\x00", "").encode("utf-8", "replace").decode()[:LONGEST_ERROR]


@transaction.atomic
def _leave(
    token: Token, status: TaskStatus, *, note: str, not_before: datetime | None = None, given_back: int = 0
) -> bool:
    values: dict[str, Any] = {
        "status": status.value,
        "note": storable(note),
        "not_before": not_before,
        "given_back": given_back,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.LEAVE, {**_names(token), **values})
        row = cursor.fetchone()
    return _left(token, row and row[0])


@transaction.atomic
def _fail(token: Token, error: str, detail: str, *, may_retry: bool, wait: timedelta | None) -> bool:
    values: dict[str, Any] = {
        "error": storable(error),
        "detail": storable(detail),
        "may_retry": may_retry,
        "wait": None if wait is None else wait.total_seconds(),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.FAIL_ATTEMPTS.format(failed=sql.OWN_ATTEMPT), {**_names(token), **values})
        row = cursor.fetchone()
    return _left(token, row and row[1])


def _left(token: Token, status: str | None) -> bool:
    if status == TaskStatus.CANCELLED:
        cancel_family(token.task_id)
    return status is not None


def _names(token: Token) -> dict[str, Any]:
    return {"task": token.task_id, "worker": token.worker, "attempt": token.attempt}
