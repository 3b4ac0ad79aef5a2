from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from taskqueue.models import HostBudget
from tests.catalog.servers import LocalServers, Reply, answer, redirect, reset, site
from tests.conftest import PROJECT


def fetch_page(url: str) -> dict[str, Any]:
    said = io.StringIO()
    call_command("fetch_page", url, stdout=said)
    page: dict[str, Any] = json.loads(said.getvalue())
    return page


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://localhost/", "", "no url", "http://a\udcff/"]
)
def test_a_refused_url_is_blocked_without_the_database(url: str) -> None:
    """This test may not touch the database: pytest-django would fail it."""
    page = fetch_page(url)
    reason = page.pop("reason")
    assert page == {"url": url, "final_url": None, "outcome": "blocked", "text_chars": 0, "title": None}
    assert reason.startswith("blocked: ")


@pytest.mark.django_db
def test_a_page_is_fetched_and_summed_up(local: LocalServers) -> None:
    html = b"<title>Engineer</title><p>Caf\xe9</p>"
    server = local(answer(200, html, {"Content-Type": "text/html; charset=latin-1"}))
    url = f"{server.base}/jobs/1"
    assert fetch_page(url) == {
        "url": url,
        "final_url": url,
        "outcome": "fetched",
        "reason": "",
        "text_chars": 4,
        "title": "Engineer",
    }
    assert HostBudget.objects.get().host == "127.0.0.1"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        (answer(410), "gone", "status 410"),
        (answer(400, b"bad"), "failed", "status 400"),
        (answer(500), "failed", "server_error: status 500"),
        (answer(429), "blocked", "rate_limited: status 429"),
        (answer(403, b"<title>Just a moment...</title>"), "blocked", 'a wall: "just a moment"'),
        (answer(200, b"%PDF", {"Content-Type": "application/pdf"}), "failed", "not a page: application/pdf"),
        (redirect("http://10.0.0.1/"), "blocked", "blocked: redirect refused: 10.0.0.1 is private"),
        (site({}), "gone", "status 404"),
        (answer(200, b"cut", {"Content-Encoding": "gzip"}), "failed", "protocol: the body is not gzip"),
    ],
)
def test_whatever_happens_has_a_name(local: LocalServers, reply: Reply, outcome: str, reason: str) -> None:
    page = fetch_page(local(reply).base)
    assert (page["outcome"], page["reason"]) == (outcome, reason)


@pytest.mark.django_db
def test_a_lost_connection_is_a_failure(local: LocalServers) -> None:
    page = fetch_page(local(reset).base)
    assert page["outcome"] == "failed"
    assert page["reason"].startswith("unreachable: ")


@pytest.mark.django_db
def test_a_host_that_others_keep_busy_is_not_asked(local: LocalServers) -> None:
    """A6"""
    server = local(answer())
    HostBudget.objects.create(
        host="127.0.0.1", egress="default", next_slot_at=timezone.now() + timedelta(minutes=5)
    )
    page = fetch_page(server.base)
    assert (page["outcome"], page["reason"][:6], server.exchanges) == ("failed", "busy: ", [])


@pytest.mark.django_db
def test_without_the_shared_pace_nothing_is_asked(local: LocalServers) -> None:
    """A6: a request that cannot be paced is not sent."""
    server = local(answer())
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE queue_hostbudget CASCADE")
    page = fetch_page(server.base)
    assert (page["outcome"], server.exchanges) == ("failed", [])
    assert "pace" in page["reason"]


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["--", "http://127.0.0.1/"], 0)])
def test_the_command_line_answers_json_or_explains_its_usage(arguments: list[str], status: int) -> None:
    command = [sys.executable, "manage.py", "fetch_page", *arguments]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    if status == 0:
        assert json.loads(done.stdout)["outcome"] == "blocked"
    else:
        assert done.stdout == ""
        assert "usage:" in done.stderr
