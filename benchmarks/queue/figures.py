"""Arithmetic on measurements. Pure: no clock, no database."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

FEWEST_EVENTS = 20  # a rate over fewer says nothing


def rate(times: Sequence[int], *, low: float = 0.10, high: float = 0.95) -> float | None:
    """Events per second between the shares `low` and `high` of the ordered `times` (nanoseconds).

    The ends are left out: at first workers still start, at last some have nothing left. None when too few
    events lie between.
    """
    first, last = int(len(times) * low), int(len(times) * high) - 1
    if last - first < FEWEST_EVENTS or times[last] <= times[first]:
        return None
    return (last - first) / ((times[last] - times[first]) / 1e9)


def percentile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least `share` (0 to 1) of the values do not exceed; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Iterable[float | None]) -> float | None:
    """The median of what was measured; None when nothing was."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratio(over: float | None, under: float | None) -> float | None:
    """None where either side was not measured or the lower one is nothing."""
    return over / under if over is not None and under else None


def per_task(before: float | None, after: float | None, tasks: int) -> float | None:
    """What one task cost, of a counter that was `before` and became `after`."""
    if before is None or after is None or tasks < FEWEST_EVENTS:
        return None
    return (after - before) / tasks


def rounded(value: float | None) -> float | None:
    """Three significant digits, or whole numbers from 100 on: more would pretend to be exact."""
    if value is None or value == 0 or not math.isfinite(value):
        return value
    return round(value, max(0, 2 - math.floor(math.log10(abs(value)))))
