"""What other queues' users reported about queues that grew: plans, dead rows, bloat, fairness, retention.

A test is named after the report it would have failed. Nothing is timed: plans are read, and the pages and
rows that statements touch are counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from taskqueue.models import HostBudget, Task, TaskStatus
from taskqueue.overview import overview
from taskqueue.services import (
    claims,
    enqueue,
    enqueue_children,
    enqueue_many,
    request_cancel,
    retention,
    retry,
    watching,
)
from taskqueue.services.claiming import Claimer, Ended, step_statements
from taskqueue.services.families import end_parents
from taskqueue.services.prepared import numbered_of
from taskqueue.services.schedules import enqueue_due, every
from taskqueue.services.tasks import New
from taskqueue.services.waiting import run_now
from taskqueue.services.workers import bury, forget_worker, register
from taskqueue.sql import claiming, enqueueing, families, hosts, keeping, leaving
from taskqueue.sql import watching as watching_sql
from taskqueue.worker.line import Line
from tests.taskqueue.factories import DoneTaskFactory, TaskFactory, alive, claim, claim_of
from tests.taskqueue.lines import SharedLine

KINDS = {"test.work": 5}
WRITES = ("WITH", "INSERT", "UPDATE", "DELETE")
TABLES = "queue_task, queue_turn, queue_worker, queue_hostbudget"

# 100,000 rows, of which a worker that runs test.work may start the last 1,000 and zoe's.
CROWD = """
    INSERT INTO queue_task (kind, account, host, status, position, not_before, finished_at, created_at)
    SELECT 'test.work', '', '', 'done', NULL, moment, moment, moment
      FROM generate_series(1, 80000 / %(part)s) AS n,
           LATERAL (SELECT now() - n * interval '1 minute' AS moment) AS at
    UNION ALL
    SELECT 'test.work', 'busy', '', 'pending', now() - n * interval '1 s', now(), NULL, now()
      FROM generate_series(1, 10000 / %(part)s) AS n
    UNION ALL
    SELECT 'test.work', '', 'closed.example', 'pending', now() - n * interval '1 s', now(), NULL, now()
      FROM generate_series(1, 4000 / %(part)s) AS n
    UNION ALL
    SELECT 'test.unknown', '', '', 'pending', now() - n * interval '1 s', now(), NULL, now()
      FROM generate_series(1, 3000 / %(part)s) AS n
    UNION ALL
    SELECT 'test.work', '', '', 'awaiting_batch', NULL, now() + n * interval '1 hour', NULL, now()
      FROM generate_series(1, 1999 / %(part)s) AS n
    UNION ALL
    SELECT 'test.work', '', '', 'pending', now() + n * interval '1 s', now(), NULL, now()
      FROM generate_series(1, 1000 / %(part)s) AS n
    UNION ALL
    SELECT 'test.work', 'zoe', '', 'pending', now() + interval '1 hour', now(), NULL, now();
    INSERT INTO queue_turn (lane, number, task_id) VALUES ('account:busy', 1, 0);
    INSERT INTO queue_hostbudget (host, egress, next_slot_at)
    VALUES ('closed.example', %(egress)s, now() + interval '1 day');
