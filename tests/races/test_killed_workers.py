"""kill -9 of a real worker in the middle of a pull and of a review: the task is taken over, once."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import Settings

from catalog.models import Listing, Observation, Posting, Pull
from catalog.services.sources import add_source
from reviews.models import Decision, ModelCall, Outcome, Verdict
from reviews.services.runs import start_run
from taskqueue.models import Task, Worker
from tests.catalog.servers import Exchange, Server, answer, serve
from tests.factories import make_filter, make_posting
from tests.races.test_crash_points import BOARD
from tests.taskqueue.connections import at_once, cut_connections
from tests.taskqueue.waiting import until
from tests.worker_process import kill, worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

ANSWER = {"verdict": "pass", "reason": "the title names the role", "quotes": ["We build tools for bakeries."]}
REPLY = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-test",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": json.dumps(ANSWER), "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}


class Slow:
    """A server that keeps its first caller waiting for ever and answers every later one."""

    def __init__(self, body: object) -> None:
        self.asked = threading.Event()
        self._reply = answer(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    def __call__(self, exchange: Exchange) -> None:
        if not self.asked.is_set():
            self.asked.set()
            exchange.stopped.wait(60)
        else:
            self._reply(exchange)


def kill_at_work(doomed: subprocess.Popen[bytes]) -> None:
    """Its lease is over at once, and whoever reaps it will find its task."""
    kill(doomed)
    assert Worker.objects.update(lease_expires_at=Now()) == 1


def hurry() -> None:
    """The dead worker's successor starts at once instead of after the backoff."""
    until(lambda: not Task.objects.running().exists() or Task.objects.filter(attempts__gt=1).exists())
    Task.objects.filter(status="pending").update(not_before=Now())


@pytest.fixture
def slow_board() -> Iterator[tuple[Slow, Server]]:
    slow = Slow(BOARD)
    with serve(slow) as server:
        yield slow, server


def test_a_worker_killed_in_the_middle_of_a_pull_is_followed_by_one_that_does_it_once(
    slow_board: tuple[Slow, Server],
) -> None:
    slow, server = slow_board
    fetching = {
        "FETCH_ALLOW_PRIVATE_HOSTS": [server.pair],
        "FETCH_BASE_URL_OVERRIDES": {"https://boards-api.greenhouse.io": server.base},
    }
    add_source(url="https://boards.greenhouse.io/acme")

    with worker(**fetching) as doomed:
        assert slow.asked.wait(30)
        kill_at_work(doomed)
    with worker(**fetching):
        hurry()
        until(lambda: Task.objects.filter(kind="catalog.pull", status="done").exists())

    task = Task.objects.get(kind="catalog.pull")
    assert task.attempts == 2
    assert sorted(Pull.objects.values_list("outcome", "fault")) == [
        ("complete", ""),
        ("failed", "interrupted"),
    ]
    assert (Listing.objects.count(), Posting.objects.count(), Observation.objects.count()) == (2, 2, 2)


def test_a_worker_killed_in_the_middle_of_a_review_loses_no_answer_and_counts_none_twice(
    settings: Settings,
) -> None:
    """R4, R7, B8: the question that died unanswered stays on the ledger as unknown, not as zero."""
    slow = Slow(REPLY)
    with serve(slow) as server:
        asking = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": f"{server.base}/v1"}
        settings.REVIEW_PROVIDER, settings.REVIEW_MODEL = "openai", "gpt-test"
        make_posting()
        start_run(make_filter(roles=["software engineer"]).current())

        with worker(**asking) as doomed:
            assert slow.asked.wait(30)
            kill_at_work(doomed)
        assert ModelCall.objects.get().outcome == "sent"
        with worker(**asking):
            hurry()
            until(lambda: Outcome.objects.exists())
            until(lambda: not Task.objects.unfinished().filter(kind="reviews.answer").exists())

    assert Decision.objects.count() == 1
    assert Verdict.objects.get().status == "passed"
    assert Outcome.objects.get().call == ModelCall.objects.get(outcome="answered")
    unknown = ModelCall.objects.get(outcome="sent")
    assert (unknown.input_tokens, unknown.finished_at) == (None, None)


def test_a_database_that_went_away_is_waited_for_and_work_goes_on(slow_board: tuple[Slow, Server]) -> None:
    slow, server = slow_board
    slow.asked.set()  # answer everybody at once
    fetching = {
        "FETCH_ALLOW_PRIVATE_HOSTS": [server.pair],
        "FETCH_BASE_URL_OVERRIDES": {"https://boards-api.greenhouse.io": server.base},
    }
    with worker(**fetching) as running:
        until(lambda: Task.objects.filter(kind="boards.check").exists() or _sessions() >= 2)
        cut_connections()
        add_source(url="https://boards.greenhouse.io/acme")
        until(lambda: Task.objects.filter(kind="catalog.pull", status="done").exists())
        assert running.poll() is None


def _sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def test_a_process_with_many_connections_outlives_a_restart_of_the_database() -> None:
    """D2: what a restart broke is replaced at once, not tried one by one until every caller has given up."""
    at_once([_ask] * 6)  # as many connections, now idle in the pool
    cut_connections()

    assert at_once([_ask]) == [1]


def _ask() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_sleep(0.05)")
        return int(cursor.fetchone()[0])
