"""The queue in the operators' console, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from taskqueue.models import HostBudget, Task, TaskStatus
from tests.taskqueue.factories import (
    FailedTaskFactory,
    HostBudgetFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db

TASKS = "admin:queue_task_changelist"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("operator", password="x" * 12))
    return client


@pytest.fixture
def reader(client: Client) -> Client:
    """Staff who may look."""
    user = get_user_model().objects.create_user("reader", password="x" * 12, is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_task"))
    client.force_login(user)
    return client


def page(client: Client, name: str, query: str = "") -> str:
    response = client.get(reverse(name) + query)
    assert response.status_code == 200
    return response.content.decode()


def act(client: Client, action: str, *tasks: Task) -> str:
    data = {"action": action, "_selected_action": [task.pk for task in tasks]}
    return client.post(reverse(TASKS), data, follow=True).content.decode()


def test_the_list_says_what_each_task_is_doing(operator: Client) -> None:
    RunningTaskFactory.create(subject="source:7", progress={"done": 3, "total": 10, "note": "reading"})
    RunningTaskFactory.create(cancel_requested_at=Now())
    FailedTaskFactory.create(attempts=7, resumes=5)

    shown = page(operator, TASKS)

    for words in (
        "source:7",
        "3 of 10 reading",
        "cancelling",
        "no such board",
        "7, 5 given back; 2 of 5 spent",
    ):
        assert words in shown


def running(number: int) -> None:
    RunningTaskFactory.create(subject=f"source:{number}")


def at_work(number: int) -> None:
    WorkerFactory.create(name=f"worker-{number}", task=TaskFactory.create())


@pytest.mark.parametrize(
    ("name", "make"), [(TASKS, running), ("admin:queue_worker_changelist", at_work)], ids=["tasks", "workers"]
)
def test_a_longer_list_takes_no_more_queries(
    operator: Client, name: str, make: Callable[[int], None]
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(operator, name)
        return len(queries)

    make(0)
    page(operator, name)
    few = count()
    for number in range(1, 10):
        make(number)

    assert count() == few


def test_the_filter_asks_with_the_predicate_of_the_claim(operator: Client) -> None:
    """Q3; and Q14: what no handler of this release knows is found, not lost."""
    TaskFactory.create(kind="test.unknown", subject="nobody:1")

    assert "nobody:1" not in page(operator, TASKS, "?now=claimable")
    assert "nobody:1" in page(operator, TASKS, "?now=unknown")


def test_a_failed_task_is_retried_and_a_pending_one_cancelled_by_hand(operator: Client) -> None:
    failed, pending, running = FailedTaskFactory.create(), TaskFactory.create(), RunningTaskFactory.create()

    assert "Tasks pending again: 1 of 2." in act(operator, "retry", failed, running)
    assert "Tasks cancelled or asked to stop: 2 of 2." in act(operator, "cancel", pending, running)

    statuses = dict(Task.objects.values_list("pk", "status"))
    assert statuses[failed.pk] == TaskStatus.PENDING
    assert statuses[pending.pk] == TaskStatus.CANCELLED
    assert Task.objects.get(pk=running.pk).is_cancelling


def test_who_may_only_look_changes_nothing(reader: Client) -> None:
    task = TaskFactory.create()

    act(reader, "cancel", task)

    assert Task.objects.get(pk=task.pk).status == TaskStatus.PENDING
    assert reader.get(reverse("admin:queue_task_change", args=[task.pk])).status_code == 200


def test_evidence_cannot_be_edited_or_deleted_by_anybody(operator: Client) -> None:
    task = TaskFactory.create()

    assert operator.post(reverse("admin:queue_task_change", args=[task.pk]), {"kind": "x"}).status_code == 403
    assert (
        operator.post(reverse("admin:queue_task_delete", args=[task.pk]), {"post": "yes"}).status_code == 403
    )
    assert operator.get(reverse("admin:queue_task_add")).status_code == 403


def test_a_worker_that_died_is_told_from_one_that_lives(operator: Client) -> None:
    WorkerFactory.create(name="alive:1")
    lost = TaskFactory.create(subject="source:9")
    WorkerFactory.create(name="dead:1", last_seen_at=timezone.now() - timedelta(minutes=5), task=lost)
    WorkerFactory.create(
        name="dead:2", last_seen_at=timezone.now() - timedelta(minutes=5), task=TaskFactory.create()
    )
    Task.objects.exclude(pk=lost.pk).delete()

    shown = page(operator, "admin:queue_worker_changelist")

    assert shown.count("it died or lost the database") == 2
    assert "source:9" in shown


def test_a_closed_host_says_until_when(operator: Client) -> None:
    HostBudgetFactory.create(host="open.example.com")
    HostBudget.objects.refuse("closed.example.com", 3_600)

    shown = page(operator, "admin:queue_hostbudget_changelist")

    assert "closed until" in shown
    assert shown.count("closed until") == 1
