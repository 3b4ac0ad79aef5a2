"""The sample's boards, read over HTTP by the product's own adapters."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from boards.sample import SAMPLE_BOARDS
from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, ParsedListing, Reading
from catalog.pay import pay_in_text
from catalog.places import parse_place
from catalog.sample import API_HOSTS, SAMPLE_BASE, SAMPLE_SOURCES, SampleSource, api_root
from catalog.sample.server import SampleServer
from reviews.adapters.rules import RulesReviewer
from reviews.criteria import Criteria
from reviews.question import PayFact, PlaceFact, Question, Snapshot

TODAY = date(2026, 3, 14)
NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
PROJECT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}


@pytest.fixture(scope="module")
def server() -> Iterator[SampleServer]:
    with SampleServer(today=TODAY) as running:
        yield running


@pytest.fixture(scope="module")
def readings(server: SampleServer) -> dict[str, Reading]:
    return {source.token: read(server, source) for source in SAMPLE_SOURCES}


@pytest.fixture(scope="module")
def listings(readings: dict[str, Reading]) -> dict[str, ParsedListing]:
    """By employer and title: "kelpwright: Naval Architect"."""
    return {
        f"{token.removeprefix('sample-')}: {listing.title}": listing
        for token, reading in readings.items()
        for listing in reading.listings
    }


def context(source: SampleSource, now: datetime = NOW) -> Context:
    return Context(token=source.token, company=source.company, fetched_at=now)


def address(server: SampleServer, source: SampleSource) -> str:
    """Where a pull reads the source: the platform's path behind the sample's root, at the server."""
    asked = urlsplit(ADAPTERS[source.kind].list_url(context(source)))
    root = api_root(source.kind).replace(SAMPLE_BASE, server.url)
    return f"{root}{asked.path}?{asked.query}"


def read(server: SampleServer, source: SampleSource, now: datetime = NOW) -> Reading:
    return ADAPTERS[source.kind].parse(get(address(server, source))[1], context(source, now))


def get(url: str) -> tuple[int, bytes]:
    try:
        with urlopen(url, timeout=10) as reply:  # noqa: S310 - the sample's server, on loopback
            return reply.status, reply.read()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def test_every_board_is_read_whole(readings: dict[str, Reading]) -> None:
    assert all(reading.complete and not reading.rejected for reading in readings.values())
    assert {source.kind for source in SAMPLE_SOURCES} == set(API_HOSTS) <= set(ADAPTERS)
    assert 60 <= sum(len(reading.listings) for reading in readings.values()) <= 75


def test_the_employers_names_and_addresses_are_nobodys(listings: dict[str, ParsedListing]) -> None:
    for listing in listings.values():
        parts = urlsplit(listing.url)
        assert parts.hostname is not None
        assert parts.hostname.endswith(".example") or parts.path.startswith("/sample-")
    assert all(source.token.startswith("sample-") for source in SAMPLE_SOURCES)


def test_texts_are_long_enough_to_review_and_no_two_are_templates(listings: dict[str, ParsedListing]) -> None:
    paragraphs: dict[str, int] = {}
    for name, listing in listings.items():
        is_short = "TEST" in name or "京都" in listing.locations
        assert is_short or 140 <= len(listing.description_text.split()) <= 400, name
        assert listing.description_html
        for line in set(listing.description_text.split("\n")):
            if len(line) > 60:
                paragraphs[line] = paragraphs.get(line, 0) + 1
    introductions = [line for line, count in paragraphs.items() if count > 2]
    assert len(introductions) <= 4  # what three employers say of themselves on each posting


def test_postings_look_recent_on_any_day(server: SampleServer) -> None:
    """Ages are kept, dates are rendered in each platform's own notation."""
    day = datetime(2031, 7, 1, 22, tzinfo=UTC)
    with SampleServer(today=day) as later:
        for source in SAMPLE_SOURCES:
            then, now = read(server, source).listings, read(later, source, day).listings
            for before, after in zip(then, now, strict=True):
                assert (before.posted_at is None) == (after.posted_at is None)
                if before.posted_at and after.posted_at:
                    shift = datetime.fromisoformat(after.posted_at) - datetime.fromisoformat(before.posted_at)
                    assert shift == timedelta(days=(day.date() - TODAY).days)


