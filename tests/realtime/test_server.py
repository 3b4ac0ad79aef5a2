"""The web server under many streams: what they cost, what bounds them, how they end (Q13, D1, D2)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from taskqueue.models import Task, account_of
from taskqueue.realtime.hub import RESYNC, Limits, Subscription
from tests.factories import UserFactory, make_board
from tests.realtime.server import Server, web
from tests.realtime.streams import Stream, listeners, notify, pooled, signed_in
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.waiting import LONGEST_SECONDS, until
from tracker.models import User

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 210


@pytest.fixture
def many(tmp_path: Path, staff: User) -> Iterator[tuple[Server, list[Stream]]]:
    """One process with very many streams."""
    with web(tmp_path, streams_of_one=MANY) as server, contextlib.ExitStack() as open_streams:
        cookie = signed_in(staff)
        streams = [open_streams.enter_context(Stream(server, cookie)) for _ in range(MANY)]
        yield server, streams


def test_hundreds_of_idle_clients_cost_one_connection_and_no_thread(
    many: tuple[Server, list[Stream]],
) -> None:
    """Q13: and a page still answers beside them."""
    server, streams = many
    make_board()
    for stream in streams:
        stream.until_live()

    assert server.get("/b/engineers/")[0] == 200

    task = TaskFactory.create()
    notify(task.pk)
    for stream in streams:
        assert stream.tasks_until(task.pk)
    assert len(listeners()) == 1
    threads = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    assert pooled() <= threads
    [worker] = server.workers()
    status = Path(f"/proc/{worker}/status")
    if status.exists():  # Linux
        running = re.search(r"^Threads:\s+(\d+)", status.read_text(), re.MULTILINE)
        assert running
        assert int(running[1]) <= threads + 10  # the pool's own, the main one, one that rechecks


def test_a_stop_ends_every_stream_and_waits_for_nobody_who_asks_for_nothing(
    many: tuple[Server, list[Stream]],
) -> None:
    server, streams = many
    kept = server.connect()  # kept alive after an answer
    kept.request("GET", "/healthz")
    kept.getresponse().read()
    with socket.create_connection(("127.0.0.1", server.port)):  # opened in advance, as browsers do
        assert server.stop() == 0

        for stream in streams:
            assert stream.read_to_the_end()
    kept.close()
    assert "Forcing close" not in server.log.read_text()


def test_connections_that_ask_for_nothing_are_bounded_in_number_and_time(tmp_path: Path) -> None:
    """D2: one too many is told so, and those that never ask are closed."""
    with web(tmp_path, options=["--worker-connections", "3"], first_request_seconds=2.0) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port), LONGEST_SECONDS) for _ in range(3)]

        assert until(lambda: server.get("/healthz")[0] == 503)

        for one in silent:
            assert one.recv(1) == b""
            one.close()
        assert until(lambda: server.get("/healthz")[0] == 200)


def test_each_process_listens_once_however_many_follow(tmp_path: Path, anna: User) -> None:
    with web(tmp_path, processes=2, streams_of_one=200) as server, contextlib.ExitStack() as open_streams:
        cookie = signed_in(anna)
        assert listeners() == []  # nobody follows: nobody listens

        def both_have_one() -> bool:
            open_streams.enter_context(Stream(server, cookie)).until_live()
            return len(listeners()) == 2

        until(both_have_one)
        for _ in range(10):
            open_streams.enter_context(Stream(server, cookie)).until_live()
        assert len(listeners()) == 2


def test_a_person_and_a_process_have_a_bounded_number_of_streams(tmp_path: Path, anna: User) -> None:
    """D2: one too many is told to wait; a client that left has given its place back."""
    with web(tmp_path, streams=3, streams_of_one=2) as server:
        hers, bens = signed_in(anna), signed_in(UserFactory.create())
        first, second = Stream(server, hers), Stream(server, hers)

        refused, headers, _ = server.get("/events/", hers)
        assert refused == 503
        assert int(headers["retry-after"]) > 0

        third = Stream(server, bens)
        assert third.answer.status == 200
        assert server.get("/events/", bens)[0] == 503

        first.close()

        def has_room() -> Stream | None:
            tried = Stream(server, hers)
            return tried if tried.answer.status == 200 else None

        for stream in (second, third, until(has_room)):
            stream.close()


def test_pages_of_a_server_that_does_not_listen_work(tmp_path: Path, anna: User) -> None:
    """Q13: as behind a pooler, where nobody can listen."""
    with web(tmp_path, has_notifications=False) as server:
        cookie = signed_in(anna)

        assert server.get("/board/", cookie)[0] == 200
        assert server.get("/board/work/", cookie)[0] == 200
        assert server.get("/events/", cookie)[0] == 503
        assert listeners() == []


def test_a_client_that_does_not_read_costs_a_bounded_memory_and_catches_up(
    server: Server, anna: User
) -> None:
    """Q13: of each task only the newest state waits for it."""
    cookie = signed_in(anna)
    tasks = [TaskFactory.create(account=account_of(anna)) for _ in range(150)]
    ids = [task.pk for task in tasks]
    request = f"GET /events/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n"
    with Stream(server, cookie) as quick, socket.socket() as slow:
        quick.until_live()
        slow.settimeout(LONGEST_SECONDS)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(request.encode())
        while b"resync" not in slow.recv(4096):
            pass

        sent = 0
        for number in range(1, 41):
            Task.objects.filter(pk__in=ids).update(error=f"round {number} " + 450 * "x")
            notify(*ids)
            sent += sum(len(str(event)) for event in quick.tasks_until(ids[-1]))

        last_of_all = re.compile(rb'"id":%d,.{,200}round 40 ' % ids[-1])
        received = b""
        while not last_of_all.search(received[-5000:]):
            received += slow.recv(4096)
        assert len(received) < sent / 2
        for task_id in ids:
            newest = received[received.rindex(f'"id":{task_id},'.encode()) :][:200]
            assert b"round 40 " in newest


def test_what_waits_for_a_client_is_the_newest_state_of_each_task_or_one_word() -> None:
    """Q13: snapshots, so that an older one is worth nothing."""
    waiting = Subscription("user:1", False, "ticket", Limits(waiting=2).waiting)
    for message in (b"1 old,", b"2,", b"1 new,"):
        waiting.offer(int(message[:1]), message)
    assert taken(waiting) == b"2,1 new,"

    for task_id in (1, 2, 3):
        waiting.offer(task_id, b"state")
    assert taken(waiting) == RESYNC
    assert taken(waiting) == b""

    waiting.offer(1, b"state")
    waiting.end()
    assert taken(waiting) is None


def taken(subscription: Subscription) -> bytes | None:
    return asyncio.run(subscription.next(0.01))


@pytest.mark.parametrize("log_format", ["line", "json"])
def test_every_line_that_the_web_server_logs_has_the_chosen_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_format: str
) -> None:
    """Its start, its requests and its end, as those who gather logs read them."""
    monkeypatch.setenv("LOG_FORMAT", log_format)
    with web(tmp_path, make="make") as server:
        server.get("/healthz?token=secret")
        server.stop()
        lines = server.log.read_text().splitlines()

    assert "secret" not in "".join(lines)
    if log_format == "json":
        told = [json.loads(line) for line in lines]
        asked = [line for line in told if line["logger"] == "gunicorn.access"]
        assert {(line["message"], line["status"], line["client"]) for line in asked} == {
            ("GET /healthz", 200, "127.0.0.1")
        }
        assert all(line["seconds"] >= 0 for line in asked)
    else:
        assert all(re.match(r"20\d\d-\d\d-\d\dT[\d:.]+Z [A-Z]+ [\w.]+ ", line) for line in lines)
        assert any(re.search(r" gunicorn\.access GET /healthz .*status=200 ", line) for line in lines)
