"""What the queue looks like now and looked like before. Reads hot rows alone, and never for long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import JSONObject, Now

from taskqueue.models import CLAIMABLE, Sample, Task, TaskStatus, Turn, Worker
from taskqueue.sql import watching as sql

SAMPLE_SECONDS = 3.0  # a statement may take; then the minute has no sample
KEEP_SAMPLES_DAYS = 7
MOST_STEPS = 180  # of a history
MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class KindFigures:
    """How much of one kind is in which state.

    `counts` by state: in_line, not_due, awaiting_batch, waiting (for children), running, and failed, which is
    of the last hour.
    """

    kind: str
    has_worker: bool
    counts: Counter[str] = field(default_factory=Counter)
    oldest_at: datetime | None = None  # since when the oldest in line is due


@dataclass(frozen=True, slots=True)
class LaneFigures:
    lane: str
    in_line: int
    oldest_at: datetime
    taken: int

    @property
    def turns(self) -> int:
        """How many there are to take."""
        is_account = self.lane.startswith("account:")
        return int(settings.QUEUE_ACCOUNT_TURNS if is_account else settings.QUEUE_HOST_TURNS)


@dataclass(frozen=True, slots=True)
class Moment:
    """The worst of one step of a history; None is unknown."""

    at: datetime
    depth: int | None
    oldest_seconds: float | None
    running: int | None
    failed: int | None


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """One reading transaction, of which no statement takes longer: else OperationalError."""
    milliseconds = max(1, round(seconds * 1000))  # 0 would be no limit
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{milliseconds}ms"])
        yield


def sample() -> bool:
    """This minute has its sample; False if it had one already. Those older than a week are gone."""
    with limited(SAMPLE_SECONDS), connection.cursor() as cursor:
        cursor.execute(sql.SAMPLE)
        if not cursor.rowcount:
            return False
        cursor.execute(sql.FORGET_SAMPLES, {"days": KEEP_SAMPLES_DAYS})
        return True


def note_reaped(*, reaped: int, lost: int) -> None:
    """The minute's sample counts what the reaper found (Q9)."""
    with connection.cursor() as cursor:
        cursor.execute(sql.NOTE_REAPED, {"reaped": reaped, "lost": lost})


def reaped_lately() -> dict[str, int]:
    """How many attempts of lost workers were `reaped`, and how many tasks `lost`, in the last hour."""
    counts = Sample.objects.filter(at__gt=Now() - timedelta(hours=1)).aggregate(
        reaped=Sum("reaped", default=0), lost=Sum("lost", default=0)
    )
    return {name: int(count) for name, count in counts.items()}


def history(since: datetime, until: datetime) -> tuple[timedelta, list[Moment]]:
    """The length of a step and those steps that have a sample, oldest first; a step is whole minutes."""
    minutes = max(1, -(-round((until - since).total_seconds()) // (60 * MOST_STEPS)))
    step = minutes * MINUTE
    values: dict[str, Any] = {"step": step, "since": since}
    with connection.cursor() as cursor:
        cursor.execute(sql.HISTORY, values)
        return step, [Moment(*row) for row in cursor.fetchall()]


def kinds() -> list[KindFigures]:
    """Every kind that has unfinished tasks, failed ones of the last hour, or a live worker; by name."""
    alive = live_kinds()
    figures = {kind: KindFigures(kind, has_worker=True) for kind in alive}
    with connection.cursor() as cursor:
        cursor.execute(sql.KINDS)
        for kind, state, count, oldest_at in cursor.fetchall():
            known = figures.setdefault(kind, KindFigures(kind, has_worker=False))
            known.counts[state] += count
            if state == "in_line":
                known.oldest_at = min(known.oldest_at or oldest_at, oldest_at)
    return [figures[kind] for kind in sorted(figures)]


def live_kinds() -> set[str]:
    """The kinds that a live worker runs."""
    return {kind for kinds in Worker.objects.alive().values_list("kinds", flat=True) for kind in kinds}


def lanes(most: int) -> list[LaneFigures]:
    """The lanes in which most waits, with how many of their turns are taken."""
    with connection.cursor() as cursor:
        cursor.execute(sql.LANES, {"most": most})
        return [LaneFigures(*row) for row in cursor.fetchall()]


def in_flight(most: int) -> QuerySet[Task]:
    """What runs, longest first; each with `has_live_worker`."""
    worker = Worker.objects.alive().filter(name=OuterRef("worker"))
    running = Task.objects.running().defer("payload", "result", "errors")
    return running.annotate(has_live_worker=Exists(worker)).order_by("started_at", "pk")[:most]


def in_flight_of(account: str) -> QuerySet[Task]:
    """What of the account's has not ended. One condition for each of the indexes of hot rows."""
    own = Task.objects.filter(account=account).defer("payload", "result", "errors")
    return own.filter(
        Q(lane=f"account:{account}", position__isnull=False)
        | Q(position__isnull=True, status__in=CLAIMABLE)
        | Q(status=TaskStatus.RUNNING)
        | Q(status=TaskStatus.WAITING)
    )


def workers() -> QuerySet[Worker]:
    """The living first; each with `is_alive` and with `tasks` in hand: their id, kind and subject."""
    held = Task.objects.running().filter(worker=OuterRef("name")).order_by("started_at", "pk")
    row = JSONObject(id="pk", kind="kind", subject="subject")
    alive = Worker.objects.alive().filter(pk=OuterRef("pk"))
    known = Worker.objects.annotate(is_alive=Exists(alive), tasks=ArraySubquery(held.values(row=row)))
    return known.order_by("-is_alive", "-last_seen_at", "pk")


def turns_taken() -> dict[str, int]:
    """How many turns are taken, of accounts and of hosts."""
    is_account = Q(lane__startswith="account:")
    taken = Turn.objects.filter(task_id__isnull=False)
    return taken.aggregate(account=Count("pk", filter=is_account), host=Count("pk", filter=~is_account))


def workers_by_release() -> Counter[tuple[str, str]]:
    """How many workers of each release are live, silent (their lease is over, nobody found out), or lost."""
    alive = set(Worker.objects.alive().values_list("pk", flat=True))
    return Counter(
        (release, "live" if pk in alive else "lost" if lost_at else "silent")
        for pk, release, lost_at in Worker.objects.values_list("pk", "release", "lost_at")
    )


def ended_lately() -> list[tuple[str, str, int]]:
    """(kind, status, how many) of what ended in the last minute, children left out."""
    with connection.cursor() as cursor:
        cursor.execute(sql.ENDED)
        return list(cursor.fetchall())


@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """What keeps vacuum from its work on the hot tables, and what it has left to do there."""

    oldest_snapshot: int  # transactions begun since
    longest_seconds: float  # of the transactions that are open
    tables: list[tuple[str, int, int]]  # name, dead rows, live rows; estimates


def database() -> DatabaseFigures:
    """Sessions of other roles are seen only with pg_read_all_stats."""
    with connection.cursor() as cursor:
        cursor.execute(sql.DATABASE)
        oldest, longest = cursor.fetchone()
        cursor.execute(sql.TABLES)
        return DatabaseFigures(int(oldest), max(0.0, float(longest)), cursor.fetchall())
