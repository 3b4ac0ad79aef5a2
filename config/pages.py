"""Django's pages under an ASGI server: the WSGI application on a few threads of its own.

The ORM is synchronous, and a page is short. It has one thread from its first query to its last, which is one
database connection: with as many threads as connections no page waits for a connection that another holds.
Whoever comes while all are taken waits on the event loop, a bounded number for a bounded time; beyond that
the server says that it is busy (D2). Streams need neither thread nor connection (taskqueue.realtime).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from config.busy import busy_answer
from config.gateway import (
    BodyTooLarge,
    ClientLeft,
    Message,
    Receive,
    Scope,
    Send,
    environ_of,
    has_body,
    read_body,
    send_whole,
    start_message,
)
from taskqueue.realtime import HUB, EventStream, Hub

MOST_WAITING = 64
LONGEST_WAIT_SECONDS = 10.0
BODY_BYTES = 25_000_000
BODY_BYTES_IN_MEMORY = 500_000
# An answer up to here frees its thread at once, however slowly the client takes it.
ANSWER_BYTES = 1_000_000
STALL_SECONDS = 60.0  # a longer one is given up when the client takes nothing for so long

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(slots=True)
class Answer:
    """What the thread leaves to the event loop: a body, or a stream that begins."""

    start: Message
    body: bytes = b""
    stream: EventStream | None = None


class Pages:
    """An ASGI application of the WSGI one. `hub` is where streams go; None: this server has none."""

    def __init__(self, application: Application, *, threads: int, hub: Hub | None) -> None:
        self.application = application
        self.hub = hub
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="page")
        self._free = asyncio.Semaphore(threads)
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = SpooledTemporaryFile(max_size=BODY_BYTES_IN_MEMORY)  # noqa: SIM115 - the thread closes it
        try:
            size = await read_body(scope, receive, body, most=BODY_BYTES)
        except ClientLeft:
            return
        except BodyTooLarge:
            await send_whole(send, start_message("413", [("Content-Type", "text/plain")]), b"Too large.\n")
            return
        if not await self._has_turn():
            await send_whole(send, *busy_answer(scope, body, size))
            return
        try:
            answer = await self._in_thread(scope, body, size, send)
        except ClientLeft:
            return
        if answer is None:
            return
        if answer.stream is not None:
            await answer.stream.run(answer.start, receive, send)
        else:
            await send_whole(send, answer.start, answer.body)

    async def _has_turn(self) -> bool:
        """Wait for a thread; False when too many wait already, or it takes too long."""
        if self._waiting >= MOST_WAITING:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    async def _in_thread(self, scope: Scope, body: IO[bytes], size: int, send: Send) -> Answer | None:
        """The answer; None when the thread has sent it. It goes on when the client leaves."""
        loop = asyncio.get_running_loop()
        environ = environ_of(scope, body, size)
        if self.hub is not None:
            environ[HUB] = self.hub
        work = _Work(self.application, environ, scope, loop, send)
        future = self._threads.submit(work.run)

        def free(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed: the process ends
                loop.call_soon_threadsafe(self._free.release)

        future.add_done_callback(free)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            work.abandon()
            raise


class _Work:
    """One request, in its thread."""

    def __init__(
        self,
        application: Application,
        environ: dict[str, Any],
        scope: Scope,
        loop: asyncio.AbstractEventLoop,
        send: Send,
    ) -> None:
        self.application = application
        self.environ = environ
        self.scope = scope
        self.loop = loop
        self.send = send
        self.start: Message = {}
        self.sending: asyncio.Task[None] | None = None
        self.is_abandoned = False

    def abandon(self) -> None:
        """The client left: there is nobody to make the rest of the answer for. Called on the event loop."""
        self.is_abandoned = True
        if self.sending:
            self.sending.cancel()

    def run(self) -> Answer | None:
        try:
            result = self.application(self.environ, self._start_response)
            try:
                if isinstance(result, EventStream):
                    return Answer(self.start, stream=result)
                return self._collect(iter(result))
            finally:
                if close := getattr(result, "close", None):
                    close()  # gives the database connection back
        finally:
            self.environ["wsgi.input"].close()

    def _start_response(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        self.start = start_message(status, headers)

    def _collect(self, chunks: Iterator[bytes]) -> Answer | None:
        """The whole answer, or, past ANSWER_BYTES, what is there is sent and the rest as it comes."""
        if not has_body(self.scope, self.start):
            return Answer(self.start)
        taken, size = [], 0
        for chunk in chunks:
            taken.append(chunk)
            if (size := size + len(chunk)) > ANSWER_BYTES:
                break
        else:
            return Answer(self.start, b"".join(taken))
        self._say(self.start)
        self._say({"type": "http.response.body", "body": b"".join(taken), "more_body": True})
        for chunk in chunks:
            self._say({"type": "http.response.body", "body": chunk, "more_body": True})
        self._say({"type": "http.response.body"})
        return None

    def _say(self, message: Message) -> None:
        """Send as fast as the client takes it."""
        sent = asyncio.run_coroutine_threadsafe(self._send(message), self.loop)
        try:
            sent.result(STALL_SECONDS)
        except (TimeoutError, CancelledError):
            sent.cancel()
            raise ClientLeft from None

    async def _send(self, message: Message) -> None:
        if self.is_abandoned:
            raise ClientLeft
        self.sending = asyncio.current_task()
        await self.send(message)
