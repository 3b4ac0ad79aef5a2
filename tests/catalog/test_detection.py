"""Which board a URL names, from the URL alone; and one key for every link to a posting."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from catalog.adapters import canonical_posting_url, detect, why_undetected
from catalog.management.commands.detect_source import Command

UUID = "a102c558-c365-48cf-b1ae-766037509e5c"


def detected(*urls: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command(Command(stdout=out), *urls)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("url", "kind", "token", "region", "posting"),
    [
        ("https://job-boards.greenhouse.io/acme", "greenhouse", "acme", "", None),
        (
            "https://boards.greenhouse.io/acme/jobs/6087178?gh_src=x&gh_jid=1",
            "greenhouse",
            "acme",
            "",
            "6087178",
        ),
        (
            "https://job-boards.eu.greenhouse.io/acme/jobs/4368079101",
            "greenhouse",
            "acme",
            "eu",
            "4368079101",
        ),
        ("https://boards.greenhouse.io/embed/job_board?for=acme", "greenhouse", "acme", "", None),
        ("https://boards.greenhouse.io/embed/job_board/js?for=acme", "greenhouse", "acme", "", None),
        ("https://boards.greenhouse.io/embed/job_app?for=acme&token=12", "greenhouse", "acme", "", "12"),
        ("https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true", "greenhouse", "acme", "", None),
        ("https://boards-api.greenhouse.io/v1/boards/acme/jobs/12", "greenhouse", "acme", "", "12"),
        ("HTTP://Boards.Greenhouse.io:80/acme/", "greenhouse", "acme", "", None),
        ("https://jobs.lever.co/GoodCo", "lever", "GoodCo", "", None),
        (f"https://jobs.lever.co/goodco/{UUID}/apply?lever-source=x", "lever", "goodco", "", UUID),
        ("https://jobs.eu.lever.co/goodco", "lever", "goodco", "eu", None),
        ("https://api.lever.co/v0/postings/goodco?mode=json", "lever", "goodco", "", None),
        (f"https://api.eu.lever.co/v0/postings/goodco/{UUID}", "lever", "goodco", "eu", UUID),
        ("https://jobs.ashbyhq.com/Flock%20Safety", "ashby", "Flock Safety", "", None),
        (f"https://jobs.ashbyhq.com/good/{UUID.upper()}/application", "ashby", "good", "", UUID),
        ("https://jobs.ashbyhq.com/good/embed", "ashby", "good", "", None),
        ("https://api.ashbyhq.com/posting-api/job-board/good", "ashby", "good", "", None),
    ],
)
def test_a_platforms_address_names_its_board(
    url: str, kind: str, token: str, region: str, posting: str | None
) -> None:
    found = detect(url)
    assert found is not None
    assert (found.kind, found.token, found.region, found.posting_id) == (kind, token, region, posting)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.greenhouse.com/",
        "https://www.greenhouse.io/acme",
        "https://app.greenhouse.io/people/1",
        "https://boards.greenhouse.io/",
        "https://boards.greenhouse.io/embed/job_board",
        "https://boards.greenhouse.io/embed/job_app?token=6866554002",
        "https://boards.greenhouse.io.evil.example/acme/jobs/1",
        "https://boards.greenhouse.io@evil.example/acme",
        "https://evilboards.greenhouse.io.example/acme",
        "https://xboards.greenhouse.io/acme",
        "https://boards.greenhouse.io:8443/acme",
        "https://boards.greenhouse.io/../acme%2F..",
        "https://boards.greenhouse.io/acme%00",
        "https://boards.greenhouse.io/a.b",
        "https://boards-api.greenhouse.io/v1/boards/",
        "https://boards-api.greenhouse.io/v2/boards/acme/jobs",
        "https://jobs.lever.co/",
        "https://jobs.lever.co/robots.txt",
        "https://jobs.lever.co/search?department=x",
        "https://www.lever.co/acme",
        "https://hire.lever.co/acme",
        "https://api.lever.co/v0/postings/../../admin",
        "https://api.lever.co/v0/postings/%2e%2e/%2e%2e/admin",
        "https://api.lever.co/v0/postings/..%2f..%2fadmin",
        "https://api.lever.co/v1/postings/acme",
        "https://jobs.ashbyhq.com/",
        "https://jobs.ashbyhq.com/api/non-user-graphql",
        "https://jobs.ashbyhq.com/_next/static/x.js",
        "https://jobs.ashbyhq.com/sitemap.xml",
        "https://www.ashbyhq.com/careers",
        "https://user:pw@jobs.ashbyhq.com@evil.example/linear",
        "https://jobs.аshbyhq.com/linear",
        "https://evil.example/?u=https://jobs.lever.co/acme",
        "https://acme.example/careers?gh_jid=12",
        "javascript:alert('https://jobs.lever.co/acme')",
        "jobs.lever.co/acme",
        "",
    ],
)
def test_nothing_is_guessed(url: str) -> None:
    """Look-alike hosts, user information, traversal, reserved words, vendors' other sites, own pages."""
    assert detect(url) is None
    assert why_undetected(url)


