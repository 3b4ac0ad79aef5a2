"""Which task a worker gets next (Q3, Q4), and the statement that hands it out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import psycopg.sql
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BooleanField, QuerySet
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL

from taskqueue.errors import UnreadablePayload
from taskqueue.models import URGENT, HostBudget, Task, TaskStatus, Token
from taskqueue.services.claims import Write, finish
from taskqueue.sql import claiming as sql

PROBES = 128  # lanes that one claim looks into; the next one goes on from there
URGENT_IN_A_ROW = 8  # then others get a turn
LOOKED_AT = 16  # urgent tasks a claim looks at, of which some may have to wait for their account's turn
BEST = -32_768  # no priority is better
SINCE_EVER = ("-infinity", 0)

Execute = Callable[[str, Mapping[str, Any]], Sequence[tuple[Any, ...]]]

# What STEP returns of a task, in its order; then its place in line, and which line that was.
_RETURNED = [
    *("id", "kind", "subject", "payload", "parent_id", "account", "lane", "attempts"),
    *("cancel_requested_at", "progress", "priority"),
]
_LANE, _PAYLOAD, _PROGRESS = map(_RETURNED.index, ("lane", "payload", "progress"))
_MARK, _LINE = len(_RETURNED), len(_RETURNED) + 1


@dataclass(frozen=True, slots=True)
class Ended:
    """Work that is done and not yet recorded."""

    token: Token
    note: str = ""
    result: Any = None
    progress: Mapping[str, Any] | None = None

    def write(self) -> Write:
        """The same, recorded by itself."""
        return partial(finish, note=self.note, result=self.result)


Row = Sequence[Any]


@dataclass(frozen=True)
class Step:
    """What one step recorded and handed out. The tasks are made when they are asked for."""

    finished: int
    worker: str
    rows: Sequence[Row]

    @cached_property
    def claimed(self) -> list[Task]:
        return [_task(row, self.worker) for row in self.rows]


class Claimer:
    """One worker's way through the lines: where its last turn was, and whose turn is next.

    What it remembers is a hint. Another process that knows none of it claims the same tasks, in another
    order, and none twice.
    """

    def __init__(self, worker: str, kinds: Mapping[str, int], execute: Execute | None = None) -> None:
        """`kinds` maps what the worker runs to the attempts its handlers allow."""
        self._worker = worker
        self._kinds = list(kinds)
        self._names = _array(json.dumps(kind, ensure_ascii=False) for kind in kinds)
        self._statements = step_statements(tuple(kinds.items())) if kinds else ("", "")
        self._is_all_open = True  # as far as it knows: nothing has a lane, and nobody waits
        self._execute = execute or _on_djangos_connection
        self._cursor = ""
        self._marks: dict[str, tuple[str, int]] = {}
        self._lanes_first = True
        self._urgent_in_a_row = 0

    def step(self, ended: Sequence[Ended] = (), *, most: int = 1) -> Step:
        """Record what is done and claim up to `most` tasks, in one statement; fewer when no more wait.

        Others follow when that found nothing and had not looked at everything: once round all the lanes.
        """
        if not self._kinds:
            return Step(0, self._worker, ())
        finished, rows, is_certain = self._once(ended, most)
        if not rows and most and not is_certain:
            rows = self._round(most)
            if not rows and self._urgent_in_a_row >= URGENT_IN_A_ROW:
                self._urgent_in_a_row = 0  # nobody else is there to take the turn
                rows = self._round(most)
        return Step(finished, self._worker, rows)

    def _round(self, most: int) -> Sequence[Row]:
        """Once through everything, in as many statements as the lanes take."""
        self._cursor = ""
        _, rows, _ = self._once((), most)
        while not rows and self._cursor:
            _, rows, _ = self._once((), most)
        return rows

    def forget_marks(self) -> None:
        """Start from the head of each line: something may have joined before where the last claim was."""
        self._marks.clear()
        self._is_all_open = True

    def _once(self, ended: Sequence[Ended], most: int) -> tuple[int, Sequence[Row], bool]:
        is_others_turn = most == 1 and self._urgent_in_a_row >= URGENT_IN_A_ROW
        marks = [self._marks.get(kind, SINCE_EVER) for kind in self._kinds]
        rows = self._execute(
            self._statements[self._is_all_open],
            {
                **_values(sorted(ended, key=lambda one: one.token.task_id)),
                "worker": self._worker,
                "most": most,
                "kinds": self._names,
                "marks": _array(f'"{position}"' for position, _ in marks),
                "mark_ids": _array(str(task_id) for _, task_id in marks),
                "cursor": self._cursor,
                "probes": PROBES,
                "lanes_first": self._lanes_first,
                "look_for_urgent": most == 1 and not is_others_turn,
                "least": URGENT + 1 if is_others_turn else BEST,
            },
        )
        *taken, summary = rows
        if self._is_all_open and most and summary[_LANE] is None:
            self._is_all_open = False
            return summary[-1], *self._once((), most)[1:]
        # Turns given back in the statement are free for the next one only.
        has_looked_at_all = not (self._cursor or self._marks or is_others_turn or ended)
        self._remember(taken, walked_to=summary[_LANE], is_short=len(taken) < most)
        # None and not "": enough was chosen, but another worker was faster in making the lane's first turn.
        return summary[-1], taken, has_looked_at_all and summary[_LANE] == ""

    def _remember(self, taken: Sequence[Row], *, walked_to: str | None, is_short: bool) -> None:
        lines = [row[_LINE] for row in taken]
        if lines:
            self._urgent_in_a_row = self._urgent_in_a_row + 1 if lines == ["urgent"] else 0
        if is_short:
            self._marks.clear()
        for row, line in zip(taken, lines, strict=True):
            if line == "lanes":
                self._lanes_first, self._cursor = False, row[_LANE]
            elif line == "open":
                self._lanes_first = True
                if not is_short:
                    self._marks[row[1]] = (row[_MARK], row[0])
        if walked_to is not None:
            self._cursor = walked_to


def claim_next(*, worker: str, kinds: Mapping[str, int]) -> Task | None:
    """The next task for a living worker, running in its name under a new generation; None without one."""
    return next(iter(Claimer(worker, kinds).step().claimed), None)


@lru_cache(maxsize=64)
def step_statements(kinds: tuple[tuple[str, int], ...]) -> tuple[str, str]:
    """STEP and OPEN_STEP for a worker that runs `kinds`: what does not change while it lives is in them."""
    line = Task.objects.in_line([kind for kind, _ in kinds]).in_claim_order()
    others = line.filter(priority__gte=_outer("%%(least)s"))
    in_lane = others.exclude(lane="").filter(lane=_outer("walk.lane"))
    in_open = others.filter(lane="", kind=_outer("line.kind")).filter(
        RawSQL("(position, id) >= (line.mark, line.mark_id)", (), BooleanField())
    )
    turns = {"account": settings.QUEUE_ACCOUNT_TURNS, "host": settings.QUEUE_HOST_TURNS}
    turn_of = {
        lane: {"lane": lane, "turns": sql.TURNS.format(lane=lane, **turns)}
        for lane in ("first.lane", "walk.lane")
    }
    closed = HostBudget.objects.closed().filter(host=_outer("substr(walk.lane, 6)"))
    in_both = {
        "in_open": _text(in_open.values("pk", "position")) + " LIMIT %(most)s",
        "max_attempts": f"({_literal(json.dumps(dict(kinds)))}::jsonb ->> task.kind)::integer",
        "release": _literal(settings.RELEASE[:100]),
    }
    step = sql.STEP.format(
        urgent=_text(line.filter(priority__lte=URGENT).values("pk", "lane")[:LOOKED_AT]),
        in_lane=_text(in_lane.values("pk", "lane", "position")[:1]),
        urgent_turn=sql.FREE_TURN.format(**turn_of["first.lane"]),
        lane_turn=sql.FREE_TURN.format(**turn_of["walk.lane"]),
        is_open=sql.IS_OPEN.format(**turn_of["walk.lane"], closed=_text(closed.values("pk"))),
        **in_both,
    )
    open_step = sql.OPEN_STEP.format(urgent=URGENT, **in_both)
    return re.sub(r"\s+", " ", step), re.sub(r"\s+", " ", open_step)


def _task(row: Row, worker: str) -> Task:
    """As Task.from_db makes it, without a look at each of the fields that were not asked for."""
    task = Task.__new__(Task)
    task._state = ModelState()
    task._state.adding, task._state.db = False, DEFAULT_DB_ALIAS
    values = dict(zip(_RETURNED, row, strict=False), worker=worker, status=TaskStatus.RUNNING)
    values["payload"] = _loaded(row[_PAYLOAD])
    values["progress"] = row[_PROGRESS] and _loaded(row[_PROGRESS])
    task.__dict__.update(values)
    return task


def _loaded(text: str) -> Any:
    """Where the reading fails, the error, which the attempt raises: what others claimed goes on."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and nesting are endless in the row, but not here
        return UnreadablePayload(f"the payload cannot be read: {error}")


