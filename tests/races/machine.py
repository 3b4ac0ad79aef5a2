"""What test_queue_model.py runs its sequences with: sessions, rows, and the model they are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from taskqueue.models import (
    CLAIMABLE,
    ENDED,
    UNFINISHED,
    URGENT,
    HostBudget,
    Task,
    TaskStatus,
    Token,
    Turn,
    Worker,
)
from taskqueue.services import enqueue
from taskqueue.services.claiming import Claimer, Ended, step_statements
from taskqueue.services.claims import Write
from taskqueue.services.waiting import is_free, why_they_wait
from taskqueue.services.workers import register
from taskqueue.sql import claiming as sql
from taskqueue.worker.line import Line
from tests.races.model import Hands, Keep, Known, Model
from tests.taskqueue.fleets import ticking

ALL = {"test.a": 2, "test.b": 3}  # kinds that workers run, and how often each may fail
SOME = {"test.b": 3}
HOUR = timedelta(hours=1)
MOST_UNFINISHED = 8
MOST_MEDDLING = 6

# What is never so, whatever happened before; each gives the ids of what breaks it.
NEVER = {
    "a place in line that is not the due time and the priority": """
        SELECT id FROM queue_task WHERE position <> not_before + make_interval(secs => 6 * priority)""",
    "a turn whose task does not run in it": """
        SELECT turn.id FROM queue_turn AS turn LEFT JOIN queue_task AS task ON task.id = turn.task_id
         WHERE turn.task_id IS NOT NULL
           AND (task.id IS NULL OR task.status <> 'running' OR task.lane <> turn.lane)""",
    "a task that runs out of turn": """
        SELECT id FROM queue_task AS task WHERE status = 'running' AND lane <> ''
           AND (SELECT count(*) FROM queue_turn WHERE task_id = task.id) <> 1""",
    "an attempt more than the task has": """
        SELECT id FROM queue_task WHERE status = 'running' AND attempts - resumes > max_attempts""",
    "a failed attempt with two entries": """
        SELECT id FROM queue_task, jsonb_array_elements(errors) AS entry
         GROUP BY id HAVING count(*) > count(DISTINCT entry ->> 'attempt')""",
}
BROKEN = " UNION ALL ".join(f"SELECT '{what}', id FROM ({query}) AS broken" for what, query in NEVER.items())  # noqa: S608
ROWS = r"""
    SELECT id, kind, account, host, subject, parent_id, priority, status, attempts, resumes, worker,
           regexp_replace(dedupe_key, ':\d+$', ''), key_until IS NOT NULL, position IS NOT NULL,
           not_before <= statement_timestamp(), cancel_requested_at IS NOT NULL, jsonb_array_length(errors)
      FROM queue_task
"""
# The longest that a task waits after a failed attempt (Q8).
WAIT = "make_interval(secs => least(3600, 10 * 2 ^ least(attempts - resumes - 1, 12)))"


class Slot:
    """A place for one worker after the other. Its session stays: no sequence begins with a second's wait."""

    def __init__(self, number: int) -> None:
        self.line = Line(f"slot-{number}")
        self.kinds = SOME if number == 2 else ALL
        self.name = ""
        self.claimer = Claimer("", {})

    def __repr__(self) -> str:
        return self.name

    def hire(self, name: str) -> None:
        self.name = name
        self.claimer = Claimer(name, self.kinds, self.line.execute, ticking())
        register(name, kinds=list(self.kinds))

    @contextmanager
    def transaction(self, end: str) -> Iterator[None]:
        self.line.execute("BEGIN", {})
        try:
            yield
        finally:
            self.line.execute(end, {})


def query(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


class Waiting(NamedTuple):
    """A task that may start."""

    pk: int
    lane: str
    priority: int


def in_line(kinds: Mapping[str, int]) -> list[Waiting]:
    """What the queryset calls claimable, in the order of claims."""
    statement, values = _question(tuple(kinds), settings.QUEUE_ACCOUNT_TURNS, settings.QUEUE_HOST_TURNS)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Waiting(*row) for row in cursor.fetchall()]


@lru_cache
def _question(kinds: tuple[str, ...], *turns: int) -> tuple[str, tuple[Any, ...]]:
    """The queryset's statement: to make it anew each time would take longer than to answer it."""
    line = Task.objects.claimable(kinds).in_claim_order().values_list("pk", "lane", "priority")
    return line.query.sql_with_params()


