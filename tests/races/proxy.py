"""A proxy between a process and PostgreSQL that fails at a chosen request.

It understands of the protocol what tells one request from the next (PostgreSQL 18, "Message Formats"): the
client's messages up to Sync, a simple Query or the startup, and the server's up to ReadyForQuery. No TLS.
"""

from __future__ import annotations

import ctypes
import io
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Self

from django.db import connection

LONGEST_LABEL = 60  # characters of a statement tell it from the others
STARTUP = "startup"
EMPTY = "nothing"  # the pool's question whether a connection is alive
_VALUES = re.compile(r"'[^']*'?|\d+(_x\d+)?")
_ENCRYPTION = (80877103, 80877104)  # SSLRequest and GSSENCRequest; the answer N declines
_ENDS_REQUEST = b"SQc"
_SO_ATTACH_FILTER = 26  # Linux


class Way(Enum):
    """What becomes of a request."""

    BEFORE = "cut before it reaches the server"
    AFTER = "cut after the server did it, before its answer passes"
    WITHIN = "cut in the middle of the answer"
    SILENT = "the server did it, and from then on nobody hears anything: half-open"
    HELD = "kept on its way until the test lets it go, its sender cut off or not"
    KEPT = "the server did it; its answer is kept until the test lets it go"


@dataclass(frozen=True, slots=True)
class Fault:
    """The `number`-th request labelled so, from now on, fails in this way."""

    label: str
    way: Way
    number: int = 1


