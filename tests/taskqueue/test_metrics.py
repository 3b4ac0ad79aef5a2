"""The queue for Prometheus, over HTTP: figures of the fleet, for whoever may ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from taskqueue import metrics
from taskqueue.models import HostBudget, TaskStatus, Turn
from taskqueue.services import watching
from taskqueue.views import scrape
from tests.taskqueue.connections import at_once, elsewhere
from tests.taskqueue.factories import (
    DoneTaskFactory,
    FailedTaskFactory,
    HostBudgetFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
    lose,
)

pytestmark = pytest.mark.django_db

Figures = dict[str, dict[tuple[str, ...], float]]
Get = Callable[[], Figures]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """What other tests left in the process's memory is not told."""
    scrape.forget()
    yield
    scrape.forget()


@pytest.fixture
def on_this_machine(settings: Any) -> None:
    settings.IS_LOCAL, settings.METRICS_TOKEN = True, ""


@pytest.fixture
def read(client: Client, on_this_machine: None) -> Get:
    def read() -> Figures:
        scrape.forget()
        answer = client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        families = text_string_to_metric_families(answer.content.decode())
        samples = [sample for family in families for sample in family.samples]
        figures: Figures = {}
        for sample in samples:
            name = sample.name.removeprefix("rolecall_queue_")
            labels = tuple(value for _, value in sorted(sample.labels.items()))
            figures.setdefault(name, {})[labels] = sample.value
        return figures

    return read


def test_tasks_are_counted_by_kind_and_state(read: Get) -> None:
    later = timezone.now() + timedelta(hours=1)
    WorkerFactory.create(kinds=["test.work"], release="abc123")
    TaskFactory.create(not_before=timezone.now() - timedelta(minutes=5))
    TaskFactory.create(account="7")
    TaskFactory.create(not_before=later)
    TaskFactory.create(status=TaskStatus.AWAITING_BATCH, not_before=later)
    TaskFactory.create(status=TaskStatus.WAITING)
    RunningTaskFactory.create()
    TaskFactory.create(kind="test.unknown")
    FailedTaskFactory.create()
    FailedTaskFactory.create(finished_at=timezone.now() - timedelta(hours=2))

    figures = read()

    states = {state: figures["tasks"]["test.work", state] for state in metrics.STATES}
    assert states == {"in_line": 2, "not_due": 1, "awaiting_batch": 1, "waiting": 1, "running": 1}
    assert 290 < figures["oldest_in_line_seconds"]["test.work",] < 1_000
    assert figures["orphans"] == {("test.work",): 0, ("test.unknown",): 1}
    assert figures["failed_last_hour"]["test.work",] == 1
    assert figures["ended_last_minute"] == {("test.work", "failed"): 1}


def test_a_kind_that_a_worker_runs_is_told_with_nothing_in_it(read: Get) -> None:
    """A series that comes and goes cannot be alarmed on."""
    WorkerFactory.create(kinds=["test.work"])

    figures = read()

    assert figures["tasks"]["test.work", "in_line"] == 0
    assert figures["oldest_in_line_seconds"]["test.work",] == 0


def test_workers_are_told_by_release_and_state(read: Get) -> None:
    """D4, Q6."""
    WorkerFactory.create(name="a", release="new")
    WorkerFactory.create(name="b", release="old")
    WorkerFactory.create(name="c", release="old")
    lose("c")
    WorkerFactory.create(name="d", release="old", lost_at=timezone.now())
    Turn.objects.create(lane="account:7", number=1, task_id=1)
    Turn.objects.create(lane="host:a.example.com", number=1, task_id=2)
    Turn.objects.create(lane="host:a.example.com", number=2)

    figures = read()

    assert figures["workers"] == {
        ("new", "live"): 1,
        ("old", "live"): 1,
        ("old", "silent"): 1,
        ("old", "lost"): 1,
    }
    assert figures["turns_taken"] == {("account",): 1, ("host",): 1}


def test_hosts_losses_and_the_database_are_told(read: Get) -> None:
    """Q9, A6."""
    HostBudgetFactory.create(host="a.example.com", accepted=40, refused=2)
    HostBudget.objects.refuse("closed.example.com", 3_600)
    watching.note_reaped(reaped=3, lost=1)

    figures = read()

    assert figures["hosts_closed"] == {(): 1}
    assert (figures["host_eased_total"][()], figures["host_refused_total"][()]) == (40, 3)
    assert (figures["reaped_last_hour"][()], figures["lost_last_hour"][()]) == (3, 1)
    assert {table for _, table in figures["table_rows"]} == {"queue_task", "queue_turn", "queue_worker"}
    assert figures["longest_transaction_seconds"][()] >= 0
    assert figures["rolecall_info"]


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_keeps_vacuum_back_shows(read: Get) -> None:
    def read_after_another() -> Figures:
        TaskFactory.create()
        return read()

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT 1")
        figures = elsewhere(read_after_another)

    assert figures["oldest_snapshot_transactions"][()] > 0


def test_finished_tasks_are_not_counted_beyond_the_last_minute(read: Get) -> None:
    """Q14."""
    DoneTaskFactory.create(finished_at=timezone.now() - timedelta(minutes=5))
    DoneTaskFactory.create()
    DoneTaskFactory.create(parent=TaskFactory.create(status=TaskStatus.WAITING))

    assert read()["ended_last_minute"] == {("test.work", "done"): 1}


@pytest.mark.django_db(transaction=True)
def test_many_scrapes_at_once_read_once(on_this_machine: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        first = Client().get("/metrics").content
    assert len(queries) > 5
    TaskFactory.create(kind="test.later")

    others = at_once([lambda: Client().get("/metrics").content] * 4)

    assert set(others) == {first}


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_slow_fails_the_scrape_and_tells_nothing_old(
    on_this_machine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "READ_SECONDS", 0.2)
    assert Client().get("/metrics").status_code == 200
    scrape.forget()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE queue_task IN ACCESS EXCLUSIVE MODE")
        answer = elsewhere(partial(Client().get, "/metrics"))

    assert answer.status_code == 503
    assert b"statement timeout" in answer.content
    assert Client().get("/metrics").status_code == 200


def test_with_a_token_only_who_shows_it_may_ask(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "0123456789abcdef"

    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer 0123456789abcdef"}).status_code == 200


@pytest.mark.parametrize(
    "name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"]
)
def test_without_a_token_what_a_proxy_forwards_is_refused(
    client: Client, on_this_machine: None, name: str
) -> None:
    """Behind a proxy on this machine everybody looks local."""
    assert client.get("/metrics", headers={name: "for=203.0.113.9"}).status_code == 404


@pytest.mark.parametrize("address", ["203.0.113.9", "10.0.0.7", "", "not an address"])
def test_without_a_token_no_other_machine_may_ask(
    client: Client, on_this_machine: None, address: str
) -> None:
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 404


def test_with_a_database_of_its_own_a_server_needs_the_token(client: Client, settings: Any) -> None:
    settings.IS_LOCAL, settings.METRICS_TOKEN = False, ""

    assert client.get("/metrics").status_code == 404


def test_nothing_is_posted(client: Client, on_this_machine: None) -> None:
    assert client.post("/metrics").status_code == 405
