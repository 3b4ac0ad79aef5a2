"""`manage.py start`: what `make run` calls, on a database of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection

from config.settings import BASE_DIR

DATABASE = f"start_{os.getpid()}"
COUNT_ROWS = """
    SELECT json_build_object(
        'sources', (SELECT count(*) FROM catalog_source),
        'listings', (SELECT count(*) FROM catalog_listing),
        'postings', (SELECT count(*) FROM catalog_posting),
        'observations', (SELECT count(*) FROM catalog_observation),
        'texts', (SELECT count(*) FROM catalog_postingtext),
        'decisions', (SELECT count(*) FROM reviews_decision),
        'verdicts', (SELECT count(*) FROM reviews_verdict),
        'members', (SELECT count(*) FROM boards_boardmember),
        'memberships', (SELECT count(*) FROM boards_membership),
        'people', (SELECT count(*) FROM tracker_user))
"""


@pytest.fixture(scope="module")
def environment(django_db_setup: None) -> Iterator[dict[str, str]]:
    """The environment of a server with a DATABASE_URL, here a fresh database beside the tests' own."""
    given = {**connection.settings_dict}
    where = {"host": given["HOST"], "user": given["USER"], "password": given["PASSWORD"] or None}
    socket_folder = quote(str(given["HOST"]), safe="")
    with psycopg.connect(dbname="postgres", autocommit=True, **where) as admin:
        admin.execute(f'CREATE DATABASE "{DATABASE}"')
        yield {
            **os.environ,
            "DATABASE_URL": f"postgres://{given['USER']}@/{DATABASE}?host={socket_folder}",
            "SECRET_KEY": "a secret of the test alone " * 3,
            "ALLOWED_HOSTS": "127.0.0.1",
        }
        admin.execute(f'DROP DATABASE "{DATABASE}" WITH (FORCE)')
    (BASE_DIR / "var" / f"first-login-{DATABASE}.txt").unlink(missing_ok=True)


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


def start(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "start", "--bind", f"127.0.0.1:{free_port()}", *arguments]
    return subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=170)


def rows(environment: dict[str, str]) -> dict[str, int]:
    with psycopg.connect(environment["DATABASE_URL"]) as database:
        counted = database.execute(COUNT_ROWS).fetchone()
    assert counted is not None
    return dict(counted[0])


def test_a_first_run_publishes_both_boards_and_a_second_adds_nothing(environment: dict[str, str]) -> None:
    first = start(environment, "--exit-when-idle")

    assert first.returncode == 0, first.stdout + first.stderr
    assert len(re.findall(r"^Published: http://\S+/b/[\w-]+/$", first.stdout, re.MULTILINE)) == 2
    assert re.search(r"^Sign in: admin / \S+", first.stdout, re.MULTILINE)
    written = rows(environment)
    assert written["listings"] >= 60
    assert written["members"] >= 18
    assert written["memberships"] > 0

    second = start(environment, "--exit-when-idle")

    assert second.returncode == 0, second.stdout + second.stderr
    assert rows(environment) == written


def test_a_port_that_is_taken_is_named_with_the_way_out(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "manage.py", "start", "--bind", bind]
        answer = subprocess.run(
            command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=60
        )

    assert answer.returncode == 1
    assert bind in answer.stderr
    proposed = re.search(r"--bind 127\.0\.0\.1:(\d+)", answer.stderr)
    assert proposed
    assert int(proposed[1]) > int(bind.rpartition(":")[2])
    assert "Traceback" not in answer.stderr


def test_an_interrupt_stops_everything_that_was_started(environment: dict[str, str]) -> None:
    port = free_port()
    command = [sys.executable, "manage.py", "start", "--bind", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        command, cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("sources "):
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 0

    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
        pass
