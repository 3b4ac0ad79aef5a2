"""The real web server as a process tree: gunicorn with config/gunicorn.py."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from django.db import connection

from tests.conftest import PROJECT
from tests.taskqueue.waiting import LONGEST_SECONDS, until


@dataclass(frozen=True)
class Server:
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_SECONDS)

    def get(self, path: str, cookie: str = "", method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """Status, headers with lower-case names, body."""
        with closing(self.connect()) as asking:
            asking.request(method, path, headers={"Cookie": cookie, "Accept": "text/html"})
            answer = asking.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def workers(self) -> list[int]:
        """The processes that serve."""
        found = subprocess.run(
            ["pgrep", "--parent", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in found.stdout.split()]

    def stop(self) -> int:
        """As a deploy does; returns the exit status."""
        self.process.terminate()
        return self.process.wait(LONGEST_SECONDS)


@contextmanager
def web(
    folder: Path, *, make: str = "make", options: Sequence[str] = (), processes: int = 1, **given: Any
) -> Iterator[Server]:
    """A server that answers; killed with its processes when the test leaves.

    `make` names the function of tests.realtime.application that gets the database's name and `given`.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py"]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", str(processes)]
    command += [
        *options,
        f"tests.realtime.application:{make}({connection.settings_dict['NAME']!r}, {given!r})",
    ]
    log = folder / f"web-{port}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env={name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"},
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
    server = Server(port, process, log)
    try:
        until(lambda: _answers(server))
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(server: Server) -> bool:
    assert server.process.poll() is None, server.log.read_text()
    try:
        return server.get("/healthz")[0] == 200
    except OSError:
        return False
