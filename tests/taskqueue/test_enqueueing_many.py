"""Q1 and Q14: many tasks at once, and what is too large to be one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from taskqueue.errors import PayloadTooLarge
from taskqueue.models import Task, TaskStatus
from taskqueue.services import New, enqueue, enqueue_children, enqueue_many, tasks
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory, claim, claim_of

pytestmark = pytest.mark.django_db


def test_what_the_caller_says_of_each_is_what_its_row_holds() -> None:
    said = New({"text": "50%\t\\N ‘it’\n"}, subject="source:1", account="person:1", host="boards.example.com")

    assert enqueue_many("test.work", [said, New({"number": 2}, key="work:2")], priority=20) == 2

    first, second = Task.objects.order_by("dedupe_key")[::-1]
    assert (first.payload, first.subject, first.account, first.host) == (
        said.payload,
        said.subject,
        said.account,
        said.host,
    )
    assert (second.payload, second.dedupe_key, second.lane) == ({"number": 2}, "work:2", "")
    for task in (first, second):
        assert (task.kind, task.priority, task.status, task.parent_id) == ("test.work", 20, "pending", None)


@pytest.mark.parametrize("is_keyed", [False, True], ids=["without keys", "with keys"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80))
@example(text="\\N\t\\.\r\n\b\f\v\x7f\\\\\u2028\U0001f9fe")
def test_no_character_is_lost_or_taken_for_a_sign(is_keyed: bool, text: str) -> None:
    key = "work" if is_keyed else None
    with transaction.atomic():
        enqueue_many(text, [New({text: text}, text, key, text, text)])
        (row,) = Task.objects.values_list("kind", "payload", "subject", "account", "host")
        transaction.set_rollback(True)

    assert row == (text, {text: text}, text, text, text)


@pytest.mark.parametrize("is_keyed", [False, True], ids=["without keys", "with keys"])
def test_they_are_due_at_once_and_run_in_the_order_given(is_keyed: bool) -> None:
    numbers = range(20)
    enqueue_many("test.work", [New({"number": n}, key=f"work:{n:02}" if is_keyed else None) for n in numbers])

    claimed = [task.payload["number"] for _ in numbers if (task := claim()) is not None]

    assert claimed == list(numbers)


def test_one_at_a_time_or_many_at_once_they_have_the_same_place_in_line() -> None:
    one = enqueue("test.work", priority=30).task_id
    enqueue_many("test.work", [New()], priority=30)

    single, many = Task.objects.get(pk=one), Task.objects.exclude(pk=one).get()
    assert many.position is not None
    assert single.position is not None
    assert many.position - many.not_before == single.position - single.not_before


def test_keys_that_are_taken_are_left_to_their_tasks_and_not_counted() -> None:
    holder = TaskFactory.create(dedupe_key="work:1", payload={"number": 1})
    kept = TaskFactory.create(status=TaskStatus.AWAITING_BATCH, dedupe_key="work:2")

    created = enqueue_many("test.work", [New({"number": 9}, key=f"work:{n}") for n in (3, 1, 2, 4)])

    assert created == 2
    assert set(Task.objects.values_list("dedupe_key", flat=True)) == {f"work:{n}" for n in (1, 2, 3, 4)}
    holder.refresh_from_db()
    kept.refresh_from_db()
    assert (holder.payload, kept.status) == ({"number": 1}, TaskStatus.AWAITING_BATCH)


def test_a_key_named_twice_has_one_task() -> None:
    assert enqueue_many("test.work", [New(key="work:1"), New(key="work:1"), New(), New()]) == 3


def test_the_number_of_statements_grows_by_the_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the batch, it is never held in one statement's parameters as a whole."""
    monkeypatch.setattr(tasks, "MOST_AT_ONCE", 10)
    with CaptureQueriesContext(connection) as few:
        assert enqueue_many("test.work", [New(key=f"few:{n}") for n in range(10)]) == 10
    with CaptureQueriesContext(connection) as many:
        assert enqueue_many("test.work", (New(key=f"many:{n}") for n in range(35))) == 35

    assert len(many) == len(few) + 3


def test_nothing_to_queue_queues_nothing() -> None:
    assert enqueue_many("test.work", []) == 0


def test_children_are_queued_beside_them_as_before() -> None:
    parent = RunningTaskFactory.create()
    enqueue_many("test.part", [New({"chunk": 1})])

    assert enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}]) == 1

    assert Task.objects.filter(kind="test.part", parent=None).count() == 1
    assert Task.objects.filter(parent=parent).count() == 1


WAYS: dict[str, Callable[[dict[str, str]], object]] = {
    "one": lambda payload: enqueue("test.work", payload=payload),
    "many": lambda payload: enqueue_many("test.work", [New({"text": "small"}), New(payload)]),
    "many with keys": lambda payload: enqueue_many(
        "test.work", [New({"text": "small"}, key="work:1"), New(payload, key="work:2")]
    ),
    "children": lambda payload: enqueue_children(
        claim_of(RunningTaskFactory.create()), "test.work", [{"text": "small"}, payload]
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_payload_that_is_too_large_is_refused_and_nothing_of_its_call_is_queued(
    settings: Settings, way: Callable[[dict[str, str]], object]
) -> None:
    settings.QUEUE_PAYLOAD_MAX_BYTES = 1_000

    with pytest.raises(PayloadTooLarge, match=r"test\.work task is 1,0.. bytes long, of 1,000 allowed"):
        way({"text": "x" * 1_000})

    with transaction.atomic():  # the caller's transaction is none the worse for it
        assert not Task.objects.filter(kind="test.work", status=TaskStatus.PENDING).exists()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_payload_of_exactly_the_limit_is_queued(
    settings: Settings, way: Callable[[dict[str, str]], object]
) -> None:
    """Bytes, not characters: what is not ASCII is longer."""
    settings.QUEUE_PAYLOAD_MAX_BYTES = 1_000
    frame = len('{"text": ""}') + len("\\u00e9")

    way({"text": "é" + "x" * (1_000 - frame)})

    assert Task.objects.filter(kind="test.work", payload__text__startswith="éxx").count() == 1
