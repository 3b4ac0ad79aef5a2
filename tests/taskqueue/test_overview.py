"""The queue on one page, and its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from taskqueue import overview as pages
from taskqueue.models import HostBudget, Sample, Task, TaskStatus, Turn
from taskqueue.presentation import (
    Chart,
    Span,
    advance,
    chart,
    duration,
    is_still,
    number,
    round_count,
    round_seconds,
)
from taskqueue.services import watching
from taskqueue.services.watching import MINUTE, Moment
from taskqueue.sql import watching as sql
from tests.factories import UserFactory
from tests.taskqueue.connections import at_once, elsewhere
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
    lose,
)

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("operator", password="x" * 12))
    return client


def page(client: Client, query: str = "") -> str:
    response = client.get(reverse("admin:queue_overview") + query)
    assert response.status_code == 200
    return response.content.decode()


def full_queue() -> None:
    """Some of everything."""
    now = timezone.now()
    WorkerFactory.create(name="worker-1", kinds=["test.work"], release="abc123", memory_bytes=95_000_000)
    WorkerFactory.create(name="worker-2", kinds=["test.work"])
    still = RunningTaskFactory.create(
        subject="source:1",
        started_at=now - timedelta(minutes=30),
        progress={"done": 3, "total": 10, "note": "reading"},
        progress_at=now - timedelta(minutes=12),
    )
    RunningTaskFactory.create(worker="worker-2", progress={"done": 1, "total": None}, progress_at=now)
    RunningTaskFactory.create(worker="gone")
    lose("gone")
    Turn.objects.create(lane="account:7", number=1, task_id=still.pk)
    for _ in range(3):
        TaskFactory.create(account="7", not_before=now - timedelta(minutes=20))
    TaskFactory.create(kind="test.unknown")
    TaskFactory.create(not_before=now + HOUR)
    TaskFactory.create(status=TaskStatus.AWAITING_BATCH, not_before=now + HOUR)
    TaskFactory.create(status=TaskStatus.WAITING)
    FailedTaskFactory.create()
    FailedTaskFactory.create(finished_at=now - 2 * HOUR)
    HostBudget.objects.refuse("closed.example.com", 3_600)


def test_the_page_shows_the_queue_and_what_is_wrong_with_it(operator: Client) -> None:
    full_queue()
    watching.sample()

    shown = page(operator)

    for words in (
        "Nobody runs 1 kind with tasks in line",
        "no progress for 12 min",  # Q7
        "advancing",
        "not alive",
        "3 of 10 reading",
        "account:7",
        "1 of 1",
        "95 MB",
        "abc123",
        "its lease is over",
        "closed until",
    ):
        assert words in shown
    assert shown.count("<svg") >= 2


def test_the_figures_count_hot_rows_by_kind_and_state() -> None:
    full_queue()

    kinds = {kind.kind: kind for kind in watching.kinds()}

    work = kinds["test.work"]
    states = {"in_line": 3, "not_due": 1, "awaiting_batch": 1, "waiting": 1, "running": 3, "failed": 1}
    assert dict(work.counts) == states
    assert work.has_worker
    assert work.oldest_at is not None
    assert timedelta(minutes=19) < timezone.now() - work.oldest_at < timedelta(minutes=30)
    assert not kinds["test.unknown"].has_worker
    (lane,) = watching.lanes(10)
    assert (lane.lane, lane.in_line, lane.taken, lane.turns) == ("account:7", 3, 1, 1)


def test_a_longer_queue_takes_no_more_queries(operator: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(operator)
        return len(queries)

    full_queue()
    page(operator)
    few = count()
    full_queue_again = [RunningTaskFactory.create(worker=f"w{n}") for n in range(5)]
    TaskFactory.create_batch(5, account="9")

    assert full_queue_again
    assert count() == few


def test_an_empty_queue_says_what_to_start(operator: Client) -> None:
    shown = page(operator, "?hours=nonsense")

    assert "No worker has a row." in shown
    assert "a worker’s ticker takes one every minute" in shown.replace("&#x27;", "’").replace("'", "’")


def test_a_span_is_chosen_and_the_page_reloads_itself_on_demand(operator: Client) -> None:
    assert 'http-equiv="refresh"' not in page(operator)
    assert 'http-equiv="refresh"' in page(operator, "?hours=24&watch=on")
    assert '<b aria-current="true">1 day</b>' in page(operator, "?hours=24")


def test_who_may_not_see_tasks_sees_no_overview(client: Client) -> None:
    """Q15."""
    path = reverse("admin:queue_overview")
    assert client.get(path).status_code == 302
    client.force_login(UserFactory.create())
    assert client.get(path).status_code == 302

    staff = UserFactory.create(is_staff=True)
    client.force_login(staff)
    assert client.get(path).status_code == 403

    staff.user_permissions.add(Permission.objects.get(codename="view_task"))
    RunningTaskFactory.create()
    shown = client.get(path)
    assert shown.status_code == 200
    assert "/do/cancel/" not in shown.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_does_not_answer_in_time_is_said_and_not_waited_for(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "READ_SECONDS", 0.2)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE queue_task IN ACCESS EXCLUSIVE MODE")
        answer = elsewhere(partial(operator.get, reverse("admin:queue_overview")))

    assert answer.status_code == 200
    assert "The database did not answer in time." in answer.content.decode()


# Samples


@pytest.mark.django_db(transaction=True)
def test_of_all_tickers_one_takes_the_minute_s_sample() -> None:
    TaskFactory.create_batch(3, not_before=timezone.now() - timedelta(minutes=2))

    taken = at_once([watching.sample] * 4)

    assert sum(taken) == Sample.objects.count() >= 1
    sample = Sample.objects.latest("at")
    assert (sample.depth, sample.running, sample.failed) == (3, 0, 0)
    assert sample.oldest_seconds is not None
    assert 100 < sample.oldest_seconds < 1_000


def test_a_second_sample_of_the_minute_counts_nothing() -> None:
    TaskFactory.create()
    watching.sample()
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT TEXT) " + sql.SAMPLE)
        plan = [row[0] for row in cursor.fetchall()]

    if Sample.objects.count() == 1:  # the minute did not end in between
        assert not [line for line in plan if "queue_task" in line and "never executed" not in line]


def test_what_the_reaper_found_is_kept_with_the_minute_s_sample() -> None:
    """Q9."""
    watching.note_reaped(reaped=2, lost=1)
    watching.sample()
    watching.note_reaped(reaped=3, lost=0)

    assert watching.reaped_lately() == {"reaped": 5, "lost": 1}
    assert Sample.objects.exclude(depth=None).exists()


def test_samples_are_kept_for_a_week() -> None:
    now = timezone.now()
    Sample.objects.create(at=now - timedelta(days=8), depth=1)
    kept = Sample.objects.create(at=now - timedelta(days=6), depth=1)

    assert watching.sample()

    assert Sample.objects.earliest("at") == kept


@pytest.mark.parametrize(
    "statement",
    [sql.KINDS, sql.LANES % {"most": 5}, sql.SAMPLE, sql.ENDED],
    ids=["kinds", "lanes", "sample", "ended"],
)
def test_finished_rows_are_never_read(statement: str) -> None:
    """Q14: however many there are."""
    DoneTaskFactory.create_batch(3)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO queue_task (kind, status, attempts, finished_at, note)"
            " SELECT 'test.work', 'done', 1, statement_timestamp() - interval '1 day', repeat('x', 200)"
            " FROM generate_series(1, 20000)"
        )
        cursor.execute("ANALYZE queue_task")
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "Seq Scan on queue_task" not in plan


# The chart


def moments(depths: Sequence[int | None], since: datetime) -> list[Moment]:
    return [Moment(since + n * MINUTE, depth, None, None, None) for n, depth in enumerate(depths)]


def drawn(
    depths: Sequence[int | None], *, minutes: int = 10, words: Callable[[float | None], str] = number
) -> Chart:
    since = datetime(2026, 11, 29, 10, 0, tzinfo=timezone.get_fixed_timezone(0))
    return chart(
        "depth",
        "Tasks in line",
        moments(depths, since),
        Span(since, since + minutes * MINUTE, MINUTE),
        value=lambda moment: moment.depth,
        words=words,
        round_up=round_count,
    )


def test_a_missing_sample_is_a_gap_and_no_zero() -> None:
    line = drawn([4, 4, None, 0, 2]).line

    assert line == "M0.0,20.0L100.0,20.0L200.0,20.0 M300.0,100.0L400.0,60.0L500.0,60.0"


def test_a_single_sample_is_a_line_too() -> None:
    assert drawn([None, 5]).line == "M100.0,0.0L200.0,0.0"


def test_the_chart_is_told_in_words() -> None:
    told = drawn([3, 40, 7, *[7] * 7])

    assert told.latest == "7"
    assert told.top == "40"
    assert told.summary == "7 at 10:09 UTC, the newest sample; at most 40, at Nov 29, 10:01 UTC."
    assert told.spots[1].words == "Nov 29, 10:01 UTC: 40"


def test_an_old_sample_is_not_told_as_the_present() -> None:
    assert drawn([3]).latest == "unknown"
    assert drawn([]).latest == "unknown"


@pytest.mark.parametrize(("hours", "most"), [(1, 6), (6, 6), (24, 6), (168, 7)])
def test_the_time_axis_has_few_words_and_all_of_them_on_it(hours: int, most: int) -> None:
    ticks = drawn([1], minutes=60 * hours).ticks

    assert 3 <= len(ticks) <= most
    assert all(0 <= tick.left < 100 for tick in ticks)


def test_a_long_history_is_drawn_in_few_steps_each_the_worst_of_its_minutes() -> None:
    now = timezone.now().replace(second=0, microsecond=0)
    since = now - 24 * HOUR
    Sample.objects.bulk_create(Sample(at=since + n * MINUTE, depth=n % 8, failed=1) for n in range(1440))

    step, steps = watching.history(since, now)

    assert step == 8 * MINUTE
    assert len(steps) == 180
    assert {moment.depth for moment in steps} == {7}
    assert {moment.failed for moment in steps} == {8}


def test_figures_are_said_in_the_unit_that_fits() -> None:
    assert [duration(seconds) for seconds in (None, 0, 95, 240, 7_200, 200_000)] == [
        "unknown",
        "0 s",
        "95 s",
        "4 min",
        "2 h",
        "2 d",
    ]
    assert [round_seconds(seconds) for seconds in (0, 11, 4_000, 90_000)] == [10, 30, 10_800, 172_800]


def test_alive_is_not_advancing() -> None:
    """Q7."""
    now = timezone.now()
    silent = Task()
    quick = Task(progress_at=now - timedelta(seconds=5))
    still = Task(progress_at=now - timedelta(minutes=5))

    assert [advance(task, now) for task in (silent, quick, still)] == [
        "says nothing",
        "advancing",
        "no progress for 5 min",
    ]
    assert [is_still(task, now) for task in (silent, quick, still)] == [False, False, True]
