"""Commands: JSON on stdout, errors named on stderr with status 1 or 2, never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.models import Source
from config.settings import BASE_DIR
from taskqueue.models import Task
from tests.factories import UserFactory, make_board, make_filter, make_posting

pytestmark = pytest.mark.django_db


def answer(*arguments: str, **options: Any) -> Any:
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return json.loads(out.getvalue())


def test_addsource_tells_what_it_recognised_and_adds_it_once() -> None:
    first = answer("addsource", "https://job-boards.greenhouse.io/acme/jobs/123", "--company", "Acme")
    second = answer("addsource", "https://boards.greenhouse.io/acme")

    assert (first["kind"], first["token"], first["added"]) == ("greenhouse", "acme", True)
    assert (second["source"], second["added"]) == (first["source"], False)
    assert Task.objects.filter(kind="catalog.pull").count() == 1


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["addsource", "https://example.org/careers"], 1, "no hiring platform"),
        (["addsource", "https://jobs.lever.co/acme", "--interval", "0"], 2, "--interval takes"),
        (["addsource", "https://jobs.lever.co/acme", "--interval", "999999999999"], 2, "--interval takes"),
        (["addsource", "https://jobs.lever.co/acme", "--titles", "(a+)+$"], 1, "repeated group"),
        (["addsource", "https://jobs.lever.co/acme", "--titles", "A\udcffB"], 1, "title pattern"),
        (["addsource", "https://jobs.lever.co/acme", "--titles", "[\udcff]+"], 1, "title pattern"),
        (["addsource", "https://jobs.lever.co/acme", "--company", "A\udcffB"], 1, "company"),
        (["addsource", "https://jobs.lever.co/\udcff"], 1, "not a web address"),
        (["addsource", "https://jobs.lever.co/acme", "--company", "x" * 400], 1, "company"),
        (["review", "nothing"], 1, "no filter"),
        (["review", "²"], 1, "no filter"),
        (["publish", "nothing"], 1, "no board"),
        (["explain", "https://example.org/jobs"], 1, "no source"),
        (["explain", "javascript:alert(1)"], 1, "not an absolute"),
    ],
)
def test_bad_input_is_named(arguments: list[str], status: int, words: str) -> None:
    with pytest.raises(CommandError, match=words) as refused:
        call_command(*arguments)

    assert refused.value.returncode == status
    assert not Source.objects.exists()


def test_explain_answers_for_a_board_a_person_and_this_servers_own_addresses() -> None:
    """E1."""
    person = UserFactory.create(email="")
    make_filter(person, roles=["engineer"])
    posting = make_posting()
    board = make_board(roles=["engineer"])

    on_board = answer("explain", posting.canonical_url, "--board", board.slug, "--json")
    assert {step["name"] for step in on_board["steps"]} >= {"Seen", "Text", "Publication"}
    for_person = answer("explain", f"/jobs/{posting.pk}/", "--user", person.username, "--json")
    assert for_person["steps"][-1]["name"] == "Your board"

    with pytest.raises(CommandError, match="no account"):
        call_command("explain", posting.canonical_url, "--user", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["start", "--workers", "0"],
        ["start", "--bind", "127.0.0.1:99999"],
        ["runworker", "--concurrency", "x"],
    ],
)
def test_wrong_usage_ends_with_a_line_and_no_traceback(arguments: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=BASE_DIR, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode in {1, 2}
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
