"""The queue for Prometheus: figures of the whole fleet, read from the database and not from this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from taskqueue.models import HostBudget
from taskqueue.services import watching

KEEP_SECONDS = 10.0  # several scrapers, or one that asks too often, cost the database one reading
READ_SECONDS = 2.0  # a statement may take

STATES = ("in_line", "not_due", "awaiting_batch", "waiting", "running")

Rows = Iterable[tuple[tuple[str, ...], float]]


class Scrape:
    """The text that /metrics answers with, read at most every `KEEP_SECONDS`.

    Each process of the web server keeps its own; all of them say the same, a few seconds apart.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Queue())
        self._lock = threading.Lock()
        self._text = b""
        self._until = 0.0

    def text(self) -> bytes:
        """Raises django.db.Error when the database is away or takes too long: nothing old is told as new."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._text = generate_latest(self._registry)
                self._until = time.monotonic() + KEEP_SECONDS
            return self._text

    def forget(self) -> None:
        """The next answer is read afresh."""
        self._until = 0.0


class _Queue(Collector):
    def collect(self) -> Iterator[Metric]:
        with watching.limited(READ_SECONDS):
            yield from [*_release(), *_tasks(), *_fleet(), *_hosts(), *_reaper(), *_database()]


def _release() -> Iterator[Metric]:
    info = {"release": settings.RELEASE, "image_digest": settings.IMAGE_DIGEST}
    yield InfoMetricFamily("rolecall", "What the process that answers runs.", value=info)
    yield _gauge("read_timestamp_seconds", "When the figures were read.", rows=[((), time.time())])


def _tasks() -> Iterator[Metric]:
    now = timezone.now()
    kinds = watching.kinds()
    yield _gauge(
        "tasks",
        "Unfinished tasks: in_line may start; not_due, awaiting_batch and waiting (for children) may not.",
        ["kind", "state"],
        (((kind.kind, state), kind.counts[state]) for kind in kinds for state in STATES),
    )
    yield _gauge(
        "oldest_in_line_seconds",
        "For how long the oldest task in line has been due; 0 when none is in line.",
        ["kind"],
        (
            ((kind.kind,), max(0.0, (now - kind.oldest_at).total_seconds()) if kind.oldest_at else 0.0)
            for kind in kinds
        ),
    )
    yield _gauge(
        "orphans",
        "Tasks in line whose kind no live worker runs.",
        ["kind"],
        (((kind.kind,), 0 if kind.has_worker else kind.counts["in_line"]) for kind in kinds),
    )
    yield _gauge(
        "failed_last_hour",
        "Tasks that failed for good in the last hour.",
        ["kind"],
        (((kind.kind,), kind.counts["failed"]) for kind in kinds),
    )
    yield _gauge(
        "ended_last_minute",
        "Tasks that ended in the last minute, children of other tasks left out.",
        ["kind", "status"],
        (((kind, status), count) for kind, status, count in watching.ended_lately()),
    )


def _fleet() -> Iterator[Metric]:
    yield _gauge(
        "workers",
        "Workers: live; silent, whose lease is over; lost, whose tasks were taken back (kept for a day).",
        ["release", "state"],
        watching.workers_by_release().items(),
    )
    yield _gauge(
        "turns_taken",
        "Turns of accounts and of hosts that are taken.",
        ["of"],
        (((of,), count) for of, count in watching.turns_taken().items()),
    )


def _hosts() -> Iterator[Metric]:
    closed = HostBudget.objects.closed().count()
    yield _gauge("hosts_closed", "Hosts that take no request from here now.", rows=[((), closed)])
    sums = HostBudget.objects.aggregate(eased=Sum("accepted", default=0), refused=Sum("refused", default=0))
    for name, words in (
        ("eased", "Answers that eased a host's pace."),
        ("refused", "Answers that told us to slow down."),
    ):
        yield CounterMetricFamily(f"rolecall_queue_host_{name}", words, value=sums[name])


def _reaper() -> Iterator[Metric]:
    counts = watching.reaped_lately()
    yield _gauge(
        "reaped_last_hour",
        "Attempts of lost workers that are tried again, in the last hour.",
        rows=[((), counts["reaped"])],
    )
    yield _gauge(
        "lost_last_hour",
        "Tasks that failed with a lost worker, in the last hour.",
        rows=[((), counts["lost"])],
    )


def _database() -> Iterator[Metric]:
    figures = watching.database()
    yield _gauge(
        "oldest_snapshot_transactions",
        "Transactions begun since the oldest snapshot that a session holds: vacuum removes nothing newer.",
        rows=[((), figures.oldest_snapshot)],
    )
    yield _gauge(
        "longest_transaction_seconds", "Age of the oldest transaction.", rows=[((), figures.longest_seconds)]
    )
    yield _gauge(
        "table_rows",
        "Rows of the hot tables, estimated.",
        ["table", "state"],
        (
            ((table, state), count)
            for table, dead, live in figures.tables
            for state, count in (("dead", dead), ("live", live))
        ),
    )


def _gauge(name: str, words: str, labels: Iterable[str] = (), rows: Rows = ()) -> Metric:
    family = GaugeMetricFamily(f"rolecall_queue_{name}", words, labels=list(labels))
    for values, value in rows:
        family.add_metric(list(values), value)
    return family
