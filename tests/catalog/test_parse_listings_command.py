"""The command that runs an adapter over a saved response."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.management.commands.parse_listings import Command

PROJECT = Path(__file__).resolve().parents[2]
KEYS = [
    *("external_id", "url", "apply_url", "title", "company", "locations", "remote", "employment_type"),
    *(
        "department",
        "posted_at",
        "updated_at",
        "compensation",
        "description_html",
        "description_text",
        "raw_url",
    ),
]
BOARD = {
    "jobs": [
        {
            "id": 12,
            "absolute_url": "https://job-boards.greenhouse.io/acme/jobs/12",
            "title": "Line\u2028Cook",
            "location": {"name": "Zürich"},
            "pay_input_ranges": [
                {"min_cents": 5000, "max_cents": 7000, "currency_type": "CHF", "title": "Hourly"}
            ],
        },
        {"id": 13, "title": "Link lost"},
    ],
    "meta": {"total": 2},
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "board.json"
    file.write_text(json.dumps(BOARD), encoding="utf-8")
    return file


def run(*arguments: str) -> tuple[list[dict[str, Any]], str]:
    out, err = StringIO(), StringIO()
    call_command(Command(stdout=out, stderr=err), *arguments)
    return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def test_listings_come_one_a_line_and_the_verdict_last(saved: Path) -> None:
    rows, errors = run(
        "greenhouse", str(saved), "--context", '{"token": "acme", "company": "Acme", "host": "x"}'
    )
    assert list(rows[0]) == KEYS
    assert rows[0]["title"] == "Line Cook"
    assert rows[0]["company"] == "Acme"
    assert rows[0]["locations"] == ["Zürich"]
    assert rows[0]["compensation"] == {"min": 50, "max": 70, "currency": "CHF", "period": "hour"}
    assert rows[0]["posted_at"] is None
    assert rows[-1] == {"complete": False, "reason": "1 rows could not be read", "count": 1}
    assert len(rows) == 2
    assert errors == "not read: 13: the row has no link to a public web page\n"


@pytest.mark.parametrize(
    ("content", "fault"), [(b"null", "wrong_shape"), (b"<html>", "html_page"), (b"[" * 100_000, "too_deep")]
)
def test_a_bad_response_is_named(tmp_path: Path, content: bytes, fault: str) -> None:
    file = tmp_path / "bad"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{fault}: ") as refused:
        run("lever", str(file))
    assert refused.value.returncode == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"cannot read .*missing"):
        run("lever", str(tmp_path / "missing"))
    with pytest.raises(CommandError, match="no NUL"):
        run("lever", "a\0b")


@pytest.mark.parametrize(
    "context",
    [
        *("[", "[]", '{"token": 7}', '{"fetched_at": "yesterday"}', "[" * 100_000),
        '{"fetched_at": "9999-12-31T23:59:59-14:00"}',
        '{"fetched_at": "0001-01-01T00:00:00+14:00"}',
        '{"token": "\\ud800"}',
        '{"site": "\udcff"}',
    ],
)
def test_a_context_that_is_none_is_refused(saved: Path, context: str) -> None:
    with pytest.raises(CommandError, match="--context"):
        run("greenhouse", str(saved), "--context", context)


def test_the_time_of_the_fetch_bounds_dates(tmp_path: Path) -> None:
    file = tmp_path / "posting.json"
    row = {**BOARD["jobs"][0], "first_published": "2026-11-29T08:00:00Z"}  # type: ignore[index]
    file.write_text(json.dumps(row))
    assert run("greenhouse", str(file))[0][0]["posted_at"] == "2026-11-29T08:00:00+00:00"
    fetched = '{"fetched_at": "2026-11-01T00:00:00"}'
    assert run("greenhouse", str(file), "--context", fetched)[0][0]["posted_at"] is None


@pytest.mark.parametrize(
    ("arguments", "given", "status"),
    [
        (["parse_listings", "lever", "-"], "[]", 0),
        (["parse_listings", "lever", "-"], "null", 1),
        (["parse_listings", "nothing", "-"], "[]", 2),
        (["parse_listings", "greenhouse", "-", "--context", '{"fetched_at": "9999-12-31T23:59"}'], "", 2),
        (["parse_listings", "lever", "/no/\udcff"], "", 1),
        (["detect_source", "https://jobs.lever.co/\udcff"], "", 0),
        (["detect_source", "--", "https://jobs.lever.co/acme"], "", 0),
        (["detect_source"], "", 2),
    ],
)
def test_the_exit_status_tells_and_the_database_may_be_down(
    arguments: list[str], given: str, status: int
) -> None:
    """Nothing listens on that port; a database that is down must not stop work on files and text."""
    environment = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "SECRET_KEY": "x" * 50}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) is (status == 0)


def test_recorded_responses_are_read_as_expected(shared: Path) -> None:
    """The fields that a recording settles beyond doubt; the acceptance script compares the others too."""
    expected = (shared / "payloads/EXPECTED.jsonl").read_text(encoding="utf-8").splitlines()
    compared = 0
    for want in (json.loads(line) for line in expected if line):
        kind = want["file"].split("/")[0]
        if kind not in {"greenhouse", "lever", "ashby"}:
            continue
        rows, _ = run(kind, str(shared / "payloads" / want["file"]), "--context", json.dumps(want["context"]))
        got = {row["external_id"]: row for row in rows[:-1]}[
            want["selector"].rpartition("id=")[2].rstrip("]")
        ]
        compared += 1
        assert " ".join(got["description_text"].split()).startswith(want["description_text_starts_with"])
        for name in ("title", "url", "apply_url", "locations", "remote", "compensation"):
            assert got[name] == want[name], (want["id"], name)
        assert got["posted_at"][:19] == want["posted_at"][:19]
    assert compared > 0
