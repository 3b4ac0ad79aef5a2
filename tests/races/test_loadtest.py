"""`manage.py loadtest`, run as people run it: its verdict, and that it can be a bad one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

FAULTS = {"worker", "session", "stop", "supervisor", "machine", "freeze", "deploy"}


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "loadtest", "--workers", "2", "--accounts", "5", *arguments],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str, **environment: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, what stdout says, and stderr."""
    process = start(*arguments, **environment)
    try:
        out, err = process.communicate()
    finally:
        process.kill()  # its fleet ends with it
    return process.returncode, json.loads(out or "{}"), err


def databases() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database")
        return {name for (name,) in cursor.fetchall()}


def name_of(database_line: str) -> str:
    found = re.match(r"In (rolecall_loadtest_\w+): ", database_line)
    assert found, database_line
    return found[1]


def test_what_the_queue_promises_holds_while_workers_are_killed_stopped_and_cut_off() -> None:
    """Q1 to Q6, Q8 to Q12."""
    status, report, err = run("--tasks", "500", "--kill")

    assert (status, report["verdict"], report["broken"]) == (0, "held", []), err
    assert report["figures"]["faults"].keys() >= FAULTS
    checked = {name: found["checked"] for name, found in report["invariants"].items()}
    assert checked["none_lost"] >= 490  # without the few whose producer rolls back
    assert [name for name, number in checked.items() if not number] == []


@pytest.mark.parametrize(
    ("handlers", "broken"),
    [("two_effects", "effects_not_twice"), ("unguarded_end", "no_stale_write")],
)
def test_what_is_broken_is_found(handlers: str, broken: str, tmp_path: Path) -> None:
    module = f"tests.races.broken.{handlers}"
    status, report, err = run("--tasks", "200", "--handlers", module, TMPDIR=str(tmp_path))

    assert (status, report["verdict"]) == (1, "broken"), err
    assert broken in report["broken"]
    finding = report["invariants"][broken]
    assert finding["broken"] >= len(finding["first"]) > 0
    assert isinstance(finding["first"][0]["id"], int)
    assert list(tmp_path.glob("rolecall_loadtest_*/machine-1.log"))


def test_an_interrupted_run_leaves_nothing_behind() -> None:
    process = start("--tasks", "5000", "--kill")
    assert process.stderr
    name = name_of(process.stderr.readline())
    assert name in databases()

    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate()

    assert (process.returncode, out) == (130, "")
    assert name not in databases()


@pytest.mark.skipif(not settings.IS_LOCAL, reason="the server of DATABASE_URL may not let a new role in")
def test_a_role_that_may_make_no_database_is_told_what_to_do() -> None:
    name, host = connection.settings_dict["NAME"], quote(connection.settings_dict["HOST"], safe="")
    url = f"postgres://loadtest_stranger@/{name}?host={host}"
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE loadtest_stranger LOGIN")
        try:
            status, report, err = run(DATABASE_URL=url, SECRET_KEY="secret")
        finally:
            cursor.execute("DROP ROLE loadtest_stranger")

    assert (status, report) == (1, {})
    assert 'ALTER ROLE "loadtest_stranger" CREATEDB' in err
    assert "Traceback" not in err


def test_a_database_that_does_not_answer_is_named() -> None:
    status, report, err = run(DATABASE_URL="postgres://nobody@/nothing?host=%2Fnowhere", SECRET_KEY="secret")

    assert (status, report) == (1, {})
    assert "does not answer" in err
    assert "Traceback" not in err