"""


@pytest.fixture(scope="module")
def crowd(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A large queue, committed once for all tests that look at it; what they do to it is rolled back."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES} CASCADE")
        cursor.execute(CROWD, {"egress": settings.FETCH_EGRESS, "part": 1})
        cursor.execute("ANALYZE queue_task")
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES} CASCADE")
    connection.close()


@pytest.fixture
def pinned(db: None) -> Callable[[], None]:
    """The test's own session plans as a worker's does from the call on; its settings are read off one."""
    line = Line("settings")
    chosen = line.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'", {})
    line.close()
    planning = {
        name: value for name, value in chosen if name.startswith(("enable_", "plan_", "join_", "jit"))
    }

    def pin() -> None:
        with connection.cursor() as cursor:
            for name, value in planning.items():
                cursor.execute("SELECT set_config(%s, %s, true)", [name, value])

    return pin


@contextmanager
def explained() -> Iterator[list[tuple[str, Any]]]:
    """Every statement of the block, with its plan."""
    seen: list[tuple[str, Any]] = []

    def explain(execute: Any, statement: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        if statement.split(maxsplit=1)[0] in ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"):
            execute(f"EXPLAIN (FORMAT JSON) {statement}", params, many, context)
            seen.append((statement, context["cursor"].fetchone()[0][0]["Plan"]))
        return execute(statement, params, many, context)

    with connection.execute_wrapper(explain):
        yield seen


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def reads_all(plan: Mapping[str, Any]) -> list[str]:
    """Parts of the plan that read all tasks there are, in the order of the table or of its primary key."""
    return [
        f"{node['Node Type']} {node.get('Index Name', '')}"
        for node in nodes(plan)
        if (node["Node Type"] == "Seq Scan" and node["Relation Name"] == "queue_task")
        or (node.get("Index Name") == "queue_task_pkey" and "Index Cond" not in node)
    ]


def use_every_statement() -> None:
    """All that the queue can be asked to do, once."""
    register("worker-1", kinds=["test.work"])
    for number in range(12):
        enqueue("test.work", payload={"n": number}, subject="source:1", account=str(number), priority=5)
    enqueue_many("test.work", [New(key="one"), New()])
    enqueue_due("test.work", every(3600, subject="source:2"))
    held = [task for _ in range(9) if (task := claim("worker-1", KINDS))]
    parent = claim_of(held[0])
    enqueue_children(parent, "test.work", [{"child": 1}])
    claims.save_progress(parent.token, {"done": 1})
    claims.hold(parent.token)
    SharedLine().execute(claiming.BEAT, {"worker": "worker-1", "lease": 60, "memory": None})
    claims.wait(parent.token)
    claims.park(held[1].token, until=timezone.now())
    claims.try_again(held[2].token, error="")
    claims.fail(held[3].token, error="")
    claims.finish(held[4].token)
    claimer = Claimer("worker-1", KINDS)
    claimer.step([Ended(held[5].token)], most=3)
    claimer.step(most=0)
    end_parents()
    request_cancel(held[0].pk)
    retry(held[0].pk)
    assert run_now(held[2].pk)
    claims.give_back_unknown("worker-1", in_hand=[held[6].pk])
    bury("1")
    forget_worker("worker-1")
    claims.reap()
    claims.promote()
    claims.free_turns()
    retention.free_keys()
    DoneTaskFactory.create(finished_at=timezone.now() - timedelta(days=999))
    retention.prune()
    HostBudget.objects.take("new.example")
    HostBudget.objects.refuse("new.example")
    HostBudget.objects.accept("new.example")
    watching.sample()
    watching.note_reaped(reaped=1, lost=0)


def _beginning(statement: str) -> str:
    """As much of a statement as no parameter changes."""
    return " ".join(statement.split("{")[0].split("%")[0].split())


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["empty", "never analyzed", "analyzed"])
def test_good_job_813_no_statement_of_the_queue_reads_the_whole_table(
    state: str, crowd: None, pinned: Callable[[], None]
) -> None:
    """Finished jobs came into the claim's plan: 68 seconds a claim. Whatever the statistics say (Q14)."""
    with connection.cursor() as cursor:
        if state == "empty":
            cursor.execute(f"TRUNCATE {TABLES} CASCADE")
        if state == "never analyzed":
            cursor.execute("SELECT pg_clear_relation_stats('public', 'queue_task')")
            cursor.execute(
                "SELECT pg_clear_attribute_stats('public', 'queue_task', attname::text, false)"
                " FROM pg_stats WHERE tablename = 'queue_task'"
            )
    pinned()

    with explained() as seen:
        use_every_statement()

    bad = {statement: reads_all(plan) for statement, plan in seen}
    if state == "empty":  # what has a page can be read as it lies, but for a plan that a worker keeps
        bad = {statement: some for statement, some in bad.items() if "Seq Scan" in str(some)}
    assert not any(bad.values()), bad
    texts = {" ".join(statement.split()) for statement, _ in seen}
    for module in (claiming, enqueueing, families, hosts, keeping, leaving, watching_sql):
        for name, statement in vars(module).items():
            if name == "ENQUEUE":  # prepared, beside Django's cursors; it looks nothing up but its key
                continue
            if name.isupper() and isinstance(statement, str) and statement.split()[0] in WRITES:
                assert any(_beginning(statement) in text for text in texts), name


@pytest.mark.django_db
def test_bug_15715_no_generic_plan_of_a_worker_reads_the_whole_table(crowd: None) -> None:
    """A generic plan takes LIMIT $1 for a tenth of the table, and reading all of that for cheap (Q3)."""
    line = Line("generic")
    steps = step_statements(tuple(KINDS.items()))
    statements = [*steps, claiming.BEAT, claiming.SAVE_PROGRESS]
    for statement in statements:
        numbered, names = numbered_of(statement)
        line.execute(f"PREPARE probe AS {numbered}", {})
        values = ", ".join(["NULL"] * len(names))
        [[[plan]]] = line.execute(f"EXPLAIN (FORMAT JSON) EXECUTE probe({values})", {})
        assert re.search(r"\$\d", json.dumps(plan))  # it is one
        assert reads_all(plan["Plan"]) == []
        if statement in steps:  # all that ran lately is in there, until vacuum may remove it
            assert "queue_task_in_hand" not in {node.get("Index Name") for node in nodes(plan["Plan"])}
        line.execute("DEALLOCATE probe", {})
    line.close()


