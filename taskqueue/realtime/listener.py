"""The one connection of a process that listens, and reads what changed. It holds no thread."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import sql

from taskqueue.realtime.snapshots import Snapshot, query
from taskqueue.sql import CHANGED_CHANNEL

logger = logging.getLogger(__name__)

APPLICATION_NAME = "rolecall-events"  # as pg_stat_activity shows it
COLLECT_SECONDS = 0.1  # a burst of changes costs one read
SILENCE_SECONDS = 15.0  # after so much of it, ask whether the server is still there
ANSWER_SECONDS = 10.0  # a server that does not answer within this is gone
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
ROWS_AT_ONCE = 500
_ID = re.compile(r"\b\d{1,18}\b", re.ASCII)


class Audience(Protocol):
    """Who is told."""

    def accounts(self) -> frozenset[str] | None:
        """Whose tasks somebody follows; None for everybody's."""

    def publish(self, snapshots: Iterable[Snapshot]) -> None: ...

    def connected(self) -> None:
        """From now on nothing is missed; before, something may have been."""

    def disconnected(self) -> None: ...


async def listen(audience: Audience) -> None:
    """Tell the audience of every change, until cancelled. A lost connection is made again."""
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            async with _connection() as connection:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANGED_CHANNEL)))
                audience.connected()
                wait = FIRST_WAIT_SECONDS
                while True:
                    await _relay(connection, audience)
        except (psycopg.Error, OSError) as lost:  # OSError is also the timeout's
            logger.warning("live updates pause: %s", str(lost).strip() or type(lost).__name__)
        finally:
            audience.disconnected()
        await asyncio.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 - processes must not return in step
        wait = min(2 * wait, LONGEST_WAIT_SECONDS)


async def _relay(connection: psycopg.AsyncConnection[Any], audience: Audience) -> None:
    """Wait for a change, collect what follows closely, and read all of it as it is now."""
    changed = await _notified(connection, SILENCE_SECONDS, at_least=1)
    if not changed:
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute("SELECT 1")
        return
    changed |= await _notified(connection, COLLECT_SECONDS)
    accounts = audience.accounts()
    if accounts is not None and not accounts:
        return
    ids = sorted(changed)
    for start in range(0, len(ids), ROWS_AT_ONCE):
        async with asyncio.timeout(ANSWER_SECONDS):
            statement, parameters = query(ids[start : start + ROWS_AT_ONCE], accounts)
            rows = await (await connection.execute(statement.encode(), parameters)).fetchall()
        audience.publish(map(Snapshot.of, rows))


async def _notified(
    connection: psycopg.AsyncConnection[Any], seconds: float, at_least: int | None = None
) -> set[int]:
    """The task ids of the notifications of the next seconds, or of fewer once there are `at_least`."""
    ids: set[int] = set()
    async for notification in connection.notifies(timeout=seconds, stop_after=at_least):
        # Whoever may connect may notify: what is no id is nobody's task.
        ids.update(map(int, _ID.findall(notification.payload)))
    return ids


@asynccontextmanager
async def _connection() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """A connection beside Django's pool, to the same database."""
    given = connections[DEFAULT_DB_ALIAS].get_connection_params()
    for django_own in ("cursor_factory", "context", "prepare_threshold"):
        given.pop(django_own, None)
    given |= {"application_name": APPLICATION_NAME, "connect_timeout": int(ANSWER_SECONDS)}
    # A network that swallows packets is noticed, also where nothing is sent.
    given |= {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3}
    async with await psycopg.AsyncConnection.connect(**given, autocommit=True) as connection:
        yield connection
