"""A person's own tasks on their page: who sees which, what its script follows, and how one is cancelled."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from taskqueue.models import ENDED, Task, TaskStatus, account_of
from taskqueue.realtime import HUB
from taskqueue.services import enqueue, request_cancel, watching
from tests.factories import UserFactory
from tests.taskqueue.factories import DoneTaskFactory, RunningTaskFactory, TaskFactory

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def anna(client: Client) -> Any:
    anna = UserFactory.create(username="anna")
    client.force_login(anna)
    return anna


def states_of(account: str) -> list[Task]:
    later = timezone.now() + HOUR
    return [
        TaskFactory.create(account=account, subject="run:1"),
        TaskFactory.create(account=account, subject="run:2", not_before=later),
        TaskFactory.create(account=account, subject="run:3", status="awaiting_batch", not_before=later),
        TaskFactory.create(account=account, subject="run:4", status="waiting"),
        RunningTaskFactory.create(account=account, subject="run:5"),
    ]


def test_a_person_sees_own_unfinished_tasks_alone(client: Client, anna: Any) -> None:
    """Q13, Q15."""
    states_of(account_of(anna))
    DoneTaskFactory.create(account=account_of(anna), subject="run:6")
    TaskFactory.create(account=account_of(UserFactory.create()), subject="run:7")
    TaskFactory.create(subject="run:8")

    shown = client.get("/tasks/").content.decode()

    assert [n for n in range(1, 9) if f"run:{n}<" in shown] == [1, 2, 3, 4, 5]


def test_a_person_s_page_says_what_its_script_follows(client: Client, anna: Any) -> None:
    """Q13: each row by its task, with the state its words are for; the stream where there is one."""
    pending, *_, running = states_of(account_of(anna))

    without = client.get("/tasks/").content.decode()
    client.defaults[HUB] = "a server with streams"
    streaming = client.get("/tasks/").content.decode()

    assert 'data-live="/tasks/"' in without
    assert "data-events" not in without
    assert 'data-live="/tasks/" data-events="/events/"' in streaming
    assert "events.js" in without
    for task, state in ((pending, "pending"), (running, "running")):
        row = f'data-task-id="{task.pk}" data-task-subject="{task.subject}" data-task-status="{state}"'
        assert row in without
    assert "data-everybody" not in without


def test_what_runs_comes_first_then_the_line_and_the_rest_is_counted(client: Client, anna: Any) -> None:
    """However many were asked for since."""
    running = RunningTaskFactory.create(account=account_of(anna))
    line = [TaskFactory.create(account=account_of(anna)) for _ in range(25)]
    TaskFactory.create(account=account_of(anna), status=TaskStatus.WAITING)

    shown = client.get("/tasks/").content.decode()

    order = [int(task_id) for task_id in re.findall(r'data-task-id="(\d+)"', shown)]
    assert order == [running.pk, *(task.pk for task in line[:19])]
    assert "And 7 more" in shown


def test_the_page_is_reached_from_every_page(client: Client, anna: Any) -> None:
    assert 'href="/tasks/"' in client.get("/").content.decode()


def test_staff_see_their_own_on_that_page_too(client: Client) -> None:
    staff = UserFactory.create(is_staff=True)
    client.force_login(staff)
    TaskFactory.create(account=account_of(UserFactory.create()), subject="run:7")

    shown = client.get("/tasks/").content.decode()

    assert "Nothing of yours is in progress." in shown
    assert "data-everybody" in shown  # the stream tells staff of everybody's


def test_a_visitor_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/tasks/").status_code == 302
    assert client.post("/tasks/1/cancel/").status_code == 302


def test_a_person_s_page_takes_no_query_per_task(client: Client, anna: Any) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get("/tasks/")
        return len(queries)

    TaskFactory.create(account=account_of(anna))
    few = count()
    states_of(account_of(anna))

    assert count() == few


@pytest.mark.parametrize("number", range(5))
def test_a_person_cancels_an_own_task(client: Client, anna: Any, number: int) -> None:
    """Q10."""
    task = states_of(account_of(anna))[number]

    answer = client.post(f"/tasks/{task.pk}/cancel/", {"next": "/board/?q=x"})

    assert answer.headers["Location"] == "/board/?q=x"
    task.refresh_from_db()
    assert task.is_cancelling or task.status == TaskStatus.CANCELLED


def test_another_s_task_is_as_unknown_as_none(client: Client, anna: Any) -> None:
    """V4, Q15: a stranger's 404."""
    theirs = TaskFactory.create(account=account_of(UserFactory.create()))
    fleet = TaskFactory.create()

    for task_id in (theirs.pk, fleet.pk, 2**40):
        assert client.post(f"/tasks/{task_id}/cancel/").status_code == 404
    assert client.get(f"/tasks/{theirs.pk}/cancel/").status_code == 405
    assert set(Task.objects.filter(cancel_requested_at=None)) == {theirs, fleet}


