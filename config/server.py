"""Gunicorn's ASGI worker, and what that leaves out for connections that ask for nothing.

As of 27.0 it takes any number of them, waits for a first request without end, and on a stop waits for each of
them until graceful_timeout: a browser that keeps one open in advance would hold up every restart.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol  # type: ignore[import-untyped]
from gunicorn.workers.gasgi import ASGIWorker  # type: ignore[import-untyped]

from config.gateway import Receive, Scope, Send

LOOK_SECONDS = 0.25
FIRST_REQUEST_SECONDS = 10.0  # to send the head of a connection's first request
FLUSH_SECONDS = 5.0  # to take the rest of an answer from a server that stops
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
# Of what a client does not take the kernel would keep megabytes, where they get old, and it would wait a
# quarter of an hour for one that vanished. Not every system has both.
KERNEL_BOUNDS = {"TCP_NOTSENT_LOWAT": 128 * 1024, "TCP_USER_TIMEOUT": 60_000}  # bytes; milliseconds


class Worker(ASGIWorker):  # type: ignore[misc]
    """The `worker_class` of config/gunicorn.py. An application with an `end` is told when a stop begins."""

    asgi: Any

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.application, self.asgi = self.asgi, self._answer
        self.connections: set[Connection] = set()
        self.answering: Counter[Any] = Counter()  # requests under way, by the client's address

    def run(self) -> None:
        listen = self.loop.create_server

        def connect() -> asyncio.Protocol:
            is_full = len(self.connections) >= self.cfg.worker_connections
            return Refusal() if is_full else Connection(self)

        def create_server(_: object, **options: Any) -> Any:
            return listen(connect, **options)

        self.loop.create_server = create_server
        self.tending = self.loop.create_task(self._tend())  # a task that nobody holds may be collected
        super().run()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        self.answering[client] += 1
        try:
            await self.application(scope, receive, send)
        finally:
            self.answering[client] -= 1
            if not self.answering[client]:
                del self.answering[client]

    async def _tend(self) -> None:
        """Close connections that ask for nothing: while serving those that never did, on a stop all."""
        idle_before: set[Connection] = set()
        stop_began_at: float | None = None
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = self.loop.time()
            idle = {one for one in self.connections if not self.answering[one.client]}
            if self.alive:
                for one in idle:
                    if one.req_count <= 1 and now - one.made_at > FIRST_REQUEST_SECONDS:
                        one.transport.close()
                continue
            if stop_began_at is None:
                stop_began_at = now
                getattr(self.application, "end", bool)()
            for one in idle & idle_before:  # twice: a request may be on its way
                if now - stop_began_at > FLUSH_SECONDS:
                    one.transport.abort()
                else:
                    one.transport.close()  # once what is left of an answer is taken
            idle_before = idle


class Connection(ASGIProtocol):  # type: ignore[misc]
    """A connection that its worker knows of."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        self.client = tuple(peer[:2]) if peer else None  # as the scope has it
        self.made_at = self.worker.loop.time()
        self.worker.connections.add(self)
        connected = transport.get_extra_info("socket")
        if connected.family != socket.AF_UNIX:
            for name, value in KERNEL_BOUNDS.items():
                if option := getattr(socket, name, None):
                    connected.setsockopt(socket.IPPROTO_TCP, option, value)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.worker.connections.discard(self)
        super().connection_lost(exc)


class Refusal(asyncio.Protocol):
    """One connection too many: it is told so when it asks, and closed when it does not."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.closing = asyncio.get_running_loop().call_later(FIRST_REQUEST_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self.transport.write(REFUSAL)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closing.cancel()
