"""One run each: a backlog drained, tasks produced, single tasks picked up, a fleet idle."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks import BenchmarkFailed
from benchmarks.queue import recorder
from benchmarks.queue.adapters import UNFINISHED
from benchmarks.queue.cases import Case
from benchmarks.queue.cluster import Counters
from benchmarks.queue.figures import per_task, percentile, rate, ratio
from benchmarks.queue.processes import Fleet, pressure
from benchmarks.queue.workshop import Workshop

Figures = dict[str, float | None]

LOOK_SECONDS = 0.1
START_SECONDS = 30.0  # until the first task runs
FINISH_SECONDS = 5.0  # until the last completion is in the database
ARRIVAL_SECONDS = 10.0  # until a single task is picked up
SETTLE_SECONDS = 2.0
IDLE_SECONDS = 5.0
IDLE_TASKS = 50  # run before a fleet is looked at idle: everything it uses has been used once
# Costs are taken between these shares of what was executed: neither start nor end of the workers counts.
FROM, TO = 0.10, 0.95
LAST_QUARTER = (0.75, 0.98)
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    executed: int
    worker_cpu: float | None
    server: Counters


def drain(
    workshop: Workshop, case: Case, database: str, *, backlog: int, workers: int, seconds: float
) -> Figures:
    """Workers on a database with `backlog` tasks, until all are finished or `seconds` have passed.

    Tasks a second by the time line of the executions; what one task cost, without the workers' start. The
    database is left as it is then.
    """
    cluster = workshop.cluster
    cluster.settle()
    commits, noise, all_finished_at = cluster.commits(database), pressure(), None
    with (
        workshop.folder() as name,
        workshop.fleet(case, database, workers=workers, record=(record := Path(name))) as fleet,
    ):
        samples = list(_watch(workshop, fleet, record, until=backlog, seconds=seconds))
        if samples[-1].executed >= backlog:
            all_finished_at = _when_finished(workshop, case, database)
        fleet.stop()
        events = recorder.read(record)
        if not events:
            raise BenchmarkFailed(f"{case.name} ran nothing: {fleet.last_words()}")
    times = [event.at for event in events]
    wall = (all_finished_at - times[0]) / 1e9 if all_finished_at else None
    return {
        "tasks_per_s": rate(times),
        "tasks_per_s_until_finished": ratio(len(events), wall),
        "tasks_per_s_last_quarter": rate(times, low=LAST_QUARTER[0], high=LAST_QUARTER[1]),
        "executed": len(events),
        "executed_twice": len(events) - len({event.number for event in events}),
        "commits": per_task(commits, cluster.commits(database), len(events)),
        **_costs(samples),
        "pressure": noise,
    }


def produce(workshop: Workshop, case: Case, database: str, *, seconds: float) -> Figures:
    """Tasks a second that one client queues, one a commit and in bulk."""
    workshop.cluster.settle()
    noise = pressure()
    figures: Figures = workshop.step("produce", case, database, seconds=seconds)
    return {**figures, "pressure": noise}


def pick_up(workshop: Workshop, case: Case, database: str, *, workers: int, count: int) -> Figures:
    """Milliseconds from the return of the enqueueing call to the start of the task, on an idle fleet."""
    workshop.cluster.settle()
    noise = pressure()
    with (
        workshop.folder() as name,
        workshop.fleet(case, database, workers=workers, record=(record := Path(name))) as fleet,
    ):
        workshop.step("fill", case, database, count=workers)
        _wait_for(fleet, record, workers, START_SECONDS)
        time.sleep(SETTLE_SECONDS)
        before = recorder.count(record)
        returned: list[int] = workshop.step("trickle", case, database, count=count)
        _wait_for(fleet, record, before + count, ARRIVAL_SECONDS)
        started = {event.number: event.at for event in recorder.read(record)[before:]}
    waits = [(started[number] - at) / 1e6 for number, at in enumerate(returned) if number in started]
    return {
        "pickup_p50_ms": percentile(waits, 0.50),
        "pickup_p95_ms": percentile(waits, 0.95),
        "pickup_max_ms": max(waits, default=None),
        "pickups": len(waits),
        "pressure": noise,
    }


def idle(workshop: Workshop, case: Case, database: str, *, workers: int) -> Figures:
    """What one worker holds and spends while there is nothing to do; a supervisor's share included."""
    with (
        workshop.folder() as name,
        workshop.fleet(case, database, workers=workers, record=(record := Path(name))) as fleet,
    ):
        workshop.step("fill", case, database, count=IDLE_TASKS)
        _wait_for(fleet, record, IDLE_TASKS, START_SECONDS)
        time.sleep(SETTLE_SECONDS)
        before = fleet.cpu_seconds()
        time.sleep(IDLE_SECONDS)
        after, memory = fleet.cpu_seconds(), fleet.pss_bytes()
        connections = workshop.cluster.connections(database)
    return {
        "pss_mib": ratio(memory, workers * MEBIBYTE),
        "connections": connections / workers,
        "idle_cpu_percent": None
        if before is None or after is None
        else 100 * (after - before) / IDLE_SECONDS / workers,
    }