def _outer(name: str) -> RawSQL:
    """A column of the statement around the ORM's query."""
    return RawSQL(name, ())  # noqa: S611 - a constant


def _text(query: QuerySet[Any, Any]) -> str:
    statement, params = query.query.sql_with_params()
    return str(statement % tuple(_literal(value) for value in params))


def _literal(value: Any) -> str:
    return psycopg.sql.quote(value).replace("%", "%%")


def _values(ended: Sequence[Ended]) -> dict[str, Any]:
    return {
        "ids": _array(str(one.token.task_id) for one in ended),
        "attempts": _array(str(one.token.attempt) for one in ended),
        "notes": _unless_empty([one.note for one in ended]),
        "results": _unless_empty([None if one.result is None else json.dumps(one.result) for one in ended]),
        "progresses": _unless_empty(
            [None if one.progress is None else json.dumps(one.progress) for one in ended]
        ),
    }


def _array(items: Iterable[str]) -> str:
    """As PostgreSQL writes it ("Array Value Input"): the driver's own way costs a microsecond an item."""
    return f"{{{','.join(items)}}}"


def _unless_empty(column: list[Any]) -> list[Any] | None:
    """Beside an array that is NULL, unnest() gives NULLs: most work says nothing when it is done."""
    return column if any(column) else None


def _on_djangos_connection(statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
