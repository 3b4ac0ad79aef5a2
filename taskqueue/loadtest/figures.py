"""How fast it was and what was done to it: figures, asked of the database like the invariants."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db import connection

# From being queued to the first start. What is due later or keeps to the pace of a host is left out.
WAITS = """
    SELECT CASE WHEN task.priority <= 10 THEN 'urgent' WHEN task.account = %(big)s THEN 'big_account'
                WHEN task.account <> '' THEN 'other_accounts' ELSE 'fleet' END AS whose,
           count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY wait),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY wait), max(wait)
      FROM queue_task AS task
      JOIN (SELECT task_id, min(at) AS at FROM loadtest_start GROUP BY task_id) AS first
        ON first.task_id = task.id
     CROSS JOIN LATERAL (SELECT extract(epoch FROM first.at - task.created_at)::float AS wait) AS waited
     WHERE task.host = '' AND task.kind NOT IN ('load.deaf', 'load.split')
     GROUP BY 1 ORDER BY 1
"""

COUNTS = """
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE status = 'done') AS done,
           count(*) FILTER (WHERE status = 'failed') AS failed,
           count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
           count(*) FILTER (WHERE parent_id IS NOT NULL) AS children,
           coalesce(sum(attempts), 0) AS claims,
           coalesce(sum(resumes), 0) AS given_back,
           coalesce(max(attempts), 0) AS most_attempts_of_a_task
      FROM queue_task
"""

WRITTEN = """
    SELECT (SELECT count(*) FROM loadtest_start) AS starts,
           (SELECT count(*) - count(DISTINCT task_id) FROM loadtest_start) AS starts_repeated,
           (SELECT count(*) FROM loadtest_effect) AS effects,
           (SELECT count(*) FROM loadtest_effect AS effect JOIN queue_task AS task ON task.id = effect.task_id
             WHERE effect.attempt < task.attempts AND status = 'done' AND kind <> 'load.split')
               AS effects_found_by_a_later_run,
           (SELECT count(*) FROM loadtest_refusal) AS handlers_told_that_their_claim_was_lost,
           (SELECT count(*) FROM loadtest_failed_attempt) AS failed_attempts,
           (SELECT count(*) FROM loadtest_failed_attempt WHERE is_lost) AS lost_attempts,
           (SELECT count(*) FROM loadtest_probe) AS stale_writes_tried
"""

TAKEOVERS = "SELECT sort, since_fault, since_lease, until_start FROM loadtest_takeover"

# Every session of the fleet has gone: what they counted has arrived.
COMMITS = """
    SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()
"""


def counts() -> dict[str, Any]:
    return {**_row(COUNTS), **_row(WRITTEN)}


def waits(big_account: str) -> dict[str, dict[str, float]]:
    """Seconds from being queued to the first start, by whose they are."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS, {"big": big_account})
        return {
            whose: {"tasks": number, "p50": round(p50, 3), "p95": round(p95, 3), "max": round(most, 3)}
            for whose, number, p50, p95, most in cursor.fetchall()
        }


def takeovers() -> dict[str, Any]:
    """Seconds until what a dead worker had in hand was given back, and until it was begun again."""
    with connection.cursor() as cursor:
        cursor.execute(TAKEOVERS)
        rows = cursor.fetchall()
    by_sort: dict[str, list[float]] = defaultdict(list)
    for sort, since_fault, _, _ in rows:
        if sort is not None:
            by_sort[sort].append(since_fault)
    return {
        "how": "from the fault, and from the end of the lease, to the time the reaper wrote into Task.errors;"
        " then to the next start, the wait before another try included",
        "number": len(rows),
        "without_a_known_fault": sum(row[0] is None for row in rows),
        "from_the_fault": {sort: _spread(seconds) for sort, seconds in sorted(by_sort.items())},
        "from_the_end_of_the_lease": _spread([row[2] for row in rows if row[2] is not None]),
        "then_until_the_next_start": _spread([row[3] for row in rows if row[3] is not None]),
    }


def commits() -> int:
    with connection.cursor() as cursor:
        cursor.execute(COMMITS)
        return int(cursor.fetchone()[0])


def _spread(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    if not ordered:
        return {"number": 0}
    return {
        "number": len(ordered),
        "p50": round(ordered[len(ordered) // 2], 3),
        "max": round(ordered[-1], 3),
    }


def _row(question: str) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        names = [column.name for column in cursor.description]
        return {name: int(value) for name, value in zip(names, cursor.fetchone(), strict=True)}