def test_dates_are_in_the_platforms_own_notation(server: SampleServer) -> None:
    raw = {source.kind: json.loads(get(address(server, source))[1]) for source in SAMPLE_SOURCES}
    published = raw["greenhouse"]["jobs"][0]["first_published"]
    assert re.fullmatch(r"2026-03-\d\dT\d\d:\d\d:\d\d-04:00", published)
    assert isinstance(raw["lever"][0]["createdAt"], int)
    assert re.fullmatch(r"2026-0[23]-\d\dT[\d:]+\.\d{3}\+00:00", raw["ashby"]["jobs"][0]["publishedAt"])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/boards-api.greenhouse.io/v1/boards/zzzzz/jobs", b'{"status":404,"error":"Job not found"}'),
        ("/boards-api.greenhouse.io/v1/boards/zzzzz", b'{"status":404,"error":"Job board not found"}'),
        ("/api.lever.co/v0/postings/zzzzz?mode=json", b'{"ok":false,"error":"Document not found"}'),
        ("/api.ashbyhq.com/posting-api/job-board/zzzzz", b"Not Found"),
        ("/api.ashbyhq.com/posting-api/job-board/..%2Fashby%2Fsample-corvane", b"Not Found"),
    ],
)
def test_an_unknown_board_is_refused_as_its_platform_does(
    server: SampleServer, path: str, body: bytes
) -> None:
    assert get(server.url + path) == (404, body)


def test_what_is_not_asked_for_is_not_sent(server: SampleServer) -> None:
    root = f"{server.url}/boards-api.greenhouse.io/v1/boards/sample-marrowick/jobs"
    bare = json.loads(get(root)[1])["jobs"][0]
    full = json.loads(get(f"{root}?content=true&pay_transparency=true")[1])["jobs"][0]
    assert set(full) - set(bare) == {"content", "departments", "offices", "pay_input_ranges"}
    assert get(f"{root}/{full['id']}")[0] == 200
    assert get(f"{root}/1") == (404, b'{"status":404,"error":"Job not found"}')


def test_one_posting_is_read_alone_as_it_is_on_its_board(
    server: SampleServer, readings: dict[str, Reading]
) -> None:
    source = next(source for source in SAMPLE_SOURCES if source.kind == "lever")
    listed = readings[source.token].listings[0]
    alone = get(f"{server.url}/api.lever.co/v0/postings/{source.token}/{listed.external_id}?mode=json")[1]
    assert ADAPTERS["lever"].parse(alone, context(source)).listings == (listed,)


def test_awkward_pay_comes_out_as_meant(listings: dict[str, ParsedListing]) -> None:
    def paid(name: str) -> tuple[float | None, float | None, str | None, str | None]:
        pay = listings[name].compensation or pay_in_text(listings[name].description_text)
        return (pay.min, pay.max, pay.currency, pay.period) if pay else (None, None, None, None)

    cents, hourly = (
        "marrowick: Software Engineer I, Instrument Control",
        "senwick: Medical Coder, Part-Time (Remote)",
    )
    assert paid(cents) == (82_000, 98_000, "USD", "year")
    assert paid(hourly) == (24.5, 30.75, "USD", "hour")
    assert paid("kelpwright: Software Engineer (New Grad)") == (122_000, 148_000, "USD", "year")
    bonus = "senwick: Licensed Clinical Social Worker (LCSW)"
    assert paid(bonus) == (72_000, 88_000, "USD", "year")
    assert paid("tallowgate: Account Executive, Mid-Market") == (70_000, 85_000, "USD", "year")
    assert paid("corvane: Machine Learning Engineer (6-month contract)") == (550, 650, "EUR", "day")
    assert paid("senwick: Chief Nursing Officer") == (None, None, None, None)


def test_awkward_places_and_work_models_come_out_as_meant(listings: dict[str, ParsedListing]) -> None:
    mixed = listings["tallowgate: Junior Mobile Developer (React Native)"]
    assert [place.city for raw in mixed.locations for place in parse_place(raw)] == [
        "Kansas City",
        "Overland Park",
        None,
    ]
    assert listings["kelpwright: Machine Learning Engineer, Ocean Models"].locations == (
        "Norway",
        "Denmark",
        "Sweden",
    )
    assert listings["kelpwright: Senior Data Scientist, Emissions"].remote == "yes"  # workplaceType is absent
    assert listings["kelpwright: Frontend Engineer, Maps"].remote == "unknown"
    assert listings["thistlequay: Data Scientist, Archive Partnerships"].remote == "hybrid"
    for listing in listings.values():
        assert any(parse_place(raw) for raw in listing.locations), listing.title


