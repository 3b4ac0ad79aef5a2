"""What was measured, for a person: medians of each case, then the lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.queue.cases import Run
from benchmarks.queue.figures import median, ratio, rounded
from benchmarks.queue.lines import Line

Group = tuple[str, str, str, int]  # part, case, variant, workers

# Heading and figure. A part's table has those columns of which something was measured.
COLUMNS = {
    "tasks/s": "tasks_per_s",
    "until finished/s": "tasks_per_s_until_finished",
    "last quarter/s": "tasks_per_s_last_quarter",
    "pair/s": "pair_per_s",
    "x pair": "x_pair",
    "commits": "commits",
    "WAL B": "wal_bytes",
    "worker ms": "worker_cpu_ms",
    "server ms": "server_cpu_ms",
    "one by one/s": "one_per_s",
    "bulk/s": "many_per_s",
    "p50 ms": "pickup_p50_ms",
    "p95 ms": "pickup_p95_ms",
    "max ms": "pickup_max_ms",
    "PSS MiB": "pss_mib",
    "connections": "connections",
    "idle CPU %": "idle_cpu_percent",
}


def medians(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The median of every figure of every case over the rounds."""
    groups: dict[Group, list[Run]] = {}
    for run in runs:
        groups.setdefault((run.part, run.case, run.variant, run.workers), []).append(run)
    return [
        {
            "part": part,
            "case": case,
            "variant": variant,
            "workers": workers,
            "rounds": sum(not run.error for run in members),
            "figures": _figures(members),
        }
        for (part, case, variant, workers), members in groups.items()
    ]


def table(runs: Sequence[Run], lines: Sequence[Line]) -> str:
    """One table a part, one of the lines, and what failed."""
    found = medians(runs)
    parts = dict.fromkeys(row["part"] for row in found)
    blocks = [_part(part, [row for row in found if row["part"] == part]) for part in parts]
    heads = ["verdict", "value", "undisturbed", "limit", "line"]
    judged = [
        [line.verdict, shown(line.value), shown(line.undisturbed), line.limit, line.name] for line in lines
    ]
    blocks.append(_aligned([heads, *judged], left={0, 4}))
    failures = [f"{run.part}, {run.case}: {run.error}" for run in runs if run.error]
    return "\n\n".join([*blocks, *failures])


def shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{rounded(value):g}"


def _part(part: str, rows: Sequence[dict[str, Any]]) -> str:
    columns = {
        heading: figure
        for heading, figure in COLUMNS.items()
        if any(row["figures"].get(figure) is not None for row in rows)
    }
    cells = [[part, "workers", *columns]]
    for row in rows:
        name = ", ".join(filter(None, [row["case"], row["variant"]]))
        figures = [shown(row["figures"].get(figure)) for figure in columns.values()]
        cells.append([name, str(row["workers"]), *figures])
    return _aligned(cells)


def _figures(runs: Sequence[Run]) -> dict[str, float | None]:
    names = dict.fromkeys(name for run in runs for name in run.figures)
    found = {name: rounded(median(run.figures.get(name) for run in runs)) for name in names}
    pairs = [ratio(run.figures.get("tasks_per_s"), run.figures.get("pair_per_s")) for run in runs]
    if (value := median(pairs)) is not None:
        found["x_pair"] = rounded(value)
    return found


def _aligned(rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