def all_of(claimer: Claimer) -> Iterator[Task]:
    """All that can be claimed, one task first."""
    most = 1
    while claimed := claimer.step(most=most).claimed:
        yield from claimed
        most = 20


class Machine(RuleBasedStateMachine):
    """A queue, its workers, and what must be true of them after every step."""

    slots: Sequence[Slot] = ()  # given by the test
    hired = 0  # incarnations so far: no sequence repeats another's

    def __init__(self) -> None:
        super().__init__()
        with connection.cursor() as cursor:
            for model in (Turn, Task, Worker, HostBudget):
                cursor.execute(f"DELETE FROM {model._meta.db_table}")  # noqa: S608

    @initialize(account_turns=st.sampled_from([1, 2]), host_turns=st.sampled_from([1, 2]))
    def begin(self, account_turns: int, host_turns: int) -> None:
        settings.QUEUE_ACCOUNT_TURNS, settings.QUEUE_HOST_TURNS = account_turns, host_turns
        step_statements.cache_clear()  # it has the settings written into it
        self.model = Model(account_turns, host_turns)
        self.written: set[Token] = set()
        self.written_late: set[Token] = set()
        self.seen_errors: dict[int, int] = {}
        self.meddled = 0
        self.judged, self.looks = "", 0
        for slot in self.slots:
            self.hire(slot)
        for account, host in (("", ""), ("x", ""), ("x", ""), ("", "h")):
            task_id = enqueue("test.b", account=account, host=host).task_id
            self.model.add(task_id, Known("test.b", account, host))

    def step(self, slot: Slot, done: Sequence[Token], most: int) -> None:
        """Record what is done and claim more, as a worker does that may have been lost long ago."""
        hands = self.model.workers[slot.name]
        taken = slot.claimer.step([Ended(token, result=[1]) for token in done], most=most)
        assert taken.finished == sum(self.model.leave(token, TaskStatus.DONE) for token in done)
        self.written.update(done)
        hands.held = [token for token in hands.held if token not in done]
        may_claim = most and hands.has_lease and self.model.claimable(slot.kinds)
        assert bool(taken.claimed) == bool(may_claim)
        assert len(taken.claimed) <= most
        self.model.claim(slot.name, [task.pk for task in taken.claimed])

    def hire(self, slot: Slot) -> None:
        Machine.hired += 1
        slot.hire(f"worker:{Machine.hired}")
        self.model.workers[slot.name] = Hands(slot.kinds)

    # What must be true.

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        assert {row[0]: row[1:] for row in query(ROWS)} == {
            pk: (
                *(task.kind, task.account, task.host, task.subject, task.parent, task.priority, task.status),
                *(task.attempts, task.resumes, task.worker, task.key, task.is_kept, task.is_in_line),
                *(task.is_due, task.is_cancel_requested, task.errors),
            )
            for pk, task in self.model.tasks.items()
        }
        assert query(BROKEN) == []

    @invariant()
    def everybody_agrees_on_what_may_start(self) -> None:
        """Q3: the queryset, the console and a claim. Each is asked in its turn once something has changed."""
        if self.judged == repr(self.model):
            return
        self.judged = repr(self.model)
        self.looks += 1
        self.everybody_hears_what_runs()
        kinds = (ALL, SOME)[self.looks % 2]
        line = in_line(kinds)
        assert {task.pk for task in line} == self.model.claimable(kinds)
        self.a_claim_finds(line, kinds)
        if self.looks % 3 == 0:
            self.the_console_says_so()

    def a_claim_finds(self, line: Sequence[Waiting], kinds: Mapping[str, int]) -> None:
        """A worker that remembers nothing gets the right one first, and in the end all that may run."""
        for slot in self.slots:
            if slot.kinds == kinds and self.model.workers[slot.name].has_lease:
                with slot.transaction("ROLLBACK"):
                    claimed = list(all_of(Claimer(slot.name, kinds, slot.line.execute)))
                assert {task.pk for task in claimed[:1]} <= {task.pk for task in self.heads(line)}
                assert Counter(task.lane for task in claimed) == self.room(line)
                return

    def the_console_says_so(self) -> None:
        """It finds no reason for waiting of what a live worker may get, and of nothing else."""
        free = {pk for pk, reasons in why_they_wait(Task.objects.all()).items() if is_free(reasons)}
        live = {kind for hands in self.model.workers.values() if hands.has_lease for kind in hands.kinds}
        assert {pk for pk in free if self.model.tasks[pk].status in CLAIMABLE} == self.model.claimable(live)

    def everybody_hears_what_runs(self) -> None:
        """Q6: a beat tells what runs in the worker's name; nothing, once its lease is over."""
        for slot in self.slots:
            values = {"worker": slot.name, "lease": 600, "memory": None}
            told = {row for row in slot.line.execute(sql.BEAT, values) if row[0] is not None}
            assert told == {
                (pk, task.attempts, task.is_cancel_requested)
                for pk, task in self.model.running().items()
                if task.worker == slot.name and self.model.workers[slot.name].has_lease
            }

    def room(self, line: Sequence[Waiting]) -> Counter[str]:
        """How many of each lane may start together; of those without a lane all."""
        taken = self.model.turns_taken()
        room = Counter(task.lane for task in line)
        for lane in room:
            if lane:
                room[lane] = min(room[lane], self.model.limit(lane) - taken[lane])
        return room

    def heads(self, line: Sequence[Waiting]) -> list[Waiting]:
        """What is first: of what somebody waits for, else of a lane or of what has none."""
        if urgent := [task for task in line if task.priority <= URGENT]:
            return urgent[:1]
        firsts: dict[str, Waiting] = {}
        for task in line:
            firsts.setdefault(task.lane, task)
        return list(firsts.values())

    # Helpers.

    def one_of(self, data: st.DataObject, some: Any) -> Any:
        return data.draw(st.sampled_from(list(some)))

    def having(self, *statuses: TaskStatus) -> list[int]:
        return [pk for pk, task in self.model.tasks.items() if task.status in statuses]

    def has_room(self) -> bool:
        """Callers wait while much is queued: or sequences would be theirs alone."""
        return len(self.having(*UNFINISHED)) < MOST_UNFINISHED

    def may_meddle(self) -> bool:
        """People and hosts do little, compared with workers."""
        return self.meddled < MOST_MEDDLING

    def holding(self) -> list[Slot]:
        """Whose workers believe to have something."""
        return [slot for slot in self.slots if self.model.workers[slot.name].held]

    def able(self) -> list[Slot]:
        """Whose workers may be given something."""
        return [slot for slot in self.places(is_alive=True) if self.model.claimable(slot.kinds)]

    def at_work(self) -> list[Slot]:
        holding = {token.worker for token in self.current()}
        return [slot for slot in self.places(is_alive=True) if slot.name in holding]

    def grow_old(self, pk: int) -> None:
        if self.model.tasks[pk].status in ENDED:
            Task.objects.filter(pk=pk).update(finished_at=Now() - timedelta(days=15))
            self.model.tasks[pk].is_old = True

    def young(self) -> list[int]:
        return [pk for pk in self.having(*ENDED) if not self.model.tasks[pk].is_old]

    def places(self, *, is_alive: bool) -> list[Slot]:
        return [slot for slot in self.slots if self.model.workers[slot.name].has_lease == is_alive]

    def not_due(self) -> list[int]:
        return [pk for pk in self.having(*CLAIMABLE) if not self.model.tasks[pk].is_due]

    def keeping(self) -> list[int]:
        return [pk for pk, task in self.model.tasks.items() if task.keep is Keep.UNTIL_CYCLE_ENDS]

    def held(self) -> list[Token]:
        """What workers believe to have."""
        return [token for hands in self.model.workers.values() for token in hands.held]

    def current(self) -> list[Token]:
        return [token for token in self.held() if self.model.is_current(token)]

    def lost(self) -> list[Token]:
        known = {*self.held(), *self.written} - self.written_late
        return sorted((token for token in known if not self.model.is_current(token)), key=str)

    def write(self, token: Token, write: Write, known: Callable[[Token], bool]) -> None:
        assert write(token) == known(token)
        self.model.drop(token)
        self.written.add(token)

    def unknown(self) -> list[Task]:
        return list(Task.objects.exclude(pk__in=list(self.model.tasks)).order_by("pk"))

    def postpone(self) -> None:
        """The wait after a failure is drawn by the server: within its bounds, and then too long to matter."""
        errors = {pk: task.errors for pk, task in self.model.tasks.items()}
        new = [pk for pk in self.having(TaskStatus.PENDING) if errors[pk] > self.seen_errors.get(pk, 0)]
        self.seen_errors = errors
        late = Task.objects.filter(pk__in=new).extra(where=[f"not_before > statement_timestamp() + {WAIT}"])  # noqa: S610
        assert not late.exists()
        waiting = [pk for pk in new if not self.model.tasks[pk].is_due]
        Task.objects.filter(pk__in=waiting).update(not_before=Now() + HOUR)
