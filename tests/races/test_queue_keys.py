"""Q1 between connections: competing insertions of one key."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest
from django.db import transaction

from taskqueue.errors import KeyHeld
from taskqueue.models import Task
from taskqueue.services import Enqueued, New, enqueue, enqueue_many, retry, tasks
from tests.taskqueue.connections import at_once, meanwhile, somebody_waits
from tests.taskqueue.factories import FailedTaskFactory
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def compete() -> Enqueued:
    return enqueue("test.work", payload={"from": "the other"}, key="work:1")


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "rolled back"])
def test_a_conflict_with_an_open_transaction_is_decided_by_its_end(is_committed: bool) -> None:
    """Nobody is told of a conflict with a row that never came to be."""
    with ExitStack() as outlasting:
        with transaction.atomic():
            mine = enqueue("test.work", payload={"from": "the first"}, key="work:1")
            other = outlasting.enter_context(meanwhile(compete))
            until(somebody_waits)
            transaction.set_rollback(not is_committed)
        result = other.result(timeout=30)

    task = Task.objects.get()
    assert result == Enqueued(task_id=task.pk, created=not is_committed)
    assert (task.pk == mine.task_id) is is_committed


def test_any_number_of_callers_converge_on_one_row() -> None:
    results = at_once([compete] * 6)

    assert sum(result.created for result in results) == 1
    assert {result.task_id for result in results} == {Task.objects.get().pk}


@pytest.mark.parametrize("batch", [5_000, 7], ids=["one statement", "many statements"])
def test_producers_of_many_in_opposite_orders_wait_for_each_other_and_never_both_ways(
    monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(tasks, "MOST_AT_ONCE", batch)
    keys = [f"{letter}-work:{number}" for number in range(60) for letter in "aBcÄ"]

    def produce(order: int) -> int:
        return enqueue_many("test.work", [New({"order": order}, key=key) for key in keys[::order]])

    created = at_once([partial(produce, order) for order in (1, -1) * 2])

    assert sum(created) == len(keys)
    assert set(Task.objects.values_list("dedupe_key", flat=True)) == set(keys)


def test_a_producer_of_many_yields_to_the_one_that_has_a_key_and_takes_it_after_a_rollback() -> None:
    def produce() -> int:
        return enqueue_many("test.work", [New(key="work:1"), New(key="work:2")])

    with ExitStack() as outlasting:
        with transaction.atomic():
            assert enqueue("test.work", key="work:1").created
            other = outlasting.enter_context(meanwhile(produce))
            until(somebody_waits)
            transaction.set_rollback(True)
        assert other.result(timeout=30) == 2


def test_an_open_transaction_of_one_producer_delays_no_other() -> None:
    """Enqueueing touches no shared row, whatever the tasks have in common but the key."""

    def produce(key: str) -> Enqueued:
        return enqueue(
            "test.work", key=key, subject="source:1", host="boards.example.com", account="person:1"
        )

    with transaction.atomic():
        produce("work:1")
        [result] = at_once([partial(produce, "work:2")])

    assert result.created


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "rolled back"])
def test_a_retry_yields_to_who_was_queued_with_its_key_meanwhile(is_committed: bool) -> None:
    """Two unfinished tasks of one key are one too many."""
    task = FailedTaskFactory.create(dedupe_key="work:1")
    with ExitStack() as outlasting:
        with transaction.atomic():
            since = enqueue("test.work", key="work:1")
            retried = outlasting.enter_context(meanwhile(partial(retry, task.pk)))
            until(somebody_waits)
            transaction.set_rollback(not is_committed)
        error = retried.exception(timeout=30)

    assert error is None if not is_committed else isinstance(error, KeyHeld)
    assert Task.objects.unfinished().get().pk == (since.task_id if is_committed else task.pk)


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "rolled back"])
def test_a_producer_yields_to_a_retry_that_took_the_key_meanwhile(is_committed: bool) -> None:
    task = FailedTaskFactory.create(dedupe_key="work:1")
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert retry(task.pk)
            other = outlasting.enter_context(meanwhile(compete))
            until(somebody_waits)
            transaction.set_rollback(not is_committed)
        result = other.result(timeout=30)

    assert result.created is not is_committed
    assert Task.objects.unfinished().get().pk == result.task_id
