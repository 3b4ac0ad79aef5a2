"""HTTP servers on 127.0.0.1 that behave as they are told: the outside world, over real sockets."""

from __future__ import annotations

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pytest_django import Settings

from catalog.adapters.address import IPAddress
from catalog.adapters.wire import Internet, verifying_tls


@dataclass
class Exchange:
    """One connection, after the head of its request has been read."""

    connection: socket.socket
    head: bytes
    stopped: threading.Event
    sent: int = 0

    @property
    def path(self) -> str:
        return self.head.split(b" ", 2)[1].decode("latin-1")

    def header(self, name: str) -> str | None:
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)
        self.sent += len(data)


Reply = Callable[[Exchange], None]


@dataclass
class Server:
    port: int
    reply: Reply
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def pair(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"http://{self.pair}"

    @property
    def paths(self) -> list[str]:
        return [exchange.path for exchange in self.exchanges]


@contextmanager
def serve(reply: Reply, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server that gives each connection to `reply` and closes it afterwards."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(port=listener.getsockname()[1], reply=reply)
    stopped = threading.Event()
    threads: list[threading.Thread] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                thread = threading.Thread(target=talk, args=[connection], daemon=True)
                threads.append(thread)
                thread.start()

    def talk(connection: socket.socket) -> None:
        with (
            suppress(OSError),
            connection if tls is None else tls.wrap_socket(connection, server_side=True) as it,
        ):
            exchange = Exchange(it, _read_head(it), stopped)
            server.exchanges.append(exchange)
            server.reply(exchange)

    threads.append(threading.Thread(target=accept, daemon=True))
    threads[0].start()
    try:
        yield server
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in threads:
            thread.join(timeout=10)


def _read_head(connection: socket.socket) -> bytes:
    """Up to the blank line, or what has come of a greeting in TLS to a server that knows no TLS."""
    head = b""
    while b"\r\n\r\n" not in head and not head.startswith(b"\x16"):
        data = connection.recv(65536)
        if not data:
            break
        head += data
    return head


def raw(*pieces: bytes) -> Reply:
    """Sends the pieces as they are and hangs up."""

    def reply(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.send(piece)

    return reply


def answer(status: int = 200, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
    """A well-formed response."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return raw("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def redirect(location: str, status: int = 302) -> Reply:
    return answer(status, headers={"Location": location})


def site(pages: Mapping[str, Reply]) -> Reply:
    """Answers by path, with 404 for every other."""

    def reply(exchange: Exchange) -> None:
        pages.get(exchange.path, answer(404))(exchange)

    return reply


def endless(head: bytes, piece: bytes, times: int) -> Reply:
    """A head and then `piece` again and again, until the reader hangs up or `times` is over."""

    def reply(exchange: Exchange) -> None:
        exchange.send(head)
        for _ in range(times):
            exchange.send(piece)

    return reply


def dripping(at_once: bytes, byte_by_byte: bytes) -> Reply:
    """A complete response that takes its time: each byte is on time, the whole is not."""

    def reply(exchange: Exchange) -> None:
        exchange.send(at_once)
        for value in byte_by_byte:
            if exchange.stopped.wait(0.05):
                return
            exchange.send(bytes([value]))

    return reply


def silent(exchange: Exchange) -> None:
    exchange.stopped.wait(30)


def reset(exchange: Exchange) -> None:
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class LocalServers:
    """Starts servers on pairs that the settings allow, for one test."""

    def __init__(self, settings: Settings, stack: ExitStack) -> None:
        self._settings = settings
        self._stack = stack
        settings.FETCH_ALLOW_PRIVATE_HOSTS = []
        settings.FETCH_BASE_URL_OVERRIDES = {}

    def __call__(self, reply: Reply, *, is_allowed: bool = True, tls: ssl.SSLContext | None = None) -> Server:
        server = self._stack.enter_context(serve(reply, tls=tls))
        if is_allowed:
            self.allow(server.pair)
        return server

    def allow(self, pair: str) -> None:
        self._settings.FETCH_ALLOW_PRIVATE_HOSTS = [*self._settings.FETCH_ALLOW_PRIVATE_HOSTS, pair]


@dataclass
class FakeInternet:
    """Names and addresses of a made-up internet, all of whose addresses lead to local servers by port.

    `dns` maps a name to its successive answers, None for a name that does not exist.
    """

    dns: Mapping[str, list[list[str]] | None]
    servers: Mapping[int, Server]
    tls: Callable[[], ssl.SSLContext] = verifying_tls
    lookups: list[str] = field(default_factory=list)
    connections: list[tuple[str, int]] = field(default_factory=list)

    def internet(self) -> Internet:
        return Internet(look_up=self.look_up, open_socket=self.open_socket, tls=self.tls)

    def look_up(self, name: str, port: int) -> list[str]:
        name = name.removesuffix(".")
        answers = self.dns.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        seen = self.lookups.count(name)
        self.lookups.append(name)
        return answers[min(seen, len(answers) - 1)]

    def open_socket(self, address: IPAddress, port: int, timeout: float) -> socket.socket:
        self.connections.append((str(address), port))
        return socket.create_connection(("127.0.0.1", self.servers[port].port), timeout)


@dataclass(frozen=True)
class Certificate:
    file: Path
    key: Path

    def server_side(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context

    def trusting(self) -> ssl.SSLContext:
        """A client's context that trusts this certificate alone."""
        return ssl.create_default_context(cafile=str(self.file))


def make_certificate(folder: Path, names: list[str], *, days: int = 2) -> Certificate:
    """A self-signed certificate for host names and addresses."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("making a certificate needs the openssl program")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    kinds = {True: "DNS", False: "IP"}
    alternatives = ",".join(f"{kinds[':' not in name and name[-1].isalpha()]}:{name}" for name in names)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(made.key)]
    subject = ["-subj", "/CN=test", "-addext", f"subjectAltName={alternatives}", "-days", str(days)]
    command = [openssl, "req", "-x509", *key, *subject, "-out", str(made.file)]
    subprocess.run(command, check=True, capture_output=True)
    return made
