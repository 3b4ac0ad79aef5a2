"""Claims: what keeps them and what ends the attempt. Every write names the generation (Q5)."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from taskqueue.models import TaskStatus, Token
from taskqueue.services.families import cancel_family
from taskqueue.services.watching import note_reaped
from taskqueue.sql import claiming, enqueueing, leaving

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 1_000  # rows a statement
PATIENCE = "1s"  # with a transaction that holds the claim of an attempt that has failed
LONGEST_ERROR = 2_000  # characters; a traceback beside it is as long at most


Write = Callable[[Token], bool]  # one guarded lifecycle write; False: the claim was lost


def save_progress(token: Token, value: Mapping[str, Any]) -> bool:
    """The row shows `value`, and when it changed (Q7). False: the claim is lost."""
    return _changes(claiming.SAVE_PROGRESS, {**_names(token), "progress": json.dumps(value)})


def hold(token: Token) -> bool:
    """The claim stays this one's until the transaction ends. False: it is lost."""
    return _changes(claiming.HOLD_CLAIM, _names(token))


def finish(token: Token, *, note: str = "", result: Any = None) -> bool:
    """The task is done, even if somebody asked too late for a cancel. False: the claim is lost."""
    return _leave(token, TaskStatus.DONE, note=note, result=result)


def park(token: Token, *, until: datetime | timedelta, note: str = "") -> bool:
    """The task awaits a batch, claimable again at `until`; the attempt is given back. False: claim lost.

    A duration is counted by the database's clock.
    """
    return _leave(token, TaskStatus.AWAITING_BATCH, note=note, until=until, given_back=1)


def delay(token: Token, *, until: datetime | timedelta, reason: str) -> bool:
    """The task is pending until the host takes requests; the attempt is given back. False: claim lost."""
    return _leave(token, TaskStatus.PENDING, note=reason, until=until, given_back=1)


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
def give_back_unknown(worker: str, *, in_hand: Iterable[int]) -> int:
    """What runs in the worker's name without its knowing waits again, or is cancelled; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(leaving.GIVE_BACK_UNKNOWN, {"worker": worker, "in_hand": list(in_hand)})
        given_back = cursor.fetchall()
    for task_id, status, _ in given_back:
        _left(task_id, status)
    return len(given_back)


def reap() -> tuple[int, int]:
    """Tasks of lost workers are pending again, or failed with retries spent (Q9): (reaped, lost) counts.

    Step by step, each committed: whoever is frozen between two of them keeps nobody else from the next.
    """
    with connection.cursor() as cursor:
        cursor.execute(leaving.LOSE_WORKERS)
        if lost_workers := [session_name(name) for (name,) in cursor.fetchall()]:
            cursor.execute(leaving.CUT_SESSIONS, {"sessions": lost_workers})
    ended = _fail_lost()
    counts = Counter(status for _, status in ended)
    lost = counts[TaskStatus.FAILED]
    if ended:
        logger.warning("tasks_reaped=%d tasks_lost=%d", len(ended) - lost, lost)
        note_reaped(reaped=len(ended) - lost, lost=lost)
    return len(ended) - lost, lost


@transaction.atomic
def _fail_lost() -> list[tuple[int, str]]:
    with connection.cursor() as cursor:
        cursor.execute(leaving.FAIL_ATTEMPTS.format(failed=leaving.LOST_ATTEMPTS))
        ended: list[tuple[int, str]] = cursor.fetchall()
    for task_id, status in ended:
        _left(task_id, status)
    return ended


def promote() -> int:
    """What has become due by now has joined its line; returns how many tasks."""
    promoted = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(enqueueing.PROMOTE, {"most": MOST_AT_ONCE})
            count = int(cursor.fetchone()[0])
            promoted += count
            if count < MOST_AT_ONCE:
                return promoted


def free_turns() -> int:
    """Turns of tasks that do not run are free; returns how many were not."""
    with connection.cursor() as cursor:
        cursor.execute(leaving.FREE_TURNS)
        return int(cursor.rowcount)


def session_name(worker: str) -> str:
    """What the worker's connections are called; its incarnation is enough."""
    return f"worker:{worker[-16:]}"


def storable(value: str) -> str:
    """The text as a row can hold it: without NUL characters or halves of surrogate pairs, and not endless."""
    return value.replace("\x00", "").encode("utf-8", "replace").decode()[:LONGEST_ERROR]


@transaction.atomic
def _leave(
    token: Token,
    status: TaskStatus,
    *,
    note: str,
    until: datetime | timedelta | None = None,
    given_back: int = 0,
    result: Any = None,
) -> bool:
    values: dict[str, Any] = {
        "status": status.value,
        "result": None if result is None else json.dumps(result),
        "note": storable(note),
        "until": None if isinstance(until, timedelta) else until,
        "wait": until.total_seconds() if isinstance(until, timedelta) else None,
        "given_back": given_back,
    }
    with connection.cursor() as cursor:
        cursor.execute(leaving.LEAVE, {**_names(token), **values})
        row = cursor.fetchone()
    return _left(token.task_id, row and row[0])


def _fail(token: Token, error: str, detail: str, *, may_retry: bool, wait: timedelta | None) -> bool:
    """Waits for a transaction that holds the claim, or ends it if it is a session of this worker."""
    values: dict[str, Any] = {
        **_names(token),
        "error": storable(error),
        "detail": storable(detail),
        "may_retry": may_retry,
        "wait": None if wait is None else wait.total_seconds(),
    }
    try:
        return _record_failure(token, values)
    except OperationalError as held:
        if not isinstance(held.__cause__, LockNotAvailable):
            raise
    with connection.cursor() as cursor:
        cursor.execute(leaving.CUT_LEFT_OPEN, {"session": session_name(token.worker)})
    return _record_failure(token, values)


@transaction.atomic
def _record_failure(token: Token, values: Mapping[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [PATIENCE])
        cursor.execute(leaving.FAIL_ATTEMPTS.format(failed=leaving.OWN_ATTEMPT), values)
        row = cursor.fetchone()
    return _left(token.task_id, row and row[1])


def _left(task_id: int, status: str | None) -> bool:
    if status == TaskStatus.CANCELLED:
        cancel_family(task_id)
    return status is not None


def _changes(statement: str, values: Mapping[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return bool(cursor.rowcount)


def _names(token: Token) -> dict[str, Any]:
    return {"task": token.task_id, "worker": token.worker, "attempt": token.attempt}
