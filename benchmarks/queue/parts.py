"""The parts of the benchmark: which runs each makes in one round.

Systems take turns within a round and each round begins with another one. What is compared is compared
within a round, where the machine was the same for all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from benchmarks import BenchmarkFailed
from benchmarks.queue import cases, limit, runs
from benchmarks.queue.cases import Case, Plan, Run
from benchmarks.queue.runs import Figures
from benchmarks.queue.workshop import Workshop

Part = Callable[[Workshop, Plan, int], Iterator[Run]]
T = TypeVar("T")

SHALLOW = 10_000
PICKUP_WORKERS = 2
IDLE_WORKERS = 4
HISTORY = 2_000  # tasks that real workers finish, before copies of them make a long history


def drain(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """One task at a time per worker, all features on; around each run what pgbench reaches just then."""
    chosen = [cases.OURS, cases.PROCRASTINATE]
    others = [cases.PGQUEUER, cases.DJANGO_TASKS, cases.DJANGO_TASKS_BEST, cases.AWA]
    for workers in plan.fleets:
        more = others if plan.has_others(number) and workers == 1 else []
        for case in _turned([*chosen, *more], number):
            measure = partial(_beside_pair, workshop, plan, case, workers=workers)
            yield _run("drain", number, case, measure, workers=workers)


def short(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """Kinds declared short, beside the peers that work in batches, in their best configurations."""
    chosen = [cases.PGQUEUER_BEST, cases.OURS_SHORT, cases.OURS_LANES]
    if plan.has_others(number):
        yield _run("short", number, cases.LIMIT_BATCH, partial(_batch_limit, workshop, plan))
        chosen += [cases.AWA_BEST, cases.PROCRASTINATE_BEST]
    for case in _turned(chosen, number):
        backlog = plan.backlog if case is cases.PROCRASTINATE_BEST else plan.long_backlog
        yield _run("short", number, case, partial(_drain, workshop, plan, case, backlog=backlog))


def enqueue(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """One client queues, one task a commit and in calls of 1,000."""
    chosen = [cases.OURS, cases.PROCRASTINATE, cases.AWA, cases.PGQUEUER]
    if plan.has_others(number):
        chosen.append(cases.DJANGO_TASKS)
    for case in _turned(chosen, number):
        measure = partial(_on_empty, workshop, case, runs.produce, seconds=plan.produce_seconds)
        yield _run("enqueue", number, case, measure)


def pickup(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """Single tasks, queued while two workers are idle."""
    for case in _turned([cases.OURS, cases.PROCRASTINATE, cases.PGQUEUER_BEST], number):
        measure = partial(_on_empty, workshop, case, runs.pick_up, workers=PICKUP_WORKERS, count=plan.pickups)
        yield _run("pickup", number, case, measure, workers=PICKUP_WORKERS)


def snapshot(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """The same backlog with and without a snapshot that is held open from before the first claim."""
    pairs = [(case, variant) for case in cases.BESIDE_SNAPSHOT for variant in ("free", "held")]
    for case, variant in _turned(pairs, number):
        measure = partial(_beside_snapshot, workshop, plan, case, is_held=variant == "held")
        yield _run("snapshot", number, case, measure, variant=variant)


def depth(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """A backlog of 10,000 beside a deep one with as many finished tasks, of which a run takes a few."""
    shallow = partial(_drain, workshop, plan, cases.OURS, backlog=SHALLOW)
    deep = partial(_drain_deep, workshop, plan)
    for variant, measure in _turned([("shallow", shallow), ("deep", deep)], number):
        yield _run("depth", number, cases.OURS, measure, variant=variant)


def accounts(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """10,000 tasks of nobody, of one account, and one each of 10,000 accounts."""
    for case in _turned([cases.OURS_ONE_ACCOUNT, cases.OURS_MANY_ACCOUNTS, cases.OURS], number):
        yield _run("accounts", number, case, partial(_drain, workshop, plan, case, backlog=SHALLOW))


def memory(workshop: Workshop, plan: Plan, number: int) -> Iterator[Run]:
    """An idle fleet of four workers; in one round, as it hardly varies."""
    chosen = [cases.OURS]
    if plan.has_others(number):
        chosen += [cases.PROCRASTINATE, cases.PGQUEUER_BEST, cases.DJANGO_TASKS_BEST, cases.AWA_BEST]
    for case in chosen if number == 0 else ():
        measure = partial(_on_empty, workshop, case, runs.idle, workers=IDLE_WORKERS)
        yield _run("memory", number, case, measure, workers=IDLE_WORKERS)


PARTS: dict[str, Part] = {
    part.__name__: part for part in (drain, short, enqueue, pickup, snapshot, depth, accounts, memory)
}


def _run(
    part: str,
    number: int,
    case: Case,
    measure: Callable[[], Figures],
    *,
    variant: str = "",
    workers: int = 1,
) -> Run:
    """What was measured, or why nothing was: one system that fails does not end the others' runs."""
    try:
        return Run(part, number, case.name, variant, workers, measure())
    except BenchmarkFailed as failed:
        return Run(part, number, case.name, variant, workers, error=str(failed))


