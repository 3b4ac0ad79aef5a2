"""The benchmark, from an empty folder to the verdicts. It ends by itself and leaves nothing behind."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import itertools
import os
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import BenchmarkFailed, Options, Report
from benchmarks.queue import cases, limit, report
from benchmarks.queue.cases import Plan, Run
from benchmarks.queue.cluster import Cluster
from benchmarks.queue.lines import judge
from benchmarks.queue.parts import PARTS
from benchmarks.queue.venv import peers_python, versions
from benchmarks.queue.workshop import Workshop
from config.embedded import EmbeddedFailed
from config.env import VAR_DIR

FOLDER = VAR_DIR / "benchmarks"
# What the progress says of a run: figure and words.
HEADLINES = {
    "tasks_per_s": "tasks/s",
    "pair_per_s": "pgbench pair/s",
    "one_per_s": "one by one/s",
    "many_per_s": "bulk/s",
    "pickup_p95_ms": "p95 ms",
    "pss_mib": "PSS MiB",
}


def measure(options: Options) -> Report:
    """Ours, the peers and pgbench's limit, in interleaved rounds on one server. Raises BenchmarkFailed."""
    parts = _chosen(options.only)
    plan = _plan(options)
    with _alone(FOLDER):
        peers = peers_python(FOLDER / "venv", options.say)
        options.say("starting a PostgreSQL of its own …")
        try:
            with Cluster(FOLDER / "pg").running() as cluster:
                begun = datetime.now(UTC)
                runs = list(_rounds(Workshop(cluster, peers, options.say), plan, parts, options))
                settings = cluster.settings()
        except EmbeddedFailed as failed:
            raise BenchmarkFailed(str(failed)) from failed
    lines = judge(runs)
    figures: dict[str, Any] = {
        "begun_at": begun.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - begun).total_seconds()),
        "machine": f"{os.cpu_count()} processors, {platform.platform()}, Python {platform.python_version()}",
        "postgresql": settings,
        "peers": versions(peers),
        "plan": dataclasses.asdict(plan),
        "lines": [line.as_json() for line in lines],
        "medians": report.medians(runs),
        "runs": [run.as_json() for run in runs],
    }
    return Report(figures=figures, table=report.table(runs, lines))


def _rounds(workshop: Workshop, plan: Plan, parts: list[str], options: Options) -> Iterator[Run]:
    """Every part in every round. The first round is whole; later, no part begins when the time is over."""
    workshop.cluster.create(limit.DATABASE)
    deadline = time.monotonic() + plan.budget_seconds
    for number, part in itertools.product(range(plan.rounds), parts):
        if number and time.monotonic() > deadline:
            options.say(f"the time is over in round {number + 1} of {plan.rounds}, before {part}")
            return
        for run in PARTS[part](workshop, plan, number):
            options.say(_progress(run, plan))
            yield run


def _progress(run: Run, plan: Plan) -> str:
    measured = {words: run.figures[name] for name, words in HEADLINES.items() if name in run.figures}
    figures = ", ".join(f"{words} {report.shown(value)}" for words, value in measured.items())
    said = run.error.partition("\n")[0] or figures
    name = ", ".join(filter(None, [run.case, run.variant, f"{run.workers} w" if run.workers > 1 else ""]))
    return f"[{run.round + 1}/{plan.rounds}] {run.part}: {name}: {said}"


def _chosen(only: tuple[str, ...]) -> list[str]:
    if unknown := set(only) - set(PARTS):
        raise BenchmarkFailed(
            f"no part {', '.join(sorted(unknown))} in the queue's benchmark; there are {', '.join(PARTS)}"
        )
    return [part for part in PARTS if part in only or not only]


def _plan(options: Options) -> Plan:
    plan = cases.QUICK if options.quick else cases.FULL
    return dataclasses.replace(plan, rounds=options.rounds) if options.rounds else plan


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two at once would measure each other. The kernel frees the lock when this process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BenchmarkFailed("another benchmark of this checkout is running") from None
        yield