def test_awkward_rows_come_out_as_meant(
    listings: dict[str, ParsedListing], readings: dict[str, Reading]
) -> None:
    assert "marrowick: R&D Scientist, Ion Optics & Simulation" in listings
    assert "tallowgate: Software Engineer in Test" in listings
    assert "🎮" in " ".join(listings)
    assert max(map(len, listings)) > 180
    assert "kelpwright: Head of Finance" not in listings  # it is not listed
    assert "1 unlisted" in readings["sample-kelpwright"].reason
    undated = {name for name, listing in listings.items() if listing.posted_at is None}
    assert undated == {
        "marrowick: Join our talent community",
        "senwick: Software Engineer, Patient Portal (Early Career)",
    }
    assert listings["osterwatt: Werkstudent Data Analytics (m/w/d)"].remote == "unknown"


def test_a_hostile_text_is_harmless_and_still_readable(listings: dict[str, ParsedListing]) -> None:
    listing = listings["thistlequay: Platform Engineer"]
    html = listing.description_html.lower()
    assert not any(
        mark in html for mark in ("<script", "onerror", "javascript:", "<iframe", "onclick", "<style")
    )
    assert "document.cookie" not in listing.description_text
    assert "Kubernetes on our own metal" in listing.description_text


def test_near_copies_have_the_same_body_under_another_name(listings: dict[str, ParsedListing]) -> None:
    for first, second in (
        ("kelpwright: Data Engineer, Vessel Tracking", "corvane: Data Engineer - Maritime (Remote, Europe)"),
        (
            "osterwatt: Software Engineer, Grid Controls (New Grad)",
            "corvane: Graduate Software Engineer – Energy",
        ),
    ):
        one, other = listings[first], listings[second]
        lines = set(one.description_text.split("\n")) & set(other.description_text.split("\n"))
        assert len([line for line in lines if len(line) > 40]) >= 4
        assert (one.url, one.title) != (other.url, other.title)


@pytest.mark.parametrize(("number", "fewest"), [(0, 10), (1, 8)])
def test_a_board_finds_its_postings_and_reasons_against_the_others(
    listings: dict[str, ParsedListing], number: int, fewest: int
) -> None:
    criteria = Criteria.parse(SAMPLE_BOARDS[number].criteria)
    answers = [
        RulesReviewer().review(Question(criteria, snapshot(listing), NOW)).answer
        for listing in listings.values()
    ]
    verdicts = [answer.verdict for answer in answers]
    assert verdicts.count("pass") >= fewest
    assert verdicts.count("unsure") >= 1
    rules = {answer.rule for answer in answers if answer.verdict == "reject"}
    assert len(rules) >= 3, rules


def snapshot(listing: ParsedListing) -> Snapshot:
    places: list[PlaceFact] = []
    for raw in listing.locations:
        for place in parse_place(raw):
            places.append(PlaceFact(place.country, place.region, place.city, place.remote, raw))
    pay = listing.compensation or pay_in_text(listing.description_text)
    return Snapshot(
        url=listing.url,
        title=listing.title,
        company=listing.company or "",
        locations=listing.locations,
        places=tuple(places),
        remote=listing.remote,
        employment_type=listing.employment_type,
        pay=PayFact(pay.min, pay.max, pay.currency, pay.period) if pay else None,
        posted_at=listing.posted_at,
        text=listing.description_text,
    )


def test_the_command_says_where_it_listens_and_ends_when_told() -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "sampleserver"], cwd=PROJECT, env=ENVIRONMENT, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert get(f"{url}/api.lever.co/v0/postings/sample-osterwatt?mode=json")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def test_the_command_ends_with_the_process_that_started_it() -> None:
    """The parent leaves once the server listens; the pipe that only the server still holds then closes."""
    parent = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, 'manage.py', 'sampleserver'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        cwd=PROJECT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            assert process.communicate(timeout=30)[1] == b""
        except subprocess.TimeoutExpired:
            os.kill(child, signal.SIGKILL)
            raise
