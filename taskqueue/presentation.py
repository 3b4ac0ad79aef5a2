"""How the queue's pages say figures: durations, sizes, progress, and samples as the path of an SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from taskqueue.models import HostBudget, Task, TaskStatus
from taskqueue.services.watching import MINUTE, Moment

UNKNOWN = "unknown"
STILL_AFTER = timedelta(minutes=1)  # without a change of its progress a task is no longer "advancing"

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_ROUND_SECONDS = (10, 30, 60, 300, 900, 1_800, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600)


def duration(seconds: float | None) -> str:
    """In the largest unit of which there are two or more: 95 s, 4 min, 30 h, 3 d."""
    if seconds is None:
        return UNKNOWN
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def number(count: float | None) -> str:
    return UNKNOWN if count is None else f"{count:,.0f}"


def kind(name: str) -> str:
    """A task's kind for people who did not write it: "reviews.answer" is "Reviews: answer"."""
    app, _, verb = name.partition(".")
    return f"{app.capitalize()}: {verb.replace('_', ' ')}" if verb else app.capitalize()


def state_words(task: Task) -> str:
    """What becomes of an unfinished task, to whom it belongs."""
    if task.is_cancelling:
        return "being cancelled"
    if task.status == TaskStatus.PENDING:
        return "waits for its turn" if task.position else "starts later"
    if task.status == TaskStatus.AWAITING_BATCH:
        return "submitted; the answers are being waited for"
    return "in several parts" if task.status == TaskStatus.WAITING else "running"


def held(tasks: Sequence[Mapping[str, Any]]) -> str:
    """What a worker has in hand: the first of its tasks and how many more."""
    first, *others = tasks
    return f"{first['kind']} {first['subject']}".strip() + (f" and {len(others)} more" if others else "")


def megabytes(size: int | None) -> str:
    return UNKNOWN if size is None else f"{size / 1_000_000:.0f} MB"


def progress(task: Task) -> str:
    """ "3 of 10 reading"; empty when the task has said nothing."""
    if not task.progress:
        return ""
    done, total, note = (task.progress.get(name) for name in ("done", "total", "note"))
    return f"{done}{f' of {total}' if total else ''} {note or ''}".strip()


def is_still(task: Task, now: datetime) -> bool:
    """Whether a running task that tells its progress has not got on for a while (Q7)."""
    return task.progress_at is not None and now - task.progress_at >= STILL_AFTER


def advance(task: Task, now: datetime) -> str:
    """The same in words: alive is not advancing."""
    if task.progress_at is None:
        return "says nothing"
    if is_still(task, now):
        return f"no progress for {duration((now - task.progress_at).total_seconds())}"
    return "advancing"


def worker_state(worker: Any, now: datetime) -> str:
    """Of a worker that knows whether it `is_alive`."""
    if worker.is_alive:
        return "alive"
    if worker.lost_at is not None:
        return f"lost {duration((now - worker.lost_at).total_seconds())} ago, with what it had in hand"
    return f"silent for {duration((now - worker.last_seen_at).total_seconds())}: its lease is over"


def host_state(budget: HostBudget, now: datetime) -> str:
    """Whether tasks that ask the host are handed out."""
    if budget.next_slot_at <= now + timedelta(seconds=HostBudget.LONGEST_WAIT_SECONDS):
        return "open"
    return f"closed until {budget.next_slot_at:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Spot:
    """A step of the chart, with what a pointer on it shows. In the chart's units."""

    left: float
    width: float
    words: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment on the time axis, in per cent of its length."""

    left: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One line over time in a box of WIDTH by HEIGHT; a stretch without samples is a gap, not zero."""

    WIDTH = 1000
    HEIGHT = 100

    name: str
    title: str
    latest: str
    latest_is: str  # what of: a sample, or the worst of several
    summary: str  # the chart in words, for who does not see it
    top: str  # the value at its upper edge
    line: str
    area: str
    spots: list[Spot]
    ticks: list[Tick]


