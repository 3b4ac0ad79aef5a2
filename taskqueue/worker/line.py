"""The worker's own session with the database: for the queue's statements and for nothing else."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from taskqueue.handlers import clock
from taskqueue.services.claims import session_name
from taskqueue.services.prepared import numbered_of
from taskqueue.sql import CANCEL_CHANNEL, WAKE_CHANNEL

# Every statement is made of look-ups in an index. With a generic plan the planner takes LIMIT $1 for a tenth
# of the table and reads all of it; a session that runs nothing else may simply forbid that.
_PINNED = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "join_collapse_limit": "1",
    "jit": "off",
}


class Line:
    """One connection for claims, heartbeats and notifications, used by one thread at a time.

    Outside the pool, so that no handler can keep the heartbeat from it. It comes back after a loss with the
    next statement. Behind a pooler that deals out sessions by the transaction (QUEUE_NOTIFICATIONS off) it
    keeps no state in the session: nothing is set, prepared or listened for.
    """

    def __init__(self, name: str) -> None:
        self.is_cancel_heard = False
        self.asked_at: float | None = None  # on `clock()`: since when the server owes an answer
        self._name = name
        self._is_session = bool(settings.QUEUE_NOTIFICATIONS)
        self._lock = threading.RLock()
        self._wrapper = _own_connection()
        self._wakes, self._wake = os.pipe()
        for end in (self._wakes, self._wake):
            os.set_blocking(end, False)

    def execute(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """The rows of one statement, committed when it returns. Raises as Django's connections do."""
        numbered, names = numbered_of(statement)
        with self._lock, self._wrapper.wrap_database_errors:
            self.asked_at = clock()
            try:
                cursor = psycopg.RawCursor(self._connected())
                cursor.execute(numbered, [values[name] for name in names])
                is_answered = cursor.rownumber is not None  # `description` would describe every column
                return cursor.fetchall() if is_answered else []
            finally:
                self.asked_at = None
                if self._wrapper.connection is None or self._wrapper.connection.closed:
                    self._wrapper.close()

    def wake(self) -> None:
        """End the sleep, now or next time. Fit for a signal handler."""
        with suppress(BlockingIOError, OSError):  # full: it is awake already; closed: it has gone
            os.write(self._wake, b"\0")

    def be_awake(self) -> None:
        """What was heard until now is taken care of from here on."""
        with suppress(BlockingIOError):
            while os.read(self._wakes, 512):
                pass

    def sleep(self, seconds: float) -> None:
        """Until something may be claimable, somebody calls `wake`, or the time is over."""
        ears = select.poll()
        ears.register(self._wakes, select.POLLIN)
        with self._lock:
            if self._wrapper.connection is not None and not self._wrapper.connection.closed:
                ears.register(self._wrapper.connection.fileno(), select.POLLIN)
        ears.poll(seconds * 1000)
        self.hear()

    def hear(self) -> None:
        """Take in what was notified since. Raises when that shows that the connection is gone."""
        with self._lock, self._wrapper.wrap_database_errors:
            connection = self._wrapper.connection
            if connection is None or connection.closed:
                return
            try:
                connection.pgconn.consume_input()
            except psycopg.OperationalError:
                self._wrapper.close()
                raise
            while notify := connection.pgconn.notifies():
                self._note(notify.relname.decode())

    def hang_up(self) -> None:
        """No connection until the next statement."""
        with self._lock:
            self._wrapper.close()

    def close(self) -> None:
        with self._lock:
            self._wrapper.close()
            os.close(self._wakes)
            os.close(self._wake)
            self._wakes = self._wake = -1

    def _connected(self) -> psycopg.Connection[Any]:
        if self._wrapper.connection is None or self._wrapper.connection.closed:
            self._wrapper.close()
            self._wrapper.connect()
            if self._is_session:
                self._prepare_session(self._wrapper.connection)
        connection: psycopg.Connection[Any] = self._wrapper.connection
        return connection

    def _prepare_session(self, connection: psycopg.Connection[Any]) -> None:
        connection.prepare_threshold = 0  # Django's default is never
        limit = f"{max(1, round(settings.QUEUE_HEARTBEAT_SECONDS))}s"  # a lock must not outlast a lease
        pinned = {**_PINNED, "statement_timeout": limit, "application_name": session_name(self._name)}
        marks = ", ".join(["set_config(%s, %s, false)"] * len(pinned))
        connection.execute(f"SELECT {marks}", [word for pair in pinned.items() for word in pair])
        connection.add_notify_handler(lambda notify: self._note(notify.channel))
        connection.execute(f"LISTEN {WAKE_CHANNEL}")
        connection.execute(f"LISTEN {CANCEL_CHANNEL}")
        self._note(WAKE_CHANNEL)  # nobody heard what was notified until now
        self._note(CANCEL_CHANNEL)

    def _note(self, channel: str) -> None:
        if channel == CANCEL_CHANNEL:
            self.is_cancel_heard = True
        else:
            self.wake()


def name_sessions(incarnation: str) -> None:
    """The process's connections tell whose they are: those of a worker that is declared lost are cut."""
    options = connections[DEFAULT_DB_ALIAS].settings_dict.setdefault("OPTIONS", {})
    options["application_name"] = session_name(incarnation)


def _own_connection() -> Any:
    """A connection outside the pool, for several threads, that gives up before a lease is over."""
    pooled = connections[DEFAULT_DB_ALIAS]
    limit = max(1, round(settings.QUEUE_HEARTBEAT_SECONDS))
    options = {name: value for name, value in pooled.settings_dict["OPTIONS"].items() if name != "pool"}
    options |= {
        "connect_timeout": limit,
        "keepalives_idle": limit,
        "keepalives_interval": 1,
        "keepalives_count": 3,
        "tcp_user_timeout": limit * 1000,
    }
    own = type(pooled)({**pooled.settings_dict, "OPTIONS": options}, DEFAULT_DB_ALIAS)
    own.inc_thread_sharing()
    return own
