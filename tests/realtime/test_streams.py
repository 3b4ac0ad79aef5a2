"""Streams of task states: who gets what, and until when (Q13, Q15)."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test import Client

from taskqueue.models import account_of
from taskqueue.services import enqueue, request_cancel, retry
from tests.realtime.server import Server
from tests.realtime.streams import LOST, RESYNC, Stream, listeners, notify, signed_in
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.waiting import until
from tests.worker_process import worker
from tracker.models import User

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_person_gets_own_tasks_only_and_staff_get_everybodys(
    server: Server, anna: User, ben: User, staff: User
) -> None:
    """Q13, Q15"""
    with Stream(server, signed_in(anna)) as hers, Stream(server, signed_in(staff)) as everybodys:
        hers.until_live()
        everybodys.until_live()
        bens = TaskFactory.create(account=account_of(ben))
        fleets = TaskFactory.create()
        first = TaskFactory.create(account=account_of(anna))
        last = TaskFactory.create(account=account_of(anna))

        notify(bens.pk, fleets.pk, first.pk, last.pk)

        assert [task["id"] for task in hers.tasks_until(last.pk)] == [first.pk, last.pk]
        seen = [task["id"] for task in everybodys.tasks_until(last.pk)]
        assert seen == [bens.pk, fleets.pk, first.pk, last.pk]


def test_a_snapshot_is_the_state_when_it_is_read_and_holds_nothing_private(
    server: Server, anna: User, staff: User
) -> None:
    """Q13: no payload, no worker; a person who is not staff reads the first line of an error."""
    task = TaskFactory.create(
        kind="reviews.plan",
        account=account_of(anna),
        subject="review-run:7",
        payload={"key": "a secret"},
        progress={"done": 3, "total": 9, "note": "reading", "more": "a secret"},
        error="ValueError: no such board\n  File a secret" + 900 * "x",
        errors=[{"error": "a secret", "worker": "a secret"}],
    )
    with Stream(server, signed_in(anna)) as hers, Stream(server, signed_in(staff)) as everybodys:
        hers.until_live()
        everybodys.until_live()
        notify(task.pk)

        [got] = hers.tasks_until(task.pk)
        assert got == {
            "type": "task",
            "id": task.pk,
            "kind": "reviews.plan",
            "status": "pending",
            "attempts": 0,
            "progress": {"done": 3, "total": 9, "note": "reading"},
            "error": "ValueError: no such board",
            "subject": "review-run:7",
        }
        [told] = everybodys.tasks_until(task.pk)
        assert "  File" in told["error"]
        assert len(told["error"]) == 500

        request_cancel(task.pk)
        assert [got["status"] for got in hers.tasks_until(task.pk)] == ["cancelled"]


def test_what_becomes_of_a_task_is_told_from_the_first_to_the_last(server: Server, anna: User) -> None:
    """Q13: queued, cancelled, wanted again, and run by a real worker."""
    with Stream(server, signed_in(anna)) as stream:
        stream.until_live()
        task_id = enqueue(
            "boards.refresh", payload={"user_id": anna.pk}, subject="person", account=account_of(anna)
        ).task_id
        assert stream.tasks_until(task_id)[-1]["status"] == "pending"

        request_cancel(task_id)
        stream.until(lambda event: event.get("status") == "cancelled")
        retry(task_id)
        stream.until(lambda event: event.get("status") == "pending")

        with worker():
            stream.until(lambda event: event.get("status") == "done")


def test_what_is_not_committed_is_not_told(server: Server, anna: User) -> None:
    """Q13: after commit."""
    with Stream(server, signed_in(anna)) as stream:
        stream.until_live()
        with transaction.atomic():
            undone = TaskFactory.create(account=account_of(anna))
            notify(undone.pk)
            transaction.set_rollback(True)
        made = TaskFactory.create(account=account_of(anna))
        notify(made.pk)

        assert [task["id"] for task in stream.tasks_until(made.pk)] == [made.pk]


def test_a_notification_that_nobody_can_read_changes_nothing(server: Server, anna: User) -> None:
    with Stream(server, signed_in(anna)) as stream:
        stream.until_live()
        task = TaskFactory.create(account=account_of(anna))
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY queue_changed, '; -1 x12y {9**30} {{}} 999999,{task.pk}'")

        assert stream.tasks_until(task.pk)


def test_a_stream_tells_proxies_and_browsers_how_to_treat_it(server: Server, anna: User) -> None:
    with Stream(server, signed_in(anna)) as stream:
        headers = {name.lower(): value for name, value in stream.answer.getheaders()}
        assert stream.answer.status == 200
        assert headers["content-type"] == "text/event-stream"
        assert headers["x-accel-buffering"] == "no"
        assert "no-cache" in headers["cache-control"]
        assert "content-length" not in headers
        lines = stream.lines()
        assert next(lines).startswith("retry: ")
        assert next(line for line in lines if line.startswith(":")) == ": beat"
        stream.until({"type": "beat"}.__eq__)


def test_a_visitor_is_refused(server: Server, anna: User) -> None:
    """V4, Q15: 403, since the address names no object to hide; and no redirect, which no stream follows."""
    assert server.get("/events/")[0] == 403
    assert server.get("/events/", "sessionid=ajar")[0] == 403
    assert server.get("/events/", signed_in(anna), method="POST")[0] in (403, 405)
    assert server.get("/events/", signed_in(anna), method="HEAD")[0] == 405


@pytest.mark.parametrize("end", ["signs out", "is shut out", "has another password", "is staff now"])
def test_the_stream_of_somebody_who_may_no_longer_follow_ends(
    server: Server, anna: User, ben: User, end: str
) -> None:
    """Q15: within `recheck_seconds`, and nobody else's."""
    cookie = signed_in(anna)
    with Stream(server, cookie) as hers, Stream(server, signed_in(ben)) as his:
        hers.until_live()
        his.until_live()

        if end == "signs out":
            client = Client()
            client.cookies.load(cookie)
            client.post("/logout/")
        elif end == "has another password":
            anna.set_password("another long pass phrase")
            anna.save()
        else:
            changes = {"is_active": False} if end == "is shut out" else {"is_staff": True}
            User.objects.filter(pk=anna.pk).update(**changes)

        assert hers.read_to_the_end()
        task = TaskFactory.create(account=account_of(ben))
        notify(task.pk)
        assert his.tasks_until(task.pk)
    if end != "is staff now":
        assert server.get("/events/", cookie)[0] == 403


def test_a_listener_that_is_cut_off_comes_back_and_says_what_may_be_missing(
    server: Server, anna: User
) -> None:
    """Q13: notifications sent meanwhile are lost, so that clients are told to read again."""
    with Stream(server, signed_in(anna)) as stream:
        stream.until_live()
        [before] = until(listeners)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [before])

        seen = stream.until(RESYNC.__eq__)
        assert LOST in seen
        task = TaskFactory.create(account=account_of(anna))
        notify(task.pk)
        assert stream.tasks_until(task.pk)
        [after] = listeners()
        assert after != before


def test_pages_of_a_server_without_streams_work_and_streams_are_refused(client: Client, anna: User) -> None:
    """Q13: here Django's own test server, which has no event loop."""
    client.force_login(anna)

    assert client.get("/board/").status_code == 200
    assert client.get("/events/").status_code == 503
