"""A client of /events/, and what it follows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from http.client import IncompleteRead
from types import TracebackType
from typing import Any, Self

from django.conf import settings
from django.db import connection
from django.test import Client

from taskqueue.realtime.listener import APPLICATION_NAME
from taskqueue.sql import CHANGED_CHANNEL
from tests.realtime.server import Server
from tests.taskqueue.waiting import LONGEST_SECONDS
from tracker.models import User

RESYNC = {"type": "resync"}
LOST = {"type": "lost"}


class Stream:
    """One open stream."""

    def __init__(self, server: Server, cookie: str) -> None:
        self.connection = server.connect()
        self.connection.request("GET", "/events/", headers={"Cookie": cookie, "Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()

    def lines(self) -> Iterator[str]:
        """The next lines, until the stream ends. Fails when it goes on for longer than a test may."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while read := self.answer.readline():
            yield read.decode().rstrip("\n")
            assert time.monotonic() < deadline, "the stream goes on and on"

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Every event up to the first wanted one."""
        seen: list[dict[str, Any]] = []
        for line in self.lines():
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: ")))
                if wanted(seen[-1]):
                    return seen
        raise AssertionError(f"the stream ended after {seen[-20:]}")

    def until_live(self) -> Self:
        self.until(RESYNC.__eq__)
        return self

    def tasks_until(self, task_id: int) -> list[dict[str, Any]]:
        seen = self.until(lambda event: event.get("id") == task_id)
        return [event for event in seen if event["type"] == "task"]

    def read_to_the_end(self) -> bool:
        """Whether the server ended it, as a whole response and not by a cut connection."""
        try:
            for _ in self.lines():
                pass
        except (IncompleteRead, ConnectionError):
            return False
        return True

    def close(self) -> None:
        self.answer.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def signed_in(person: User) -> str:
    """A new session's cookie."""
    client = Client()
    client.force_login(person)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def notify(*task_ids: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANGED_CHANNEL, ",".join(map(str, task_ids))])


def listeners() -> list[int]:
    """The server processes of the connections that listen."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s",
            [APPLICATION_NAME],
        )
        return [pid for (pid,) in cursor.fetchall()]


def pooled() -> int:
    """Connections of pages: all but those that listen and the test's own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND application_name <> %s AND pid <> pg_backend_pid()",
            [APPLICATION_NAME],
        )
        return int(cursor.fetchone()[0])