def _on_empty(workshop: Workshop, case: Case, measure: Callable[..., Figures], **options: float) -> Figures:
    """A database with the system's tables alone."""
    with workshop.cluster.copy(workshop.installed(case)) as database:
        return measure(workshop, case, database, **options)


def _drain(workshop: Workshop, plan: Plan, case: Case, *, backlog: int, workers: int = 1) -> Figures:
    """A copy of the system's backlog, drained."""
    seconds = plan.drain_seconds
    with workshop.cluster.copy(workshop.filled(case, backlog)) as database:
        return runs.drain(workshop, case, database, backlog=backlog, workers=workers, seconds=seconds)


def _beside_pair(workshop: Workshop, plan: Plan, case: Case, *, workers: int) -> Figures:
    """With what pgbench reached just before and just after, on average."""
    workshop.filled(case, plan.backlog)  # now, so that nothing lies between the measurements
    pair = partial(
        limit.tasks_per_second, workshop.cluster, "pair", clients=workers, seconds=plan.pair_seconds
    )
    before = pair()
    figures = _drain(workshop, plan, case, backlog=plan.backlog, workers=workers)
    return {**figures, "pair_per_s": (before + pair()) / 2}


def _batch_limit(workshop: Workshop, plan: Plan) -> Figures:
    rate = limit.tasks_per_second(workshop.cluster, "batch", clients=1, seconds=plan.pair_seconds)
    return {"tasks_per_s": rate}


def _beside_snapshot(workshop: Workshop, plan: Plan, case: Case, *, is_held: bool) -> Figures:
    backlog, seconds = plan.snapshot_backlog, plan.snapshot_seconds
    template = workshop.filled(case, backlog)
    with workshop.cluster.copy(template) as database, contextlib.ExitStack() as stack:
        if is_held:
            stack.enter_context(workshop.cluster.held_snapshot(database))
        return runs.drain(workshop, case, database, backlog=backlog, workers=1, seconds=seconds)


def _drain_deep(workshop: Workshop, plan: Plan) -> Figures:
    """A few of `plan.deep` tasks pending, beside as many finished; no run copies or empties the database."""

    def make(name: str) -> None:
        workshop.say(f"making a database of {plan.deep:,} pending and {plan.deep:,} finished tasks")
        runs.drain(workshop, cases.OURS, name, backlog=HISTORY, workers=1, seconds=60)
        workshop.hastily("copy_finished", cases.OURS, name, count=plan.deep)
        workshop.hastily("fill", cases.OURS, name, count=plan.deep)
        workshop.cluster.tidy(name)

    template, seconds = workshop.filled(cases.OURS, HISTORY), plan.drain_seconds
    database = workshop.made(f"deep-{plan.deep}", make, template=template)
    return runs.drain(workshop, cases.OURS, database, backlog=plan.deep, workers=1, seconds=seconds)


def _turned(items: Sequence[T], number: int) -> list[T]:
    """Each round begins with another one."""
    start = number % len(items)
    return [*items[start:], *items[:start]]
