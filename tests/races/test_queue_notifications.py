"""Q13 and the wake-up: who is notified of what, and when. Heard on a session of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from taskqueue.models import Task
from taskqueue.services import (
    New,
    claims,
    enqueue,
    enqueue_children,
    enqueue_many,
    request_cancel,
    retry,
    tasks,
)
from taskqueue.sql import CANCEL_CHANNEL, CHANGED_CHANNEL, WAKE_CHANNEL
from taskqueue.worker.pulse import Pulse
from tests.taskqueue.factories import FailedTaskFactory, RunningTaskFactory, TaskFactory, claim_of
from tests.taskqueue.lines import SharedLine, look

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

FOR_EVER_SECONDS = 3_600.0
LAST = "test_last"


class Ear:
    """What was notified on the queue's channels since it was asked before."""

    def __init__(self, session: psycopg.Connection[Any], voice: psycopg.Connection[Any]) -> None:
        self._session = session
        self._voice = voice
        self.payloads: list[str] = []
        for channel in (WAKE_CHANNEL, CANCEL_CHANNEL, CHANGED_CHANNEL, LAST):
            session.execute(f"LISTEN {channel}")

    def hear(self) -> list[str]:
        """The channels, in order. What was sent until now has come when the last word has."""
        self._voice.execute(f"NOTIFY {LAST}")
        heard: list[str] = []
        for notify in self._session.notifies(timeout=30):
            if notify.channel == LAST:
                return heard
            heard.append(notify.channel)
            self.payloads.append(notify.payload)
        raise AssertionError("the last word was not heard")

    def wakes(self) -> int:
        return self.hear().count(WAKE_CHANNEL)


@pytest.fixture
def ear() -> Iterator[Ear]:
    where = {**connection.get_connection_params(), "autocommit": True}
    with psycopg.connect(**where) as session, psycopg.connect(**where) as voice:
        yield Ear(session, voice)


@pytest.fixture(autouse=True)
def _nothing_was_notified_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes between two calls unless the test says so."""
    monkeypatch.setattr(tasks, "WAKE_SECONDS", FOR_EVER_SECONDS)
    connection.ensure_connection()
    monkeypatch.setattr(connection, "notified_at", -FOR_EVER_SECONDS, raising=False)


def test_of_a_quick_series_the_first_is_notified(ear: Ear) -> None:
    """Each takes a lock that the whole server shares; and a worker that is awake looks again anyhow."""
    for _ in range(5):
        enqueue("test.work")

    assert ear.wakes() == 1
    assert Task.objects.count() == 5


def test_one_that_comes_later_is_notified_again(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue("test.work")
    monkeypatch.setattr(tasks, "WAKE_SECONDS", 0.0)
    enqueue("test.work")

    assert ear.wakes() == 2


def test_an_urgent_task_is_always_notified(ear: Ear) -> None:
    for _ in range(3):
        enqueue("test.work", priority=10)

    assert ear.wakes() == 3


def test_a_transaction_is_notified_once_when_it_commits_however_quick_it_follows(ear: Ear) -> None:
    enqueue("test.work")
    assert ear.wakes() == 1
    for _ in range(2):
        with transaction.atomic():
            enqueue("test.work")
            enqueue("test.work")
            assert ear.hear() == []
        assert ear.wakes() == 1


def test_a_transaction_that_is_rolled_back_is_not_notified_and_counts_for_nothing(ear: Ear) -> None:
    with transaction.atomic():
        enqueue("test.work")
        transaction.set_rollback(True)
    enqueue("test.work")

    assert ear.wakes() == 1


def test_a_key_that_was_taken_is_no_notification_and_the_next_task_is(ear: Ear) -> None:
    TaskFactory.create(dedupe_key="work:1")
    assert not enqueue("test.work", key="work:1").created
    assert ear.hear() == []

    enqueue("test.work")

    assert ear.wakes() == 1


def test_many_at_once_are_one_notification(ear: Ear) -> None:
    enqueue_many("test.work", [New({"number": number}) for number in range(50)])
    enqueue_many("test.work", [New(key=f"work:{number}") for number in range(50)])

    assert ear.wakes() == 2


def _hurry(task: Task) -> None:
    claims.try_again(task.token, error="timeout")
    Task.objects.filter(pk=task.pk).update(not_before=timezone.now())
    claims.promote()


WAKING: dict[str, Callable[[Task], object]] = {
    "released": lambda task: claims.release(task.token),
    "parked until now": lambda task: claims.park(task.token, until=timezone.now()),
    "split": lambda task: enqueue_children(claim_of(task), "test.part", [{"chunk": 1}]),
    "never heard of": lambda task: claims.give_back_unknown(task.worker, in_hand=[]),
    "retried by hand": lambda task: retry(FailedTaskFactory.create().pk),
    "promoted": lambda task: _hurry(task),
}
QUIET: dict[str, Callable[[Task], object]] = {
    "done": lambda task: claims.finish(task.token),
    "failed": lambda task: claims.fail(task.token, error="broken"),
    "tried again later": lambda task: claims.try_again(task.token, error="timeout"),
    "parked": lambda task: claims.park(task.token, until=timezone.now() + timedelta(hours=1)),
    "nothing to promote": lambda task: claims.promote(),
}


@pytest.mark.parametrize("change", WAKING.values(), ids=WAKING)
def test_whatever_puts_a_task_in_line_wakes_somebody(ear: Ear, change: Callable[[Task], object]) -> None:
    """A poll would find it, a second later."""
    task = RunningTaskFactory.create()

    change(task)

    assert ear.wakes() >= 1


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
def test_what_puts_nothing_in_line_wakes_nobody(ear: Ear, change: Callable[[Task], object]) -> None:
    task = RunningTaskFactory.create()

    change(task)

    assert ear.wakes() == 0


def test_a_cancel_of_what_runs_is_told_to_the_workers_and_to_the_pages(ear: Ear) -> None:
    """Q10, Q13."""
    request_cancel(RunningTaskFactory.create().pk)

    assert set(ear.hear()) == {CANCEL_CHANNEL, CHANGED_CHANNEL}


@pytest.mark.parametrize(
    "about", [{"account": "person:1"}, {"subject": "source:1"}], ids=["whose", "of what"]
)
def test_pages_hear_of_tasks_that_somebody_may_look_at(ear: Ear, about: dict[str, Any]) -> None:
    """Q13: by the account or by the subject."""
    enqueue("test.work")
    assert CHANGED_CHANNEL not in ear.hear()

    enqueue("test.work", **about)

    assert CHANGED_CHANNEL in ear.hear()


def test_progress_is_told_to_the_pages_and_the_same_again_is_not(ear: Ear) -> None:
    claim = claim_of(RunningTaskFactory.create())
    claim.progress(1, 3)
    look(claim)
    assert ear.hear() == [CHANGED_CHANNEL]

    claim.progress(1, 3)
    look(claim)

    assert ear.hear() == []


def test_of_very_many_that_changed_pages_hear_in_one_commit(ear: Ear) -> None:
    """Short tasks of accounts end by the thousands: each hundred took a commit."""
    ids = range(10**18, 10**18 + 1_000)
    pulse = Pulse("w", [], SharedLine())
    for task_id in ids:
        pulse.announce(task_id)

    with CaptureQueriesContext(connection) as sent:
        pulse.publish()
        pulse.publish()

    assert len(sent) == 1
    assert set(ear.hear()) == {CHANGED_CHANNEL}
    assert sorted(int(task_id) for payload in ear.payloads for task_id in payload.split(",")) == list(ids)
