"""What other queues' users reported about queues under load: old snapshots, bloat, promotion, kept plans.

A test is named after the report it would have failed. Everything is committed; nothing is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue_many
from taskqueue.services.claiming import Claimer, Ended, step_statements
from taskqueue.services.prepared import numbered_of
from taskqueue.services.tasks import New
from taskqueue.worker.line import Line
from tests.races.test_peer_storage import reads_all
from tests.taskqueue.connections import elsewhere
from tests.taskqueue.factories import TaskFactory, alive, claim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

KINDS = {"test.work": 5}


@pytest.fixture
def line() -> Iterator[Line]:
    """A worker's own session."""
    opened = Line("worker")
    yield opened
    opened.close()


@contextmanager
def old_snapshot() -> Iterator[None]:
    """Somebody looks at the database as it is now, until the block ends."""
    reader = Line("reader")
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ", {})
    reader.execute("SELECT count(*) FROM queue_task", {})
    try:
        yield
    finally:
        reader.close()


class Looked(Exception):
    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.pages = pages


class Measured(Claimer):
    """A claimer that tells how many pages its next statement looks at, and does not run it.

    By its clock only the first statement takes time, so that it looks all round once.
    """

    def __init__(self, line: Line) -> None:
        super().__init__("w", KINDS, self._look, lambda: self._seconds)
        self._line = line
        self._seconds = 0.0
        self._is_measuring = False

    def _look(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        if not self._is_measuring:
            self._seconds = 1.0
            return self._line.execute(statement, values)
        self._line.execute("BEGIN", {})
        [[[explained]]] = self._line.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
        self._line.execute("ROLLBACK", {})
        raise Looked(explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"])

    def measure(self, ended: Sequence[Ended]) -> int:
        self._is_measuring = True
        with pytest.raises(Looked) as looked:
            self.step(ended)
        self._is_measuring = False
        return looked.value.pages


LINES: dict[str, tuple[list[New], int]] = {
    "nobody's": ([New()] * 2_000, 50),
    "one account's": ([New(account="a")] * 2_000, 50),
    "accounts'": ([New(account=str(number % 100)) for number in range(2_000)], 50),
    "urgent": ([New()] * 2_000, 5),
    "of accounts, urgent": ([New(account=str(number % 100)) for number in range(2_000)], 5),
}


@pytest.mark.parametrize(("tasks", "priority"), LINES.values(), ids=LINES)
def test_river_59_an_old_snapshot_slows_no_claim_that_knows_where_the_last_one_was(
    line: Line, tasks: list[New], priority: int
) -> None:
    """A report or a dump held a snapshot, vacuum removed nothing, and each claim stepped over more dead rows.

    The worker's marks start it where its last claim was. One without them shows that the dead are there.
    """
    alive("w")
    enqueue_many("test.work", tasks, priority=priority)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE queue_task")
    claimer = Measured(line)
    with old_snapshot():
        ended = [Ended(task.token) for task in claimer.step().claimed]
        at_first = claimer.measure(ended)
        for _ in range(1_000):
            ended = [Ended(task.token) for task in claimer.step(ended).claimed]

        later, anew = claimer.measure(ended), Measured(line).measure(ended)

    turns = 30 if tasks[0].account else 0  # they have dead versions too
    assert later <= at_first + 5 + turns
    assert anew >= later + 20


def test_pg_boss_876_the_indexes_of_claims_do_not_grow_with_what_went_through(line: Line) -> None:
    """An index of 130 MB for 136 kB of rows. Pages that vacuum has emptied are used again (Q14).

    Where they are not, each round adds its own; a snapshot of autovacuum's may cost a round or two.
    """
    alive("w")
    claimer = Claimer("w", KINDS, line.execute)
    sizes: list[int] = []
    for _ in range(6):
        enqueue_many("test.work", [New(account=str(number % 50)) for number in range(500)] + [New()] * 1_500)
        ended: list[Ended] = []
        while claimed := claimer.step(ended, most=512).claimed:
            ended = [Ended(task.token) for task in claimed]
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM queue_task WHERE status = 'done'")
            cursor.execute("VACUUM queue_task")
            cursor.execute("VACUUM queue_turn")
            cursor.execute(
                "SELECT sum(pg_relation_size(indexrelid)) FROM pg_index"
                " WHERE indrelid IN ('queue_task'::regclass, 'queue_turn'::regclass)"
            )
            sizes.append(int(cursor.fetchone()[0]))

    assert Task.objects.count() == 0
    assert any(later <= earlier for earlier, later in pairwise(sizes))


def test_bug_15715_a_plan_made_for_an_empty_table_reads_no_table_that_has_grown(line: Line) -> None:
    """A worker keeps the plan of its first claim, which was made when nothing was queued (Q3)."""
    alive("w")
    for statement in step_statements(tuple(KINDS.items())):
        numbered, names = numbered_of(statement)
        line.execute(f"PREPARE probe AS {numbered}", {})
        values = ", ".join(["NULL"] * len(names))
        [[[kept]]] = line.execute(f"EXPLAIN (FORMAT JSON) EXECUTE probe({values})", {})
        line.execute("DEALLOCATE probe", {})

        assert reads_all(kept["Plan"]) == []


def test_river_785_one_that_promotes_waits_for_no_other() -> None:
    """FOR UPDATE without SKIP LOCKED: the second scheduler stood behind the first (Q3)."""
    tasks = [TaskFactory.create(not_before=Now(), position=None) for _ in range(3)]
    with transaction.atomic():
        Task.objects.select_for_update().get(pk=tasks[0].pk)
        assert elsewhere(claims.promote) == 2

    assert claims.promote() == 1


def test_e11_a_promotion_that_dies_half_way_has_promoted_half_and_the_rest_follows() -> None:
    """50,000 parked tasks become due at once while workers run: pieces, each of them whole (Q3, Q8)."""
    enqueue_many("test.work", [New()] * 2_500)
    Task.objects.update(status=TaskStatus.AWAITING_BATCH, position=None)
    pieces: list[str] = []

    def die(execute: Any, statement: str, *rest: Any) -> Any:
        pieces.append(statement)
        if len(pieces) == 2:
            raise KeyboardInterrupt
        return execute(statement, *rest)

    with connection.execute_wrapper(die), pytest.raises(KeyboardInterrupt):
        claims.promote()

    in_line = Task.objects.filter(position__isnull=False)
    assert in_line.count() == 1_000
    assert claim("w") is not None  # workers go on meanwhile
    assert claims.promote() == 1_500
    assert in_line.count() == 2_499
    assert claims.promote() == 0
