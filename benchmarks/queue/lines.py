"""The lines the queue is accepted by: ratios within a round, medians over the rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.queue import cases
from benchmarks.queue.cases import Case, Run
from benchmarks.queue.figures import median, ratio, rounded

Series = dict[int, float]  # a figure of one case, by round; rounds without it are left out


@dataclass(frozen=True, slots=True)
class Line:
    """A figure and its bound; `bound` None: it is only reported.

    `undisturbed` is the same from the best round of either side: on a shared machine noise only slows.
    """

    name: str
    value: float | None
    bound: float | None = None
    at_least: bool = True
    undisturbed: float | None = None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.bound is None:
            return "reported"
        is_met = self.value >= self.bound if self.at_least else self.value <= self.bound
        return "pass" if is_met else "fail"

    @property
    def limit(self) -> str:
        return "" if self.bound is None else f"{'>=' if self.at_least else '<='} {self.bound:g}"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": rounded(self.value),
            "undisturbed": rounded(self.undisturbed),
            "limit": self.limit,
            "verdict": self.verdict,
        }


def judge(runs: Sequence[Run]) -> list[Line]:
    """Every line of the parts that were run."""
    parts = dict.fromkeys(run.part for run in runs)
    return [line for part in parts for line in LINES[part]([run for run in runs if run.part == part])]


def _drain(runs: Sequence[Run]) -> Iterator[Line]:
    for workers in sorted({run.workers for run in runs}):
        here = [run for run in runs if run.workers == workers]
        of = f"drain, {workers} worker{'s' * (workers > 1)}"
        ours = _series(here, "tasks_per_s", cases.OURS)
        peer = _series(here, "tasks_per_s", cases.PROCRASTINATE)
        yield _rates(f"{of}: x procrastinate", ours, peer, 2.0)
        yield _rates(f"{of}: x pgbench pair", ours, _series(here, "pair_per_s", cases.OURS), 0.5)
        for figure, words, bound in (
            ("commits", "commits a task", 1.1),
            ("wal_bytes", "bytes of WAL a task", 1_500),
            ("worker_cpu_ms", "worker CPU ms a task", 1.2),
        ):
            value = median(_series(here, figure, cases.OURS).values())
            yield Line(f"{of}: {words}", value, bound, at_least=False)


def _short(runs: Sequence[Run]) -> Iterator[Line]:
    peer = _series(runs, "tasks_per_s", cases.PGQUEUER_BEST)
    for case, bound in ((cases.OURS_SHORT, 1.3), (cases.OURS_LANES, 0.8)):
        yield _rates(f"{case.name}: x pgqueuer, best", _series(runs, "tasks_per_s", case), peer, bound)


def _enqueue(runs: Sequence[Run]) -> Iterator[Line]:
    one, many = (_series(runs, figure, cases.OURS) for figure in ("one_per_s", "many_per_s"))
    peer = _series(runs, "one_per_s", cases.PROCRASTINATE)
    yield _rates("enqueue one at a time: x procrastinate", one, peer, 1.5)
    for case in (cases.AWA, cases.PGQUEUER):  # one of the two is the best peer, and not always the same
        yield _rates(f"enqueue in bulk: x {case.name}", many, _series(runs, "many_per_s", case), 1.5)


def _pickup(runs: Sequence[Run]) -> Iterator[Line]:
    for case in (cases.OURS, cases.PROCRASTINATE, cases.PGQUEUER_BEST):
        waits = _series(runs, "pickup_p95_ms", case).values()
        yield Line(
            f"pickup on an idle fleet, p95 ms: {case.name}",
            median(waits),
            15.0 if case.is_ours else None,
            at_least=False,
            undisturbed=min(waits, default=None),
        )


def _snapshot(runs: Sequence[Run]) -> Iterator[Line]:
    # Claims slow down as dead rows gather: the whole run may hide what its end shows.
    for case in cases.BESIDE_SNAPSHOT:
        of = f"{case.name}, a held snapshot, x none"
        free, held = (_series(runs, "tasks_per_s_last_quarter", case, which) for which in ("free", "held"))
        yield _times(f"{of}: time a task, last quarter", held, free, 1.5)
        free, held = (_series(runs, "server_cpu_ms", case, which) for which in ("free", "held"))
        yield _costs(f"{of}: server CPU a task, whole run", held, free, None)


def _depth(runs: Sequence[Run]) -> Iterator[Line]:
    name = "a deep backlog and history, x 10,000"
    shallow, deep = (_series(runs, "tasks_per_s", cases.OURS, which) for which in ("shallow", "deep"))
    yield _times(f"{name}: time a task", deep, shallow, 1.2)
    shallow, deep = (_series(runs, "server_cpu_ms", cases.OURS, which) for which in ("shallow", "deep"))
    yield _costs(f"{name}: server CPU a task", deep, shallow, 1.2)


def _accounts(runs: Sequence[Run]) -> Iterator[Line]:
    # Without accounts a shorter statement claims: what that spares is told, not judged.
    for few, words, bound in ((cases.OURS_ONE_ACCOUNT, "one account", 1.5), (cases.OURS, "no account", None)):
        name = f"10,000 accounts waiting, x {words}"
        many, one = (_series(runs, "tasks_per_s", case) for case in (cases.OURS_MANY_ACCOUNTS, few))
        yield _times(f"{name}: time a task", many, one, bound)
        many, one = (_series(runs, "server_cpu_ms", case) for case in (cases.OURS_MANY_ACCOUNTS, few))
        yield _costs(f"{name}: server CPU a task", many, one, bound)


def _memory(runs: Sequence[Run]) -> Iterator[Line]:
    for figure, words in (("pss_mib", "PSS MiB"), ("connections", "connections")):
        yield Line(f"an idle worker: {words}", median(_series(runs, figure, cases.OURS).values()))


LINES: dict[str, Callable[[Sequence[Run]], Iterator[Line]]] = {
    "drain": _drain,
    "short": _short,
    "enqueue": _enqueue,
    "pickup": _pickup,
    "snapshot": _snapshot,
    "depth": _depth,
    "accounts": _accounts,
    "memory": _memory,
}


def _series(runs: Iterable[Run], figure: str, case: Case, variant: str = "") -> Series:
    mine = (run for run in runs if run.case == case.name and run.variant == variant)
    found = ((run.round, run.figures.get(figure)) for run in mine)
    return {number: value for number, value in found if value is not None}


def _within_rounds(over: Series, under: Series) -> float | None:
    return median(ratio(over[number], under[number]) for number in over.keys() & under.keys())


def _rates(name: str, ours: Series, other: Series, bound: float) -> Line:
    """How many times as many a second."""
    best = ratio(max(ours.values(), default=None), max(other.values(), default=None))
    return Line(name, _within_rounds(ours, other), bound, undisturbed=best)


def _times(name: str, slow: Series, fast: Series, bound: float | None) -> Line:
    """How many times as long one task takes, of two series of rates."""
    best = ratio(max(fast.values(), default=None), max(slow.values(), default=None))
    return Line(name, _within_rounds(fast, slow), bound, at_least=False, undisturbed=best)


def _costs(name: str, dear: Series, cheap: Series, bound: float | None) -> Line:
    """How many times as much one task costs."""
    best = ratio(min(dear.values(), default=None), min(cheap.values(), default=None))
    return Line(name, _within_rounds(dear, cheap), bound, at_least=False, undisturbed=best)