def test_a_cancel_leads_to_no_other_site(client: Client, anna: Any) -> None:
    task = TaskFactory.create(account=account_of(anna))

    answer = client.post(f"/tasks/{task.pk}/cancel/", {"next": "https://elsewhere.example/"})

    assert answer.headers["Location"] == "/tasks/"


def test_a_person_s_tasks_are_found_by_indexes_of_hot_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO queue_task (kind, status, attempts, finished_at, account, note)"
            " SELECT 'test.work', 'done', 1, statement_timestamp(), (n % 50)::text, repeat('x', 200)"
            " FROM generate_series(1, 20000) AS n"
        )
        cursor.execute("ANALYZE queue_task")

    assert "Seq Scan" not in watching.in_flight_of("7").order_by("-pk")[:20].explain()


def test_a_cancelled_task_can_be_taken_back(client: Client, anna: Any) -> None:
    task = TaskFactory.create(account=account_of(anna), subject="run:1")

    shown = client.post(f"/tasks/{task.pk}/cancel/", {"next": "/tasks/"}, follow=True).content.decode()
    assert f'action="/tasks/{task.pk}/restart/"' in shown
    shown = client.post(f"/tasks/{task.pk}/restart/", {"next": "/tasks/"}, follow=True).content.decode()

    assert "It waits for its turn again." in shown
    assert "run:1<" in shown
    assert Task.objects.get().status == TaskStatus.PENDING


def test_what_was_asked_for_again_meanwhile_is_not_taken_back_too(client: Client, anna: Any) -> None:
    """Q1."""
    task = TaskFactory.create(account=account_of(anna), dedupe_key="run:1")
    client.post(f"/tasks/{task.pk}/cancel/")
    enqueue("test.work", key="run:1", account=account_of(anna))

    shown = client.post(f"/tasks/{task.pk}/restart/", follow=True).content.decode()

    assert "There is nothing to take back" in shown
    assert Task.objects.unfinished().count() == 1


@pytest.mark.parametrize("status", [TaskStatus.PENDING, TaskStatus.FAILED, TaskStatus.DONE])
def test_nothing_but_a_cancel_is_taken_back(client: Client, anna: Any, status: TaskStatus) -> None:
    """A second tab, or a second click."""
    finished = {"finished_at": timezone.now(), "position": None} if status in ENDED else {}
    task = TaskFactory.create(account=account_of(anna), status=status, **finished)

    shown = client.post(f"/tasks/{task.pk}/restart/", follow=True).content.decode()

    assert "There is nothing to take back" in shown
    assert Task.objects.get().status == status


def test_a_second_cancel_says_that_the_task_had_ended(client: Client, anna: Any) -> None:
    task = DoneTaskFactory.create(account=account_of(anna))

    shown = client.post(f"/tasks/{task.pk}/cancel/", follow=True).content.decode()

    assert "It had just ended by itself." in shown


def test_another_s_task_is_not_restarted(client: Client, anna: Any) -> None:
    """V4: it is as unknown as none."""
    task = TaskFactory.create(account=account_of(UserFactory.create()))
    assert request_cancel(task.pk)

    assert client.post(f"/tasks/{task.pk}/restart/").status_code == 404
    assert client.get(f"/tasks/{task.pk}/restart/").status_code == 405
    assert Task.objects.get().status == TaskStatus.CANCELLED