class Proxy:
    """Listens on a port of 127.0.0.1, `port`, and speaks with the tests' own server.

    `struck` tells when every armed fault has happened; from then on everything gets through.
    """

    def __init__(self) -> None:
        self.struck = threading.Event()
        self._address = (connection.settings_dict["HOST"], connection.settings_dict["PORT"])
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._let_go = threading.Event()
        self._seen: Counter[str] = Counter()
        self._links: list[_Link] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._let_go.set()
        self.cut_all()

    def arm(self, *faults: Fault) -> None:
        """From now on requests are counted, and at these they fail, each counted from the one before."""
        with self._lock:
            self.struck.clear()
            self._let_go.clear()
            self._seen = Counter()
            self._faults = list(faults)

    def seen(self) -> Counter[str]:
        """How often each statement was sent since the last `arm`."""
        with self._lock:
            return Counter(self._seen)

    def cut_all(self) -> None:
        """As a restart of the server does. What was half-open is forgotten by the server, too."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.cut()

    def cut_silent(self) -> None:
        """The server gives up what is half-open, as keepalives make it. The client hears nothing."""
        with self._lock:
            silent = [link for link in self._links if link.is_silent]
        for link in silent:
            link.cut_server()

    def cut_sender(self) -> None:
        """Whoever sent the request that is held has lost the connection; the request is still under way."""
        with self._lock:
            held = [link for link in self._links if link.is_held]
        for link in held:
            link.cut_client()

    def let_go(self) -> None:
        """The request that is held goes on to the server, the answer that is kept to the client."""
        self._let_go.set()

    def meet(self, label: str) -> Way | None:
        """Called by a link for each request: how it fails, if it does."""
        with self._lock:
            self._seen[label] += 1
            if not self._faults or (label, self._seen[label]) != (
                self._faults[0].label,
                self._faults[0].number,
            ):
                return None
            self._seen = Counter()
            return self._faults.pop(0).way

    def has_struck(self) -> None:
        """Called by the link when a request has failed."""
        with self._lock:
            if not self._faults:
                self.struck.set()

    def wait_to_go(self) -> None:
        self._let_go.wait(60)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = _connected(*self._address)
                link = _Link(self, client, server)
                with self._lock:
                    self._links = [one for one in self._links if not one.is_over] + [link]
                link.start()


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.is_silent = self.is_held = self.is_over = False
        self._proxy = proxy
        self._client = client
        self._server = server
        self._statements: dict[bytes, str] = {}  # prepared, by their names
        self._fate: Way | None = None

    def start(self) -> None:
        for pump in (self._requests, self._answers):
            threading.Thread(target=self._run, args=[pump], daemon=True).start()

    def cut(self) -> None:
        self.is_over = True
        self.cut_client()
        self.cut_server()

    def cut_client(self) -> None:
        _end(self._client)

    def cut_server(self) -> None:
        _end(self._server)

    def _run(self, pump: object) -> None:
        assert callable(pump)
        try:
            with suppress(OSError, EOFError):
                pump()
        finally:
            if not self.is_silent:
                self.cut()

    def _requests(self) -> None:
        with self._client.makefile("rb") as stream:
            self._pass(self._startup(stream), STARTUP)
            for request, label in self._next_requests(stream):
                self._pass(request, label)

    def _pass(self, request: bytes, label: str) -> None:
        way = self._proxy.meet(label)
        if way is Way.HELD:
            self.is_held = True
            self._proxy.has_struck()
            self._proxy.wait_to_go()
            self.is_held = False
        if way is Way.BEFORE:
            self._strike(way)
        self._fate = way if way in (Way.AFTER, Way.WITHIN, Way.SILENT, Way.KEPT) else None
        self._server.sendall(request)

    def _strike(self, way: Way) -> None:
        """Ends the calling pump."""
        if way is Way.SILENT:
            self.is_silent = True
            make_deaf(self._client)
        else:
            self.cut()
        self._proxy.has_struck()
        raise EOFError

    def _startup(self, stream: io.BufferedReader) -> bytes:
        while True:
            length = _exactly(stream, 4)
            body = _exactly(stream, struct.unpack("!I", length)[0] - 4)
            if struct.unpack("!I", body[:4])[0] not in _ENCRYPTION:
                return length + body
            self._client.sendall(b"N")

    def _next_requests(self, stream: io.BufferedReader) -> Iterator[tuple[bytes, str]]:
        request, label = b"", ""
        while True:
            kind, message = _message(stream)
            label = label or self._label(kind, message[5:])
            request += message
            if kind in _ENDS_REQUEST:
                yield request, label
                request, label = b"", ""
            elif kind == b"X":
                self._server.sendall(message)

    def _label(self, kind: bytes, body: bytes) -> str:
        """The beginning of the statement's text, also where only its name is sent."""
        if kind == b"Q":
            return _words(body)
        if kind == b"P":
            name, text, *_ = body.split(b"\0", 2)
            self._statements[name] = _words(text)
            return self._statements[name]
        if kind == b"B":
            return self._statements[body.split(b"\0", 2)[1]]
        return kind.decode() if kind != b"S" else ""

    def _answers(self) -> None:
        answer = b""
        with self._server.makefile("rb") as stream:
            while True:
                kind, message = _message(stream)
                if self.is_silent:
                    return
                if self._fate is None:
                    self._client.sendall(message)
                    continue
                answer += message
                if kind != b"Z":
                    continue
                if self._fate is Way.KEPT:
                    self._proxy.has_struck()
                    self._proxy.wait_to_go()
                    self._fate = None
                    self._client.sendall(answer)
                    answer = b""
                    continue
                if self._fate is Way.WITHIN:
                    self._client.sendall(answer[: len(answer) // 2])
                self._strike(self._fate)


def can_make_deaf() -> bool:
    """Whether this process may: not everywhere, and on Linux only."""
    with socket.socket() as some:
        try:
            make_deaf(some)
        except OSError:
            return False
    return True


def make_deaf(some: socket.socket) -> None:
    """Nothing that is sent to the socket arrives or is acknowledged, keepalives included (socket(7)).

    As when the machine behind it lost its power: a connection that merely pauses would be acknowledged.
    """
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF_RET, 0 bytes
    program = struct.pack("@HP", 1, ctypes.addressof(drop_all))
    some.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def label_of(statement: str) -> str:
    """What requests with the statement are called: its beginning, without the values."""
    return _VALUES.sub("?", " ".join(statement.split())[:LONGEST_LABEL]) or EMPTY


def _connected(host: str, port: str) -> socket.socket:
    """A host that begins with a slash is the folder of a socket file, as libpq has it."""
    if not host.startswith("/"):
        return socket.create_connection((host or "localhost", int(port or 5432)))
    server = socket.socket(socket.AF_UNIX)
    server.connect(f"{host}/.s.PGSQL.{port or 5432}")
    return server


def _message(stream: io.BufferedReader) -> tuple[bytes, bytes]:
    head = _exactly(stream, 5)
    return head[:1], head + _exactly(stream, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(stream: io.BufferedReader, size: int) -> bytes:
    data = stream.read(size)
    if data is None or len(data) < size:
        raise EOFError
    return data


def _words(text: bytes) -> str:
    return label_of(text.rstrip(b"\0").decode(errors="replace"))


def _end(some: socket.socket) -> None:
    with suppress(OSError):
        some.shutdown(socket.SHUT_RDWR)
    some.close()