def test_a_page_of_the_employers_own_is_explained_not_guessed() -> None:
    [row] = detected("https://www.acme.example/careers?gh_jid=5901446")
    assert (row["kind"], row["token"], row["list_url"], row["confidence"]) == (None, None, None, None)
    assert row["reason"] == "gh_jid proves Greenhouse, but the board's token is in the page, not in the URL"


def test_the_command_answers_every_url_in_order() -> None:
    urls = ["https://jobs.lever.co/goodco", "not a url", "https://jobs.ashbyhq.com/Flock%20Safety"]
    rows = detected(*urls)
    assert [row["url"] for row in rows] == urls
    assert list(rows[0]) == ["url", "kind", "token", "list_url", "confidence", "reason"]
    assert rows[0]["list_url"] == "https://api.lever.co/v0/postings/goodco?mode=json"
    assert rows[1]["reason"].startswith("not a web address")
    assert rows[2]["token"] == "Flock Safety"


@pytest.mark.parametrize(
    ("links", "key"),
    [
        (
            [
                "https://boards.greenhouse.io/acme/jobs/12?gh_jid=12",
                "https://job-boards.greenhouse.io/acme/jobs/12/#app",
                "https://boards.greenhouse.io/embed/job_app?for=acme&token=12",
                "https://boards-api.greenhouse.io/v1/boards/acme/jobs/12?questions=true",
            ],
            "https://job-boards.greenhouse.io/acme/jobs/12",
        ),
        (
            [
                f"https://jobs.lever.co/GoodCo/{UUID}",
                f"https://jobs.lever.co/GoodCo/{UUID}/apply?utm_source=x",
                f"https://api.lever.co/v0/postings/GoodCo/{UUID.upper()}?mode=json",
            ],
            f"https://jobs.lever.co/GoodCo/{UUID}",
        ),
        (
            [
                f"https://jobs.ashbyhq.com/Flock%20Safety/{UUID}",
                f"https://jobs.ashbyhq.com/flock%20safety/{UUID}/application?utm_source=x",
            ],
            f"https://jobs.ashbyhq.com/flock%20safety/{UUID}",
        ),
        (
            ["https://www.acme.example/jobs/?gh_jid=12&gh_src=x", "https://www.acme.example/jobs?gh_jid=12"],
            "https://www.acme.example/jobs?gh_jid=12",
        ),
    ],
)
def test_every_link_to_a_posting_has_one_key(links: list[str], key: str) -> None:
    """Contract A4."""
    assert {canonical_posting_url(link) for link in links} == {key}
    assert canonical_posting_url(key) == key


def test_the_collected_careers_urls_are_told_apart(shared: Path) -> None:
    rows = (shared / "payloads/careers_urls.jsonl").read_text(encoding="utf-8").splitlines()
    for row in (json.loads(line) for line in rows if line):
        found = detect(row["url"])
        if row["found_by"] == "url":
            assert found is not None, row["url"]
            assert (found.kind, found.token) == (row["platform"], row["token"])
            assert found.posting_id == row["posting_id"], row["url"]
        else:
            assert found is None, row["url"]
