"""Benchmarks: each measures a part of Rolecall beside its peers or its physical limit, in one run.

`manage.py benchmark` finds them here by name, as dotted paths: peers import this package with an
interpreter of their own, where neither Django nor Rolecall's dependencies are installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

BENCHMARKS: dict[str, str] = {
    "queue": "benchmarks.queue.suite.measure",
    "ingest": "benchmarks.ingest.suite.measure",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure and how long. `only` names parts, none of them means all."""

    say: Callable[[str], object]
    quick: bool = False
    only: tuple[str, ...] = ()
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured: `figures` can be written as JSON, `table` is for a person."""

    figures: Mapping[str, Any]
    table: str


Benchmark = Callable[[Options], Report]


class BenchmarkFailed(Exception):
    """Nothing could be measured; the text says why and what to do."""
