"""Serves the sample's boards over loopback as their platforms do: same paths, same bodies, same refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit

from catalog.sample import API_HOSTS, BOARDS_DIR

# A date of the sample is written as an age, so that a board looks recent whenever it is loaded.
_AGE: Final = re.compile(r'"\{\{days_ago:(\d+(?:\.\d+)?)\}\}"')
_TOKEN: Final = re.compile(r"[a-z0-9-]+")
_EASTERN: Final = timezone(timedelta(hours=-4))
_KINDS: Final = {host: kind for kind, host in API_HOSTS.items()}


class Reply(NamedTuple):
    status: int
    content_type: str
    body: bytes


class SampleServer:
    """The sample's boards at `url`, on the loopback interface. Dates count back from `today`.

    >>> with SampleServer() as server:
    ...     fetch(f"{server.url}/api.lever.co/v0/postings/sample-osterwatt?mode=json")
    """

    def __init__(self, port: int = 0, *, today: date | None = None) -> None:
        started = today or datetime.now(UTC)
        day = started.astimezone(UTC).date() if isinstance(started, datetime) else started
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(day))
        self._http.daemon_threads = True
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def start(self) -> Self:
        self._thread = Thread(target=self._http.serve_forever, name="sample-server", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End serving and free the port. May be called more than once, and without a start."""
        if self._thread:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def reply_to(target: str, today: date) -> Reply:
    """What the platform named by the first part of the path answers to a GET of `target`."""
    parts = urlsplit(target)
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    kind = _KINDS.get(segments[0]) if segments else None
    if kind is None:
        return _json({"error": "the path begins with the host of a platform's API"}, 404)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    return _PLATFORMS[kind](segments[1:], query, today)


def _greenhouse(segments: list[str], query: Mapping[str, str], today: date) -> Reply:
    match segments:
        case ["v1", "boards", token, "jobs"] if board := _board("greenhouse", token, today):
            jobs = [_greenhouse_job(job, query) for job in board["jobs"]]
            return _json({"jobs": jobs, "meta": {"total": len(jobs)}})
        case ["v1", "boards", token, "jobs", posting] if board := _board("greenhouse", token, today):
            found = [job for job in board["jobs"] if str(job["id"]) == posting]
            if found:
                return _json(_greenhouse_job(found[0], {**query, "content": "true"}))
        case ["v1", "boards", _]:
            return _json({"status": 404, "error": "Job board not found"}, 404)
    return _json({"status": 404, "error": "Job not found"}, 404)


def _greenhouse_job(job: dict[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """The job as asked for: texts and pay are sent only on request."""
    left_out = set()
    if query.get("content") != "true":
        left_out |= {"content", "departments", "offices"}
    if query.get("pay_transparency") != "true":
        left_out |= {"pay_input_ranges"}
    return {name: value for name, value in job.items() if name not in left_out}


def _lever(segments: list[str], query: Mapping[str, str], today: date) -> Reply:
    match segments:
        case ["v0", "postings", token] if board := _board("lever", token, today):
            return _json(board["postings"])
        case ["v0", "postings", token, posting] if board := _board("lever", token, today):
            found = [row for row in board["postings"] if row["id"] == posting]
            if found:
                return _json(found[0])
    return _json({"ok": False, "error": "Document not found"}, 404)


def _ashby(segments: list[str], query: Mapping[str, str], today: date) -> Reply:
    match segments:
        case ["posting-api", "job-board", token] if board := _board("ashby", token, today):
            if query.get("includeCompensation") != "true":
                for job in board["jobs"]:
                    job.pop("compensation", None)
            return _json(board)
    return Reply(404, "text/plain; charset=utf-8", b"Not Found")


_PLATFORMS: Final[dict[str, Callable[[list[str], Mapping[str, str], date], Reply]]] = {
    "greenhouse": _greenhouse,
    "lever": _lever,
    "ashby": _ashby,
}


def _board(kind: str, token: str, today: date) -> dict[str, Any] | None:
    """A board as its platform sends it, dates counted back from `today`; None for one that is not here."""
    path = BOARDS_DIR / kind / f"{token}.json"
    if not _TOKEN.fullmatch(token) or not path.is_file():
        return None
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC)

    def dated(age: re.Match[str]) -> str:
        return json.dumps(_DATES[kind](midnight - timedelta(days=float(age[1]))))

    board = json.loads(_AGE.sub(dated, path.read_text(encoding="utf-8")))
    return {"postings": board} if isinstance(board, list) else board


# How each platform writes an instant.
_DATES: Final[dict[str, Callable[[datetime], str | int]]] = {
    "greenhouse": lambda at: at.astimezone(_EASTERN).isoformat(timespec="seconds"),
    "lever": lambda at: int(at.timestamp() * 1000),
    "ashby": lambda at: at.isoformat(timespec="milliseconds"),
}


def _json(body: object, status: int = 200) -> Reply:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Reply(status, "application/json; charset=utf-8", text.encode())


def _handler(today: date) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "sample"

        def do_GET(self) -> None:
            reply = reply_to(self.path, today)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a pull's row tells what was asked."""

    return Handler