def _watch(workshop: Workshop, fleet: Fleet, record: Path, *, until: int, seconds: float) -> Iterator[Sample]:
    """A sample every LOOK_SECONDS, until so many tasks ran or `seconds` have passed since the first."""
    deadline = time.monotonic() + START_SECONDS
    has_begun = False
    while True:
        executed = recorder.count(record)
        yield Sample(executed, fleet.cpu_seconds(), workshop.cluster.counters())
        if executed and not has_begun:
            has_begun, deadline = True, time.monotonic() + seconds
        if executed >= until or time.monotonic() > deadline or not fleet.is_whole():
            return
        time.sleep(LOOK_SECONDS)


def _costs(samples: list[Sample]) -> Figures:
    """Per task, between the samples that lie just inside the shares FROM and TO of what was executed."""
    total = samples[-1].executed
    inner = [sample for sample in samples if FROM * total <= sample.executed <= TO * total]
    if not inner:
        return {}
    first, last = inner[0], inner[-1]
    tasks = last.executed - first.executed
    worker_cpu = per_task(first.worker_cpu, last.worker_cpu, tasks)
    server_cpu = per_task(first.server.cpu_seconds, last.server.cpu_seconds, tasks)
    return {
        "wal_bytes": per_task(first.server.wal_bytes, last.server.wal_bytes, tasks),
        "worker_cpu_ms": None if worker_cpu is None else 1000 * worker_cpu,
        "server_cpu_ms": None if server_cpu is None else 1000 * server_cpu,
    }


def _when_finished(workshop: Workshop, case: Case, database: str) -> int | None:
    """CLOCK_MONOTONIC when the database showed that nothing is left; None if it did not in time."""
    deadline = time.monotonic() + FINISH_SECONDS
    with workshop.cluster.connect(database) as connection:
        while time.monotonic() < deadline:
            if _one(connection, UNFINISHED[case.system]) == 0:
                return time.monotonic_ns()
            time.sleep(LOOK_SECONDS / 2)
    return None


def _one(connection: psycopg.Connection[tuple[int]], question: str) -> int:
    row = connection.execute(question).fetchone()
    return row[0] if row else 0


def _wait_for(fleet: Fleet, record: Path, wanted: int, seconds: float) -> None:
    """So many tasks ran, or the time is over: what is missing is missing from the figures."""
    deadline = time.monotonic() + seconds
    while recorder.count(record) < wanted and time.monotonic() < deadline:
        if not fleet.is_whole():
            raise BenchmarkFailed(f"a worker ended: {fleet.last_words()}")
        time.sleep(LOOK_SECONDS / 5)
    if not recorder.count(record):
        raise BenchmarkFailed(f"nothing ran: {fleet.last_words()}")
