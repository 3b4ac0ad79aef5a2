"""The queue in the operators' console, over HTTP."""

from __future__ import annotations

import html
import re
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

from taskqueue.models import HostBudget, Task, TaskStatus, Turn
from taskqueue.services import enqueue
from tests.taskqueue.factories import (
    FailedTaskFactory,
    HostBudgetFactory,
    RunningTaskFactory,
    TaskFactory,
    WorkerFactory,
    lose,
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


def page(client: Client, name: str, query: str = "", *, of: Task | None = None) -> str:
    response = client.get(reverse(name, args=[of.pk] if of else []) + query)
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
        "2 of 5",
    ):
        assert words in shown


def running(number: int) -> None:
    RunningTaskFactory.create(subject=f"source:{number}")


def blocked(number: int) -> None:
    Turn.objects.get_or_create(lane="account:7", number=1, defaults={"task_id": TaskFactory.create().pk})
    TaskFactory.create(account="7", subject=f"run:{number}")


def at_work(number: int) -> None:
    RunningTaskFactory.create(worker=f"worker-{number}")


@pytest.mark.parametrize(
    ("name", "make"),
    [(TASKS, running), (TASKS, blocked), ("admin:queue_worker_changelist", at_work)],
    ids=["running", "blocked", "workers"],
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


def test_each_row_says_why_it_waits_and_links_what_it_waits_for(operator: Client) -> None:
    WorkerFactory.create(kinds=["test.work"])
    holder = RunningTaskFactory.create(account="7")
    Turn.objects.create(lane="account:7", number=1, task_id=holder.pk)
    TaskFactory.create(account="7")
    TaskFactory.create()

    shown = page(operator, TASKS)

    link = reverse("admin:queue_task_change", args=[holder.pk])
    assert f'its account has its turn taken by <a href="{link}">task {holder.pk}</a>' in shown
    assert "nothing: a free worker takes it" in shown


def test_what_a_reason_quotes_is_text(operator: Client) -> None:
    """R9: a note is anybody's; and only a task that the reason itself names is linked."""
    task = TaskFactory.create(
        not_before=timezone.now() + timedelta(hours=1), note="<img src=x> says task 7 is <b>done</b>"
    )

    shown = operator.get(reverse("admin:queue_task_change", args=[task.pk])).content.decode()

    assert (
        shown.count("&lt;img src=x&gt; says task 7 is &lt;b&gt;done&lt;/b&gt;") == 2
    )  # the reason, and the field


def test_a_task_s_page_says_why_it_waits_and_offers_what_could_change_it(operator: Client) -> None:
    later = TaskFactory.create(not_before=timezone.now() + timedelta(hours=1))
    failed = FailedTaskFactory.create()

    shown = operator.get(reverse("admin:queue_task_change", args=[later.pk])).content.decode()
    assert "it is not due until" in shown
    assert "no worker is alive" in shown
    assert do_path(later, "run-now") in shown
    assert do_path(later, "retry") not in shown

    shown = operator.get(reverse("admin:queue_task_change", args=[failed.pk])).content.decode()
    assert do_path(failed, "retry") in shown
    assert do_path(failed, "cancel") not in shown


def do_path(task: Task, verb: str) -> str:
    return reverse("admin:queue_task_do", args=[task.pk, verb])


def test_a_button_changes_its_task_and_leads_back(operator: Client) -> None:
    task = TaskFactory.create(not_before=timezone.now() + timedelta(hours=1))
    overview = reverse("admin:queue_overview")

    answer = operator.post(do_path(task, "run-now"), {"next": overview})

    assert answer.headers["Location"] == overview
    assert Task.objects.get(pk=task.pk).position is not None
    answer = operator.post(do_path(task, "cancel"), {"next": "https://elsewhere.example/"})
    assert answer.headers["Location"] == reverse("admin:queue_task_change", args=[task.pk])
    assert Task.objects.get(pk=task.pk).status == TaskStatus.CANCELLED


def test_a_button_is_no_link_and_knows_its_verbs(operator: Client) -> None:
    task = TaskFactory.create()

    assert operator.get(do_path(task, "cancel")).status_code == 405
    assert operator.post(do_path(task, "delete")).status_code == 404
    assert Client(enforce_csrf_checks=True).post(do_path(task, "cancel")).status_code in (302, 403)
    assert Task.objects.get(pk=task.pk).status == TaskStatus.PENDING


def test_tasks_that_are_not_due_are_run_now_by_hand(operator: Client) -> None:
    later = TaskFactory.create(not_before=timezone.now() + timedelta(hours=1))

    shown = act(operator, "run_now", later, RunningTaskFactory.create())

    assert "Tasks that are due now, before others: 1 of 2." in shown


def test_an_action_says_why_it_changed_nothing(operator: Client) -> None:
    """E4."""
    running = RunningTaskFactory.create(worker="worker-1")
    failed = FailedTaskFactory.create(dedupe_key="work:1", error="no such board")
    since = enqueue("test.work", key="work:1").task_id

    shown = act(operator, "run_now", running, failed)
    assert f"Task {running.pk} is as it was: it runs since" in shown
    assert re.search(rf"Task {failed.pk} is as it was: it has ended: failed at .*: no such board", shown)

    shown = act(operator, "retry", failed)
    assert f"task {failed.pk} is not retried: task {since} was queued for the same" in shown


@pytest.mark.parametrize("query", ["kind=%00", "now=%00", "q=%00", "account__exact=a%00b"])
def test_a_nul_in_a_filter_is_a_bad_request(operator: Client, query: str) -> None:
    assert operator.get(f"{reverse(TASKS)}?{query}").status_code == 400


def test_the_numbers_of_the_overview_lead_to_their_rows(operator: Client) -> None:
    """E4: of a kind in each of its states, and of a lane."""
    WorkerFactory.create(kinds=["test.work"])
    TaskFactory.create(subject="s:in-line", account="person:1 & co")
    TaskFactory.create(subject="s:other")
    TaskFactory.create(subject="s:later", not_before=timezone.now() + timedelta(hours=1))
    RunningTaskFactory.create(subject="s:running")

    shown = operator.get("/admin/queue/task/overview/").content.decode()

    links = [html.unescape(link) for link in re.findall(r'href="(/admin/queue/task/\?[^"]*)"', shown)]
    leads = {link: set(re.findall(r">(s:[\w-]+)<", operator.get(link).content.decode())) for link in links}
    assert leads["/admin/queue/task/?now=in_line&kind=test.work"] == {"s:in-line", "s:other"}
    assert leads["/admin/queue/task/?status__exact=running&kind=test.work"] == {"s:running"}
    assert leads["/admin/queue/task/?now=later&status__exact=pending&kind=test.work"] == {"s:later"}
    [lane] = [link for link in links if "lane__exact" in link]
    assert leads[lane] == {"s:in-line"}


@pytest.mark.parametrize(
    ("now", "subject"),
    [("in_line", "s:in-line"), ("later", "s:later"), ("failed", "s:failed"), ("orphans", "s:orphan")],
)
def test_a_filter_shows_the_rows_behind_a_figure(operator: Client, now: str, subject: str) -> None:
    """E4."""
    WorkerFactory.create(kinds=["test.work"])
    TaskFactory.create(subject="s:in-line")
    TaskFactory.create(subject="s:orphan", kind="test.unknown", status=TaskStatus.AWAITING_BATCH)
    TaskFactory.create(subject="s:later", not_before=timezone.now() + timedelta(hours=1))
    FailedTaskFactory.create(subject="s:failed")
    FailedTaskFactory.create(subject="s:failed-long-ago", finished_at=timezone.now() - timedelta(hours=2))

    shown = page(operator, TASKS, f"?now={now}")

    assert subject in shown
    assert "s:failed-long-ago" not in shown
    others = {"s:in-line", "s:later", "s:failed", "s:orphan"} - {subject}
    others -= {"s:orphan"} if now == "in_line" else set()
    assert not [other for other in others if f">{other}<" in shown]


def test_a_list_counts_and_reads_no_more_than_its_page(operator: Client) -> None:
    """Q14: finished rows are many. No count of them, no list of the kinds and hosts among them."""
    with CaptureQueriesContext(connection) as queries:
        page(operator, TASKS)

    of_tasks = [query["sql"] for query in queries if 'FROM "queue_task"' in query["sql"]]
    assert of_tasks
    assert not [sql for sql in of_tasks if "COUNT(*)" in sql or "DISTINCT" in sql]


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
    assert reader.post(do_path(task, "cancel")).status_code == 403

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
    """Q6: its lease is the database's word, whatever it says of itself."""
    RunningTaskFactory.create(worker="alive:1", subject="source:9")
    WorkerFactory.create(name="silent:1")
    lose("silent:1")
    WorkerFactory.create(
        name="lost:1", lost_at=timezone.now() - timedelta(minutes=5), memory_bytes=95_000_000
    )

    shown = page(operator, "admin:queue_worker_changelist")

    assert "its lease is over" in shown
    assert "lost 5 min ago, with what it had in hand" in shown
    assert "test.work source:9" in shown
    assert "95 MB" in shown


def test_a_closed_host_says_until_when(operator: Client) -> None:
    HostBudgetFactory.create(host="open.example.com")
    HostBudget.objects.refuse("closed.example.com", 3_600)

    shown = page(operator, "admin:queue_hostbudget_changelist")

    assert "closed until" in shown
    assert shown.count("closed until") == 1


def test_a_task_s_page_has_its_state_its_times_its_failures_and_its_children(operator: Client) -> None:
    error = "ValueError: no\n  File 'x.py', line 1"
    parent = TaskFactory.create(
        status=TaskStatus.WAITING,
        position=None,
        attempts=2,
        errors=[{"attempt": 1, "at": "2026-12-01T05:00:00+00:00", "worker": "vm:1", "error": error}],
    )
    child = RunningTaskFactory.create(parent=parent)

    shown = page(operator, "admin:queue_task_change", of=parent)

    assert "waiting for children" in shown
    assert f'href="/admin/queue/task/{child.pk}/change/"' in shown
    assert "<pre>ValueError: no\n  File &#x27;x.py&#x27;, line 1</pre>" in shown
    assert "Created at" in shown


def test_a_history_has_as_many_pages_as_it_takes(operator: Client) -> None:
    task = FailedTaskFactory.create()
    operator.post(do_path(task, "retry"))

    shown = page(operator, "admin:queue_task_history", of=task)

    assert "Tasks pending again" in shown
    assert "9999" not in shown


def test_what_an_operator_did_is_in_the_task_s_history(operator: Client) -> None:
    task = FailedTaskFactory.create()

    operator.post(reverse("admin:queue_task_do", args=[task.pk, "retry"]))

    shown = page(operator, "admin:queue_task_history", of=task)
    assert "Tasks pending again" in shown
