"""An ASGI request in WSGI's words (PEP 3333), and the answer back in ASGI's."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import IO, Any
from urllib.parse import unquote_to_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class BodyTooLarge(Exception):
    """The request carries more than is read."""


class ClientLeft(Exception):
    """The client went away before its request was whole."""


async def read_body(scope: Scope, receive: Receive, into: IO[bytes], *, most: int) -> int:
    """Read the request's body into the file, rewound; returns its bytes. Raises BodyTooLarge, ClientLeft."""
    announced = dict(scope["headers"]).get(b"content-length", b"0")
    if int(announced) > most:  # the server has checked that it is a number
        raise BodyTooLarge
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        chunk: bytes = message.get("body", b"")
        if (size := size + len(chunk)) > most:
            raise BodyTooLarge
        into.write(chunk)
        if not message.get("more_body"):
            into.seek(0)
            return size


def environ_of(scope: Scope, body: IO[bytes], size: int) -> dict[str, Any]:
    """The WSGI environment of a request whose body is in the file."""
    # WSGI's text is bytes in disguise: Latin-1 stands for whatever they were.
    path = unquote_to_bytes(scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    root = scope.get("root_path", "").encode().decode("latin-1")
    host, port = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": root,
        "PATH_INFO": path.removeprefix(root),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 0),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    if client := scope.get("client"):
        environ["REMOTE_ADDR"] = client[0]
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        if key in environ:  # a client may split its cookies (RFC 9113, 8.2.3); other lists take a comma
            value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value}"
        environ[key] = value
    environ.pop("HTTP_CONTENT_LENGTH", None)
    environ["CONTENT_LENGTH"] = str(size)  # also of a body that came in chunks
    return environ


def start_message(status: str, headers: list[tuple[str, str]]) -> Message:
    """ASGI's start of the answer that WSGI's `start_response` announces."""
    encoded = [(name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": int(status.split(" ", 1)[0]), "headers": encoded}


def has_body(scope: Scope, start: Message) -> bool:
    """Whether this answer may carry one (RFC 9110, 6.4.1)."""
    return scope["method"] != "HEAD" and start["status"] not in (204, 304)


async def send_whole(send: Send, start: Message, body: bytes) -> None:
    await send(start)
    await send({"type": "http.response.body", "body": body})
