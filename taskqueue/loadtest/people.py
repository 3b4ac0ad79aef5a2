"""People beside the workers: they cancel, retry, and try what a worker that lost its claim might try."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from taskqueue.loadtest import tables
from taskqueue.loadtest.producing import own_connection
from taskqueue.models import Token
from taskqueue.services import claims, request_cancel, retry
from taskqueue.services.claiming import Claimer, Ended

EVERY_SECONDS = 0.2

TO_CANCEL = """
    SELECT id FROM queue_task AS task
     WHERE finished_at IS NULL AND cancel_requested_at IS NULL
       AND (kind = 'load.endless' AND status = 'running'
            AND started_at < clock_timestamp() - interval '0.3 seconds'
            OR random() < 0.02
               AND EXISTS (SELECT FROM loadtest_asked
                            WHERE task_id = task.id AND ending IN ('cancelled', 'done or cancelled')))
     LIMIT 20
"""

TO_MEND = """
    SELECT id FROM queue_task AS task
     WHERE kind = 'load.mended' AND status = 'failed'
       AND NOT EXISTS (SELECT FROM loadtest_mended WHERE task_id = task.id)
     LIMIT 20
"""

# Of attempts that were lost, the last but one of what runs now, and a stranger's.
STALE_TOKENS = """
    (SELECT task_id, worker, attempt FROM loadtest_failed_attempt WHERE is_lost ORDER BY at DESC LIMIT 3)
    UNION ALL
    (SELECT id, worker, attempts - 1 FROM queue_task WHERE status = 'running' AND attempts > 1 LIMIT 3)
    UNION ALL
    (SELECT id, 'somebody else', attempts FROM queue_task
      WHERE status = 'running' ORDER BY started_at LIMIT 2)
"""


def _step(token: Token) -> bool:
    return Claimer(token.worker, {"load.work": 1}).step([Ended(token)], most=0).finished > 0


VERBS: dict[str, Callable[[Token], bool]] = {
    "step": _step,
    "hold": claims.hold,
    "save_progress": lambda token: claims.save_progress(token, {"done": 1, "total": 1, "note": "stale"}),
    "finish": claims.finish,
    "park": lambda token: claims.park(token, until=timezone.now()),
    "delay": lambda token: claims.delay(token, until=timezone.now(), reason="stale"),
    "release": claims.release,
    "wait": claims.wait,
    "acknowledge_cancel": claims.acknowledge_cancel,
    "try_again": lambda token: claims.try_again(token, error="stale", after=timedelta(0)),
    "fail": lambda token: claims.fail(token, error="stale"),
}


class People:
    def __init__(self, *, ended: threading.Event) -> None:
        self._ended = ended

    def run(self) -> None:
        """They go on until the test has ended."""
        verbs = itertools.cycle(VERBS)
        with own_connection():
            while not self._ended.wait(EVERY_SECONDS):
                for task_id in _ids(TO_CANCEL):
                    request_cancel(task_id)
                for task_id in _ids(TO_MEND):
                    _mend(task_id)
                for task_id, worker, attempt in _rows(STALE_TOKENS):
                    _probe(Token(task_id, worker, attempt), next(verbs))


@transaction.atomic
def _mend(task_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(tables.MEND, [task_id])
    retry(task_id)


@transaction.atomic
def _probe(token: Token, verb: str) -> None:
    values: dict[str, Any] = {"task": token.task_id, "attempt": token.attempt, "worker": token.worker}
    has_written = VERBS[verb](token)
    with connection.cursor() as cursor:
        cursor.execute(tables.PROBED, {**values, "verb": verb, "has_written": has_written})


def _ids(question: str) -> list[int]:
    return [task_id for (task_id,) in _rows(question)]


def _rows(question: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