@pytest.mark.django_db
def test_good_job_1594_a_claim_touches_as_few_pages_in_a_crowd_as_in_a_small_queue(
    crowd: None, pinned: Callable[[], None]
) -> None:
    """The claim took 68 seconds in a table of finished jobs. What ended or is blocked costs nothing (Q14)."""
    pinned()
    alive("w")
    crowded = pages_of_a_claim()
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES} CASCADE")
        cursor.execute(CROWD, {"egress": settings.FETCH_EGRESS, "part": 100})
    alive("w")

    assert crowded < 3 * pages_of_a_claim()  # an index that is a level deeper is one page more


@pytest.mark.django_db
def test_graphile_getjobs_the_free_are_not_kept_waiting_by_the_blocked_before_them(crowd: None) -> None:
    """With 100,000 stuck jobs in front it ran 40 a second of 11,800, as each claim stepped over them all.

    Here 17,000 stand in front: of one account whose turn is taken, of a closed host, of an unknown kind. One
    statement each hands out the first task without a lane and the one of an account that has its turn (Q4).
    """
    alive("w")
    claimer = Claimer("w", KINDS)

    with explained() as seen:
        claimed = [task for _ in range(2) for task in claimer.step().claimed]

    assert len([statement for statement, _ in seen if "queue_turn" in statement]) == 2
    assert sorted((task.account, task.host) for task in claimed) == [("", ""), ("zoe", "")]


@pytest.mark.django_db
def test_river_785_what_becomes_due_is_found_by_its_date(crowd: None, pinned: Callable[[], None]) -> None:
    """Promoting scheduled jobs read the whole table, and one who promoted waited for the other (Q3)."""
    late = Task.objects.filter(status=TaskStatus.AWAITING_BATCH).order_by("pk")[:3]
    Task.objects.filter(pk__in=[task.pk for task in late]).update(not_before=Now())
    pinned()

    with explained() as seen:
        assert claims.promote() == 3

    assert "queue_task_not_due" in {node.get("Index Name") for _, plan in seen for node in nodes(plan)}


@pytest.mark.django_db
def test_hexpm_1773_looking_at_the_queue_counts_nothing_that_has_ended(crowd: None) -> None:
    """Counting the queues every few seconds was the database's largest load (Q14)."""
    with explained() as seen:
        figures = overview(6)

    assert not figures["is_late"]
    assert sum(kind.counts["in_line"] for kind in watching.kinds()) == 18_001
    assert [(statement, bad) for statement, plan in seen if (bad := reads_all(plan))] == []


@pytest.mark.django_db
@pytest.mark.parametrize("nestloop", ["on", "off"])
@pytest.mark.parametrize("others", ["on", "off"])
@pytest.mark.parametrize("most", [1, 7])
def test_bug_15715_a_claim_takes_as_many_as_it_was_asked_for(
    crowd: None, nestloop: str, others: str, most: int
) -> None:
    """LIMIT 1 in a sub-select was run once a row, and claimed many. Whatever the plan, it is 1 (Q3)."""
    TaskFactory.create_batch(3, priority=5)
    TaskFactory.create_batch(3, account="eve")
    alive("w")
    with connection.cursor() as cursor:
        for name in ("hashjoin", "mergejoin", "material", "memoize"):
            cursor.execute(f"SET LOCAL enable_{name} = {others}")
        cursor.execute(f"SET LOCAL enable_nestloop = {nestloop}")

    claimer = Claimer("w", KINDS)
    for number in range(1, 5):
        assert len(claimer.step(most=most).claimed) == most
        assert Task.objects.running().count() == number * most


@pytest.mark.django_db
def test_good_job_933_a_clean_up_is_many_bounded_statements(crowd: None, pinned: Callable[[], None]) -> None:
    """One DELETE of 7.4 million rows, without an index, timed out each night (Q14)."""
    pinned()
    too_old = Task.objects.filter(
        finished_at__lt=Now() - timedelta(days=settings.QUEUE_RETENTION_DAYS)
    ).count()
    deleted: list[int] = []

    def count(execute: Any, statement: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        result = execute(statement, params, many, context)
        if "DELETE FROM queue_task" in statement:
            deleted.append(context["cursor"].rowcount)
        return result

    with connection.execute_wrapper(count):
        assert retention.prune() == too_old

    assert max(deleted) == retention.MOST_AT_ONCE
    assert len(deleted) > too_old / retention.MOST_AT_ONCE


class Looked(Exception):
    """Enough has been seen."""


def pages_of_a_claim() -> int:
    """Of one that looks all round, and of the next, by a clock that counts the statements."""
    pages: list[int] = []

    def look(statement: str, values: Mapping[str, Any]) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
            [[[explained]]] = cursor.fetchall()
            pages.append(explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"])
            if len(pages) == 2:
                raise Looked
            cursor.execute(statement, values)
            return cursor.fetchall()

    claimer = Claimer("w", KINDS, look, clock=lambda: len(pages))
    assert claimer.step().claimed
    with pytest.raises(Looked):
        claimer.step()
    return sum(pages)