@dataclass(frozen=True, slots=True)
class Span:
    """The stretch of time that a chart shows."""

    since: datetime
    until: datetime
    step: timedelta

    def left(self, at: datetime) -> float:
        """How far along it is, from 0 to 1."""
        return min(max((at - self.since) / (self.until - self.since), 0.0), 1.0)


def chart(
    name: str,
    title: str,
    moments: Sequence[Moment],
    span: Span,
    *,
    value: Callable[[Moment], float | None],
    words: Callable[[float | None], str],
    round_up: Callable[[float], float],
) -> Chart:
    """The chart of what `value` reads from the moments; `words` says a value, `round_up` ends the scale."""
    known = [(moment.at, read) for moment in moments if (read := value(moment)) is not None]
    top = round_up(max((read for _, read in known), default=0.0))
    pieces = [_piece(part, span, top) for part in _parts(known, span.step)]
    return Chart(
        name=name,
        title=title,
        latest=words(known[-1][1]) if known and known[-1][0] >= span.until - 3 * span.step else UNKNOWN,
        latest_is="at the last sample"
        if span.step <= MINUTE
        else f"at most in the last {duration(span.step.total_seconds())}",
        summary=_summary(known, words),
        top=words(top),
        line=" ".join(line for line, _ in pieces),
        area=" ".join(area for _, area in pieces),
        spots=[_spot(at, read, span, words) for at, read in known],
        ticks=_ticks(span),
    )


def round_count(most: float) -> float:
    """The next of 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, …"""
    size = 1
    while True:
        for step in (1, 2, 3, 4, 5, 6, 8):
            if step * size >= max(most, 5):
                return step * size
        size *= 10


def round_seconds(most: float) -> float:
    """The next round duration, whole days beyond half of one."""
    return next((step for step in _ROUND_SECONDS if step >= most), -(-most // 86_400) * 86_400)


Known = list[tuple[datetime, float]]


def _parts(known: Known, step: timedelta) -> list[Known]:
    """The stretches without a missing step."""
    parts: list[Known] = [known[:1]] if known else []
    for before, here in pairwise(known):
        if here[0] - before[0] > step:
            parts.append([])
        parts[-1].append(here)
    return parts


def _piece(part: Known, span: Span, top: float) -> tuple[str, str]:
    corners = [(_x(at, span), _y(read, top)) for at, read in part]
    end = _x(part[-1][0] + span.step, span)  # a single step is a line too
    corners.append((end, corners[-1][1]))
    line = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return line, f"{line}V{Chart.HEIGHT}H{corners[0][0]:.1f}Z"


def _spot(at: datetime, read: float, span: Span, words: Callable[[float | None], str]) -> Spot:
    left = _x(at, span)
    return Spot(left, round(_x(at + span.step, span) - left, 1), f"{at:%b %d, %H:%M} UTC: {words(read)}")


def _x(at: datetime, span: Span) -> float:
    return round(span.left(at) * Chart.WIDTH, 1)


def _y(read: float, top: float) -> float:
    return Chart.HEIGHT * (1 - read / top)


def _summary(known: Known, words: Callable[[float | None], str]) -> str:
    if not known:
        return "No samples: a worker's ticker takes one every minute."
    at, most = max(known, key=lambda one: one[1])
    last_at, last = known[-1]
    return (
        f"{words(last)} at {last_at:%H:%M} UTC, the newest sample;"
        f" at most {words(most)}, at {at:%b %d, %H:%M} UTC."
    )


def _ticks(span: Span) -> list[Tick]:
    length = span.until - span.since
    apart = next(
        (MINUTE * minutes for minutes in (15, 60, 240) if MINUTE * minutes * 7 > length), 1440 * MINUTE
    )
    day = span.since.replace(hour=0, minute=0, second=0, microsecond=0)
    at = day + -(-(span.since - day) // apart) * apart
    ticks: list[Tick] = []
    while at < span.until - apart / 4:  # the last one's words would stand out
        words = f"{at:%a %d}" if apart >= timedelta(days=1) else f"{at:%H:%M}"
        ticks.append(Tick(round(span.left(at) * 100, 2), words))
        at += apart
    return ticks
