"""The parts of the ingest benchmark, their ratios to the limit, and the lines they have to reach."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from statistics import median
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from benchmarks import BenchmarkFailed, Options, Report
from benchmarks.ingest import limit
from benchmarks.ingest.listings import listings
from catalog.models import Pull, Source
from catalog.services.facts import derive_facts
from catalog.services.listings import Recorded, record_listings
from catalog.services.spool import Spool
from taskqueue.handlers import Claim, clock
from taskqueue.loadtest import LoadTestFailed, database
from taskqueue.models import Worker
from taskqueue.services import enqueue
from taskqueue.services.claiming import claim_next

LEASE = timedelta(hours=1)
LINES = {"again": 0.50, "first": 0.30}  # of the limit's speed, at the least
GROWTH = 300.0  # bytes of memory a listing, at the most: its key is remembered, nothing else


def measure(options: Options) -> Report:
    count = 10_000 if options.quick else 100_000
    rounds = options.rounds or (1 if options.quick else 3)
    try:
        with database.throw_away(workers=1, is_kept=False, say=options.say, fill=_migrate) as name:
            _warm_up()
            results = [_round(count, number, options.say) for number in range(rounds)]
            growth = _growth(count, name, options.say)
    except LoadTestFailed as failed:
        raise BenchmarkFailed(str(failed)) from failed
    figures = {key: median(result[key] for result in results) for key in results[0]}
    figures |= {"listings": count, "rounds": rounds, "bytes_per_listing": growth}
    return Report(figures, _table(figures))


def _migrate() -> None:
    call_command("migrate", verbosity=0, interactive=False)


def _warm_up() -> None:
    """A worker reads its gazetteer once in its life, before the first place that it meets."""
    record(_source("warm-up"), 100)


def _source(name: str) -> Source:
    return Source.objects.create(
        name=name, kind="greenhouse", token=name, url="https://example.com/", host="x"
    )


def _round(count: int, number: int, say: Callable[[str], object]) -> Mapping[str, float]:
    """First ingest, re-pull and limit one after the other, on the same server, with the same listings."""
    board = f"board-{number}"
    say(f"round {number + 1}: {count:,} listings")
    limit.prepare(listings(count, board=board))
    limit_before = limit.seconds(listings(count, board=board))
    source = _source(board)
    first, recorded = record(source, count)
    if recorded.new != count:
        raise BenchmarkFailed(f"{recorded.new:,} of {count:,} listings were recorded")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalog_listing")
    written = _written()
    again, recorded = record(source, count)
    if recorded.new or recorded.changed or _written() != written:
        raise BenchmarkFailed(f"an unchanged board was written again: {recorded}")
    limit_after = limit.seconds(listings(count, board=board))
    started = time.perf_counter()
    facts = derive_facts(_claim())
    facts_seconds = time.perf_counter() - started
    least = (limit_before + limit_after) / 2
    return {
        "limit_seconds": least,
        "first_seconds": first,
        "again_seconds": again,
        "first": least / first,
        "again": least / again,
        "facts_per_second": facts / facts_seconds if facts_seconds else 0.0,
    }


def record(source: Source, count: int) -> tuple[float, Recorded]:
    """Seconds from the first listing to the last commit, and what was recorded."""
    claim = _claim()
    pull = Pull.objects.create(source=source)
    started = time.perf_counter()
    with Spool() as spool:
        spool.add(listings(count, board=source.token))
        recorded = record_listings(
            claim=claim, source_id=source.pk, pull_id=pull.pk, spool=spool, complete=True
        )
    return time.perf_counter() - started, recorded


def _claim() -> Claim:
    """A claim on a task that only this process can take."""
    name = "ingest-benchmark"
    Worker.objects.get_or_create(name=name, defaults={"lease_expires_at": timezone.now() + LEASE})
    enqueue("benchmark.ingest", payload={})
    task = claim_next(worker=name, kinds={"benchmark.ingest": 5})
    if task is None:
        raise BenchmarkFailed("the queue handed out no task")
    return Claim(task, proven_until=clock() + LEASE.total_seconds())


def _written() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(xmin::text::bigint) FROM catalog_listing")
        [listing] = cursor.fetchone()
        cursor.execute("SELECT max(xmin::text::bigint) FROM catalog_posting")
        [posting] = cursor.fetchone()
    return listing, posting


def _growth(count: int, name: str, say: Callable[[str], object]) -> float:
    """Bytes that each further listing of a re-pulled board costs the process."""
    say("memory of a re-pull, a tenth of the board and all of it")
    peaks = [_peak(name, size) for size in (count // 10, count)]
    return (peaks[1] - peaks[0]) / (count - count // 10)


def _peak(name: str, size: int) -> int:
    command = [sys.executable, "-m", "benchmarks.ingest.memory", name, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603
    if done.returncode:
        raise BenchmarkFailed(f"the memory could not be measured: {done.stderr[-500:]}")
    return int(done.stdout)


def peak_bytes() -> int:
    """The most memory that this process held at once."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _table(figures: Mapping[str, Any]) -> str:
    rows = [
        ("re-pull, nothing changed", figures["again"], LINES["again"], figures["again_seconds"]),
        ("first ingest", figures["first"], LINES["first"], figures["first_seconds"]),
    ]
    lines = [
        f"ingest: {figures['listings']:,} listings, limit {figures['limit_seconds']:.2f} s (COPY + compare)"
    ]
    for label, ratio, least, taken in rows:
        verdict = "holds" if ratio >= least else "MISSED"
        lines.append(
            f"  {label:26} {ratio:5.2f} of the limit's speed, {least:.2f} wanted: {verdict} ({taken:.2f} s)"
        )
    flat = "holds" if figures["bytes_per_listing"] <= GROWTH else "MISSED"
    lines.append(
        f"  memory {figures['bytes_per_listing']:.0f} bytes a further listing, {GROWTH:.0f} allowed: {flat}"
    )
    lines.append(f"  facts read afterwards: {figures['facts_per_second']:.0f} postings a second")
    return "\n".join(lines)
