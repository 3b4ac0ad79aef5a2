"""Pages under the event loop: the same as ever, on a bounded number of threads (D2)."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction

from config.pages import BODY_BYTES, MOST_WAITING
from tests.factories import make_board
from tests.realtime.application import CHUNK, CHUNKS
from tests.realtime.server import Server, web
from tests.realtime.streams import Stream, notify, signed_in
from tests.taskqueue.connections import elsewhere
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.waiting import LONGEST_SECONDS, until
from tracker.models import User

pytestmark = pytest.mark.django_db(transaction=True)


def test_static_files_pages_and_errors_are_served(server: Server, anna: User) -> None:
    make_board()
    cookie = signed_in(anna)

    status, headers, body = server.get("/static/rolecall.css")
    assert (status, headers["content-type"]) == (200, 'text/css; charset="utf-8"')
    assert int(headers["content-length"]) == len(body) > 1000

    status, headers, body = server.get("/b/engineers/", cookie)
    assert status == 200
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert int(headers["content-length"]) == len(body)
    tag = headers["etag"]

    assert server.get("/b/engineers/", cookie, "HEAD")[::2] == (200, b"")
    with closing(server.connect()) as asking:
        asking.request("GET", "/b/engineers/", headers={"Cookie": cookie, "If-None-Match": tag})
        assert asking.getresponse().status == 304

    assert server.get("/b/%C3%A4rzte%20/", cookie)[0] == 404
    assert server.get("/b/%ff/", cookie)[0] == 404
    assert server.get("/board/")[0] == 302


def test_a_form_arrives_whole_or_in_chunks(server: Server, transactional_db: None) -> None:
    for is_chunked in (False, True):
        with closing(server.connect()) as asking:
            token, cookie = _form(asking)
            fields = {"csrfmiddlewaretoken": token, "username": "änna", "password": "x", "next": "/jobs/1/"}
            form = urlencode(fields).encode()
            body = (form[at : at + 10] for at in range(0, len(form), 10)) if is_chunked else form
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
            asking.request("POST", "/login/", body, headers, encode_chunked=is_chunked)
            answer = asking.getresponse()
            page = answer.read().decode()
            assert answer.status == 200
            assert 'name="username" value="änna"' in page
            assert 'name="next" value="/jobs/1/"' in page


def _form(asking: HTTPConnection) -> tuple[str, str]:
    """The token of the login form, and the cookie that goes with it."""
    asking.request("GET", "/login/")
    answer = asking.getresponse()
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    page = answer.read().decode()
    return page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0], cookie


def test_a_body_beyond_the_bound_is_refused_unread(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        head = f"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n"
        client.sendall(head.encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_long_answer_arrives_whole_and_a_client_that_leaves_frees_its_thread(
    tmp_path: Path, transactional_db: None
) -> None:
    with web(tmp_path, make="make_large") as server:
        with closing(server.connect()) as leaving:
            leaving.request("GET", "/")
            leaving.getresponse().read(10)

        status, _, body = server.get("/")  # by the one thread there is

    assert status == 200
    assert body == b"".join(b"%d" % (number % 10) * CHUNK for number in range(CHUNKS))


@pytest.fixture
def blocked(tmp_path: Path, anna: User) -> Iterator[tuple[Server, list[socket.socket]]]:
    """Every page that reads a person waits for a lock, and as many wait for a thread as may."""
    with web(tmp_path) as server:
        cookie = signed_in(anna)
        waiting: list[socket.socket] = []
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("LOCK TABLE tracker_user IN ACCESS EXCLUSIVE MODE")
            until(lambda: _one_is_refused(server, cookie, waiting))
            yield server, waiting
        for one in waiting:
            one.close()


def _one_is_refused(server: Server, cookie: str, waiting: list[socket.socket]) -> bool:
    one = socket.create_connection(("127.0.0.1", server.port))
    one.sendall(f"GET /board/work/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
    waiting.append(one)
    answered, _, _ = select.select(waiting, [], [], 0)
    return bool(answered)


def test_a_busy_server_says_so_and_the_others_get_their_turn(
    blocked: tuple[Server, list[socket.socket]],
) -> None:
    """D2"""
    server, waiting = blocked
    status, headers, body = server.get("/board/")
    assert status == 503
    assert int(headers["retry-after"]) > 0
    assert b'http-equiv="refresh"' in body
    assert len(waiting) > MOST_WAITING
    assert server.get("/events/")[0] == 503


def test_a_form_that_meets_a_busy_server_is_kept_in_the_page(
    blocked: tuple[Server, list[socket.socket]],
) -> None:
    """D2: never a lost form."""
    server, _ = blocked
    with closing(server.connect()) as asking:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
        form = urlencode({"name": '"><script>alert(1)</script>', "places": "Zürich"})
        asking.request("POST", "/filters/new/?a=1&b=2", form, headers)
        answer = asking.getresponse()
        page = answer.read().decode()
    assert answer.status == 503
    assert 'action="/filters/new/?a=1&amp;b=2" data-retry=' in page
    assert 'name="places" value="Zürich"' in page
    assert "<script>alert" not in page

    with closing(server.connect()) as asking:
        asking.request("POST", "/filters/new/", json.dumps({}), {"Content-Type": "application/json"})
        answer = asking.getresponse()
        assert (answer.status, answer.headers["Content-Type"]) == (503, "text/plain")
        assert b"not started" in answer.read()


def test_streams_go_on_while_every_thread_is_taken(tmp_path: Path, staff: User) -> None:
    """Q13: they need none."""
    with web(tmp_path) as server, Stream(server, signed_in(staff)) as stream:
        stream.until_live()
        waiting: list[socket.socket] = []
        task = TaskFactory.create()
        cookie = signed_in(staff)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("LOCK TABLE tracker_user IN ACCESS EXCLUSIVE MODE")
            until(lambda: _one_is_refused(server, cookie, waiting))
            elsewhere(lambda: notify(task.pk))
            assert stream.tasks_until(task.pk)
        for one in waiting:  # each gets its answer in the end
            one.settimeout(LONGEST_SECONDS)
            assert one.recv(12).startswith(b"HTTP/1.1 ")
            one.close()
