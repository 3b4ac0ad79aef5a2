"""Which task a worker gets next (Q3, Q4), and the statement that hands it out."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import psycopg.sql
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BooleanField, QuerySet
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL

from taskqueue.errors import UnreadablePayload
from taskqueue.models import URGENT, HostBudget, Task, TaskQuerySet, TaskStatus, Token
from taskqueue.services.claims import Write, finish
from taskqueue.services.lanes import SINCE_EVER, Lanes, Place
from taskqueue.sql import claiming as sql

LANES_OFFERED = 8  # that a claim may choose from, at least; where it finds nothing at all, others follow
ROUND_SHARE = 50  # times as long as a look all round took, it is done without
ROUND_SECONDS = 1.0  # at most: so long may a task go unseen that joins a line late
BEST = -32_768  # no priority is better
URGENT_IN_A_ROW = 8  # then others get a turn
LOOKED_AT = 16  # urgent tasks a claim looks at, of which some may have to wait for their account's turn

Execute = Callable[[str, Mapping[str, Any]], Sequence[tuple[Any, ...]]]

# What STEP returns of a task, in its order; then its place in line, and which line that was.
_RETURNED = [
    *("id", "kind", "subject", "payload", "parent_id", "account", "lane", "attempts"),
    *("cancel_requested_at", "progress", "priority"),
]
_KIND, _LANE, _PAYLOAD, _PROGRESS = map(_RETURNED.index, ("kind", "lane", "payload", "progress"))
_POSITION, _LINE = len(_RETURNED), len(_RETURNED) + 1
_CHOSEN, _FINISHED = _RETURNED.index("attempts"), -1  # of the last row


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


class Answer(NamedTuple):
    """To one statement: how many it recorded and chose, and the rows of those that it claimed."""

    finished: int
    rows: Sequence[Row]
    chosen: int


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
    order, and none twice. It remembers because an old snapshot, held by whoever, keeps the dead index
    entries of what was claimed since. A look all round steps over them and may take a fiftieth of the time;
    in between, claims start from where the last ones were, in the lanes that are known.
    """

    def __init__(
        self,
        worker: str,
        kinds: Mapping[str, int],
        execute: Execute | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`kinds` maps what the worker runs to the attempts its handlers allow; `clock` counts seconds."""
        self._worker = worker
        self._kinds = kinds
        self._names = _array(map(_quoted, kinds))
        self._statements = step_statements(tuple(kinds.items())) if kinds else ("", "")
        self._execute = execute or _on_djangos_connection
        self._clock = clock
        self._looks_round_at = -math.inf
        self._lanes = Lanes()
        self._lanes_first = True
        self._marks = Marks(list(kinds))  # of tasks without a lane
        self._urgent: Place | None = None  # from where on somebody waits; None: nobody
        self._urgent_in_a_row = 0
        self._has_others = True  # besides the urgent, as far as it knows

    def step(self, ended: Sequence[Ended] = (), *, most: int = 1) -> Step:
        """Record what is done and claim up to `most` tasks, in one statement; fewer when no more wait.

        Others follow when that found nothing and had not looked at everything: once round all the lanes.
        """
        if not self._kinds:
            return Step(0, self._worker, ())
        if not most:
            return Step(self._once(ended, most).finished, self._worker, ())
        began = self._clock()
        if is_round := began >= self._looks_round_at:
            self._forget()
        finished, rows, chosen = self._once(ended, most)
        if not rows and self._is_others_turn(most):
            self._urgent_in_a_row, self._has_others = 0, False  # nobody else is there to take the turn
            _, rows, chosen = self._once((), most)
        if is_round:
            self._has_looked_round(began)
        if not rows and (chosen or not (is_round and self._lanes.are_all)):
            rows = self._round(most)
        return Step(finished, self._worker, rows)

    def _round(self, most: int) -> Sequence[Row]:
        """Once through everything, in as many statements as the lanes take."""
        began = self._clock()
        self._lanes = Lanes()
        self._forget()
        answer = self._once((), most)
        # What was chosen and not had, another worker was faster to take: there may be something else.
        while not answer.rows and (answer.chosen or self._lanes.start):
            answer = self._once((), most)
        self._has_looked_round(began)
        return answer.rows

    def _forget(self) -> None:
        self._lanes.forget()
        self._marks.forget()
        self._urgent = SINCE_EVER
        self._has_others = True

    def _has_looked_round(self, began: float) -> None:
        now = self._clock()
        self._looks_round_at = now + min(ROUND_SECONDS, ROUND_SHARE * (now - began))

    def _is_others_turn(self, most: int) -> bool:
        return most == 1 and self._has_others and self._urgent_in_a_row >= URGENT_IN_A_ROW

    def _once(self, ended: Sequence[Ended], most: int) -> Answer:
        """One statement: STEP, or OPEN_STEP as long as it knows of no lane and of nobody who waits."""
        is_others_turn = self._is_others_turn(most)
        looks_for_urgent = most == 1 and self._urgent is not None and not is_others_turn
        values = {
            **_values(sorted(ended, key=lambda one: one.token.task_id)),
            "worker": self._worker,
            "most": most,
            "kinds": self._names,
            "marks": _array(self._marks.positions),
            "mark_ids": _array(self._marks.ids),
            "least": URGENT + 1 if is_others_turn else BEST,
        }
        if not most or not (looks_for_urgent or self._lanes.are_some):
            *rows, summary = self._execute(self._statements[True], values)
            for row in rows:
                self._marks.put(row[_KIND], _place(row))
            self._urgent_in_a_row = 0 if rows else self._urgent_in_a_row
            return Answer(summary[_FINISHED], rows, summary[_CHOSEN])
        walks = self._lanes.walks
        lanes = self._lanes.next(Lanes.PROBES if is_others_turn else max(most, LANES_OFFERED))
        since, since_id = self._urgent or SINCE_EVER
        values |= {
            "lanes": _array(_quoted(lane) for lane, _ in lanes),
            "lane_marks": _array(f'"{position}"' for _, (position, _) in lanes),
            "lane_mark_ids": _array(str(task_id) for _, (_, task_id) in lanes),
            **{"walks": walks, "start": self._lanes.start, "cursor": self._lanes.cursor},
            **{"probes": Lanes.PROBES, "lanes_first": self._lanes_first},
            **{"look_for_urgent": looks_for_urgent, "since": since, "since_id": since_id},
        }
        *rows, summary = self._execute(self._statements[False], values)
        answer = Answer(summary[_FINISHED], rows, summary[_CHOSEN])
        if walks:
            self._lanes.meet(json.loads(summary[_LANE] or "[]"))
        self._remember(answer, is_short=answer.chosen < most, has_looked_for_urgent=looks_for_urgent)
        return answer

    def _remember(self, answer: Answer, *, is_short: bool, has_looked_for_urgent: bool) -> None:
        lines = {row[_LINE] for row in answer.rows}
        in_lanes = {row[_LANE]: _place(row) for row in answer.rows if row[_LINE] == "lanes"}
        self._lanes.take_turns(in_lanes, is_through=is_short or (self._lanes_first and "open" in lines))
        if has_looked_for_urgent:
            self._urgent = None
        for row in answer.rows:
            if row[_LINE] == "urgent":
                self._urgent, self._urgent_in_a_row = _place(row), self._urgent_in_a_row + 1
                continue
            self._urgent_in_a_row = 0
            self._lanes_first = row[_LINE] == "open"
            if row[_LINE] == "open":
                self._marks.put(row[_KIND], _place(row))


class Marks:
    """Where the last claim of each kind was, as the items of two arrays in the kinds' order."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._index = {kind: number for number, kind in enumerate(kinds)}
        self.forget()

    def forget(self) -> None:
        position, task_id = SINCE_EVER
        self.positions = [f'"{position}"'] * len(self._index)
        self.ids = [str(task_id)] * len(self._index)

    def put(self, kind: str, place: Place) -> None:
        number = self._index[kind]
        self.positions[number], self.ids[number] = f'"{place[0]}"', str(place[1])


def claim_next(*, worker: str, kinds: Mapping[str, int]) -> Task | None:
    """The next task for a living worker, running in its name under a new generation; None without one."""
    return next(iter(Claimer(worker, kinds).step().claimed), None)


@lru_cache(maxsize=64)
def step_statements(kinds: tuple[tuple[str, int], ...]) -> tuple[str, str]:
    """STEP and OPEN_STEP for a worker that runs `kinds`: what does not change while it lives is in them."""
    line = Task.objects.in_line([kind for kind, _ in kinds]).in_claim_order()
    others = line.filter(priority__gte=_outer("%%(least)s"))
    in_lane = _since("known", others.exclude(lane="").filter(lane=_outer("known.lane")))
    in_open = _since("line", others.filter(lane="", kind=_outer("line.kind")))
    in_urgent = line.filter(
        RawSQL("(position, id) >= (%%(since)s, %%(since_id)s)", (), BooleanField()),
        priority__lte=URGENT,
        kind=_outer("known.kind"),
    )
    turns = {"account": settings.QUEUE_ACCOUNT_TURNS, "host": settings.QUEUE_HOST_TURNS}
    turn_of = {
        lane: {"lane": lane, "turns": sql.TURNS.format(lane=lane, **turns)}
        for lane in ("first.lane", "known.lane")
    }
    closed = HostBudget.objects.closed().filter(host=_outer("substr(known.lane, 6)"))
    in_both = {
        "in_open": _text(in_open.values("pk", "position")) + " LIMIT %(most)s",
        "max_attempts": f"({_literal(json.dumps(dict(kinds)))}::jsonb ->> task.kind)::integer",
        "release": _literal(settings.RELEASE[:100]),
    }
    step = sql.STEP.format(
        in_urgent=_text(in_urgent.values("pk", "lane", "position")[:LOOKED_AT]),
        looked_at=LOOKED_AT,
        in_lane=_text(in_lane.values("pk", "lane", "position")[:1]),
        urgent_turn=sql.FREE_TURN.format(**turn_of["first.lane"]),
        lane_turn=sql.FREE_TURN.format(**turn_of["known.lane"]),
        closed=_text(closed.values("pk")),
        **in_both,
    )
    open_step = sql.OPEN_STEP.format(**in_both)
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


def _since(known: str, query: TaskQuerySet) -> TaskQuerySet:
    """From the mark of the row around it on."""
    return query.filter(RawSQL(f"(position, id) >= ({known}.mark, {known}.mark_id)", (), BooleanField()))  # noqa: S611


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


def _place(row: Row) -> Place:
    return row[_POSITION], row[0]


def _quoted(item: str) -> str:
    """As an array's item."""
    escaped = item.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
