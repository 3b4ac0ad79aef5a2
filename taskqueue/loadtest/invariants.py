"""What must hold, each told by a query: one row for each thing that broke it, with an id and words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from taskqueue.loadtest import LEASE_SECONDS, TICK_SECONDS
from taskqueue.loadtest import checks as sql
from taskqueue.loadtest.mix import CYCLE, CYCLE_SECONDS
from taskqueue.worker.ticks import LOOK_SECONDS

MOST_SHOWN = 20

# The longest time between two looks for dead workers: the longest that Ticker draws, until it next wakes, and
# a second for what a tick does on a machine that is busy.
LONGEST_TICK_SECONDS = 1.2 * TICK_SECONDS + LOOK_SECONDS + 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """Of `checked` things, `broken` were not as they must be; the first of those by id, with words."""

    name: str
    says: str
    checked: int
    broken: int
    shown: list[dict[str, Any]]

    def figures(self) -> dict[str, Any]:
        shown = {"first": self.shown} if self.shown else {}
        return {"says": self.says, "checked": self.checked, "broken": self.broken, **shown}


@dataclass(frozen=True, slots=True)
class Invariant:
    name: str
    says: str
    checked: str
    broken: str


INVARIANTS = [
    Invariant("none_lost", "every task that was queued has ended, as it was to end", sql.ASKED, sql.LOST),
    Invariant("all_ended", "every task has ended, children included, and none runs", sql.TASKS, sql.UNENDED),
    Invariant("effects_not_twice", "no task has two effects", sql.EFFECTS, sql.EFFECTS_TWICE),
    Invariant("effects_not_missing", "every task that is done has its effect", sql.DONE, sql.EFFECTS_MISSING),
    Invariant(
        "submissions_once",
        "what is submitted elsewhere is submitted once",
        sql.SUBMISSIONS,
        sql.SUBMITTED_TWICE,
    ),
    Invariant(
        "no_stale_effect",
        "no effect was written after its attempt was over: it had failed or a later one had begun",
        sql.EFFECTS,
        sql.STALE_EFFECTS,
    ),
    Invariant(
        "no_stale_row",
        "a task that is done shows the result and the note of its last attempt",
        sql.TOLD,
        sql.STALE_ROWS,
    ),
    Invariant(
        "no_stale_write",
        "no lifecycle write by a generation that was over changed anything",
        sql.PROBES,
        sql.STALE_WRITES,
    ),
    Invariant("generation_once", "no generation of a task was begun twice", sql.STARTS, sql.GENERATION_TWICE),
    Invariant(
        "lost_workers_start_nothing",
        "a worker that was declared lost began nothing under a lost claim",
        sql.STARTS,
        sql.STARTED_LATE,
    ),
    Invariant(
        "turns_kept", "no account and no host had more at once than its turns", sql.TURNS_TAKEN, sql.TOO_MANY
    ),
    Invariant("turns_free", "no turn is left taken", sql.TURNS, sql.TURNS_LEFT),
    Invariant("retries_within_limits", "no task spent more retries than it had", sql.TASKS, sql.RETRIES_OVER),
    Invariant(
        "retries_accounted",
        "a task spent a retry for each attempt that failed and for its last one, and for nothing else",
        sql.TOLD,
        sql.MISCOUNTED,
    ),
    Invariant(
        "retries_spent_first",
        "what failed for want of retries had spent all of them",
        sql.FAILED_BY_RETRIES,
        sql.FAILED_EARLY,
    ),
    Invariant("parents_end_last", "no parent ended before its children", sql.PARENTS, sql.PARENTS_EARLY),
    Invariant(
        "parents_whole",
        "a parent has each of its children once",
        sql.PARENTS_SPLIT,
        sql.CHILDREN_WRONG,
    ),
    Invariant(
        "parents_sum",
        "a parent shows the sum of its children, and failed if one did",
        sql.PARENTS,
        sql.SUMS_WRONG,
    ),
    Invariant(
        "keys_free",
        "no task that has ended keeps its key, unless its cycle goes on",
        sql.KEYED,
        sql.KEYS_KEPT,
    ),
    Invariant("keys_once", "no two tasks had the same key at once", sql.ASKED_WITH_KEYS, sql.KEYS_SHARED),
    Invariant("cycles_once", "each cycle of the schedule was queued once", sql.CYCLES, sql.CYCLES_TWICE),
    Invariant("no_ghosts", "what a producer rolled back never ran", sql.TASKS, sql.GHOSTS),
    Invariant(
        "takeover_in_time",
        "what a dead worker had in hand was given back within a lease and a tick",
        sql.LOST_ATTEMPTS,
        sql.TAKEN_OVER_LATE,
    ),
    Invariant(
        "deploys_lose_nothing",
        "a supervisor that is told to stop ends in time, with 0, and no attempt of its workers is lost",
        sql.DEPLOYS,
        sql.DEPLOYS_BROKEN,
    ),
    Invariant("workers_leave", "no worker that left in good order has a row", sql.WORKERS, sql.WORKERS_LEFT),
]


def findings() -> Iterator[Finding]:
    """What holds, asked of the database now."""
    values: dict[str, str | float] = {
        "account_turns": settings.QUEUE_ACCOUNT_TURNS,
        "host_turns": settings.QUEUE_HOST_TURNS,
        "lease": LEASE_SECONDS,
        "tick": LONGEST_TICK_SECONDS,
        "cycle": CYCLE,
        "cycle_seconds": CYCLE_SECONDS,
    }
    with connection.cursor() as cursor:
        for invariant in INVARIANTS:
            cursor.execute(invariant.checked, values)
            checked = cursor.fetchone()[0]
            cursor.execute(invariant.broken, values)
            rows = cursor.fetchall()
            shown = [{"id": row[0], "what": row[1]} for row in rows[:MOST_SHOWN]]
            yield Finding(invariant.name, invariant.says, checked, len(rows), shown)
