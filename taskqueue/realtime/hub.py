"""Who follows what, in this process: streams, their bounds, and what waits for each."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import Error, connections

from taskqueue.realtime.listener import listen
from taskqueue.realtime.snapshots import Snapshot, event

logger = logging.getLogger(__name__)

RESYNC = event({"type": "resync"})  # read again: something may have been missed, from now on nothing is
LOST = event({"type": "lost"})  # nothing is told for now: ask yourself

Departed = Callable[[Collection[Any]], Collection[Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process carries.

    A browser with six streams over HTTP/1.1 to one host can open no page of it, so pages that nobody sees
    close theirs; a person's bound is for machines. A client that does not read keeps `waiting` states at the
    most, of about 300 bytes each.
    """

    streams: int = 500
    streams_of_one: int = 12
    waiting: int = 200
    beat_seconds: float = 15.0
    recheck_seconds: float = 15.0
    retry_after_seconds: int = 30


class Refused(Exception):
    """There is no room for another stream now."""


@dataclass(eq=False, slots=True)
class Subscription:
    """One client's place, and what waits for it: of each task the newest state, in the order of changes."""

    account: str
    is_staff: bool
    ticket: Hashable
    most: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _states: dict[int, bytes] = field(default_factory=dict)
    _notice: bytes = b""
    _something: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, task_id: int, message: bytes) -> None:
        """The state replaces an older one that waits. Too many, and the client is to read again instead."""
        self._states.pop(task_id, None)
        self._states[task_id] = message
        if len(self._states) > self.most:
            self.tell(RESYNC)
        self._something.set()

    def tell(self, notice: bytes) -> None:
        """The client is to act on this; it makes up for every state that waits."""
        self._states.clear()
        self._notice = notice
        self._something.set()

    def end(self) -> None:
        self.ended.set()
        self._something.set()

    async def next(self, seconds: float) -> bytes | None:
        """All that waits; b"" if nothing came within the seconds, None at the end of the stream."""
        try:
            async with asyncio.timeout(seconds):
                await self._something.wait()
        except TimeoutError:
            return b""
        if self.ended.is_set():
            return None
        taken = self._notice + b"".join(self._states.values())
        self._states.clear()
        self._notice = b""
        self._something.clear()
        return taken


class Hub:
    """The streams of one process, and the one connection that feeds them. Lives on one event loop, lock-free.

    The connection is made when the first client comes: a process that has none costs the database nothing,
    and a process that forks before does not share it.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._followers: dict[Subscription, Departed] = {}
        self._is_connected = False
        self._has_ended = False
        self._tasks: set[asyncio.Task[None]] = set()

    def subscribe(
        self, *, account: str, is_staff: bool, ticket: Hashable, departed: Departed
    ) -> Subscription:
        """A place for one client, until `unsubscribe`.

        Every so often `departed`, given all its tickets, returns those whose holders may no longer follow.
        It is called in a thread and may use the database. Raises Refused.
        """
        of_one = sum(follower.account == account for follower in self._followers)
        is_full = len(self._followers) >= self.limits.streams or of_one >= self.limits.streams_of_one
        if self._has_ended or is_full:
            raise Refused
        new = Subscription(account, is_staff, ticket, self.limits.waiting)
        new.tell(RESYNC if self._is_connected else LOST)
        self._followers[new] = departed
        if not self._tasks:
            self._tasks = {asyncio.create_task(listen(self)), asyncio.create_task(self._recheck())}
            for task in self._tasks:
                task.add_done_callback(self._stopped)
        return new

    def unsubscribe(self, leaving: Subscription) -> None:
        self._followers.pop(leaving, None)

    def end(self) -> None:
        """Every stream ends now, no other begins, and the connection is closed."""
        self._has_ended = True
        for follower in self._followers:
            follower.end()
        for task in self._tasks:
            task.cancel()

    def accounts(self) -> frozenset[str] | None:
        if any(follower.is_staff for follower in self._followers):
            return None
        return frozenset(follower.account for follower in self._followers)

    def publish(self, snapshots: Iterable[Snapshot]) -> None:
        """Staff get every task, a person those of their own account (Q13, Q15)."""
        staff = [follower for follower in self._followers if follower.is_staff]
        own = defaultdict(list)
        for follower in self._followers:
            if not follower.is_staff:
                own[follower.account].append(follower)
        for snapshot in snapshots:
            for followers, is_staff in ((staff, True), (own.get(snapshot.account, ()), False)):
                message = snapshot.message(is_staff=is_staff) if followers else b""
                for follower in followers:
                    follower.offer(snapshot.id, message)

    def connected(self) -> None:
        self._is_connected = True
        self._tell(RESYNC)

    def disconnected(self) -> None:
        if self._is_connected:
            self._is_connected = False
            self._tell(LOST)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        """A fault of ours: without a listener or a recheck no stream may go on. Pages ask for themselves."""
        if not task.cancelled() and (fault := task.exception()):
            logger.error("live updates end in this process", exc_info=fault)
            self.end()

    def _tell(self, notice: bytes) -> None:
        for follower in self._followers:
            follower.tell(notice)

    async def _recheck(self) -> None:
        """End the streams of people who signed out or were shut out, a whole process's in one question."""
        while True:
            await asyncio.sleep(self.limits.recheck_seconds)
            for departed in set(self._followers.values()):
                group = [one for one, asks in self._followers.items() if asks == departed]
                try:
                    gone = await asyncio.to_thread(_ask, departed, {one.ticket for one in group})
                except Error as error:  # the database is away: then there is nothing to follow either
                    logger.warning("streams are not rechecked: %s", error)
                    continue
                for one in group:
                    if one.ticket in gone:
                        one.end()


def _ask(departed: Departed, tickets: Collection[Any]) -> Collection[Any]:
    try:
        return departed(tickets)
    finally:
        connections.close_all()  # the thread is asyncio's, and no request's end closes it
