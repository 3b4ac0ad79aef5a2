"""Pulls over real HTTP: pages, details, conditional requests, robots.txt, and what becomes of a sick
source.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalog.adapters.base import Detection
from catalog.models import Alert, Listing, Posting, Pull, RobotsFile, Source
from catalog.services import postings
from catalog.services.pulls import FAILURES_BEFORE_OFF, pull_source
from catalog.services.sources import add_board
from taskqueue.handlers import Delay
from taskqueue.models import HostBudget, Task
from tests.catalog.servers import Exchange, LocalServers, Reply, Server, answer
from tests.claims import claimed
from tests.factories import SourceFactory, UserFactory
from tests.pipeline import settle

pytestmark = pytest.mark.django_db


def json_of(value: Any, **headers: str) -> Reply:
    return answer(200, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def lever_posting(key: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": key,
        "text": f"Engineer {key}",
        "hostedUrl": f"https://jobs.lever.co/goodco/{key}",
        "description": "<p>Build pumps.</p>",
        "createdAt": 1_772_438_400_000,
        "categories": {"location": "Basel"},
        **changes,
    }


class Platform:
    """A platform on loopback whose answers can be changed while it runs."""

    def __init__(self, local: LocalServers) -> None:
        self.pages: dict[str, Reply] = {}
        self.server: Server = local(self._reply)

    def _reply(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        self.pages.get(path, answer(404, b"{}"))(exchange)

    def source(self, kind: str, token: str, **fields: Any) -> Source:
        board = Detection(kind=kind, token=token)
        return add_board(board, api_root=self.server.base, **fields).source

    def pull(self, source: Source) -> Pull:
        Task.objects.all().delete()
        HostBudget.objects.all().delete()
        pull_source(claimed("catalog.pull", source_id=source.pk), source.pk)
        return source.pulls.order_by("-pk")[0]


@pytest.fixture
def platform(local: LocalServers) -> Platform:
    return Platform(local)


def test_a_board_is_read_page_by_page_and_is_whole_with_the_last(platform: Platform) -> None:
    """A2: as many distinct postings as the first page states."""
    rows = [
        {
            "id": str(700000000 + number),
            "name": f"Job {number}",
            "company": {"identifier": "Good", "name": "Good"},
        }
        for number in range(150)
    ]

    def page(exchange: Exchange) -> None:
        offset = int(exchange.path.rpartition("offset=")[2])
        json_of({"totalFound": 150, "content": rows[offset : offset + 100]})(exchange)

    platform.pages["/v1/companies/Good/postings"] = page

    pull = platform.pull(platform.source("smartrecruiters", "Good"))

    assert (pull.outcome, pull.seen, pull.new) == ("complete", 150, 150)
    assert [page.rows for page in pull.pages.all()] == [100, 50]


def test_a_board_that_repeats_its_page_retires_nothing(platform: Platform) -> None:
    """A2: the trap of a server that ignores the offset."""
    rows = [{"id": f"7000000{number:02}", "name": f"Job {number}"} for number in range(100)]
    platform.pages["/v1/companies/Good/postings"] = json_of({"totalFound": 100, "content": rows})
    source = platform.source("smartrecruiters", "Good")
    assert platform.pull(source).outcome == "complete"
    platform.pages["/v1/companies/Good/postings"] = json_of({"totalFound": 180, "content": rows[:60]})

    pull = platform.pull(source)

    assert (pull.outcome, pull.unlisted) == ("partial", 0)
    assert "came again" in pull.detail
    assert Listing.objects.listed().count() == 100


def test_texts_that_the_list_lacks_are_read_posting_by_posting(platform: Platform) -> None:
    """A5: whole text or none."""
    platform.pages["/v1/companies/Good/postings"] = json_of(
        {"totalFound": 1, "content": [{"id": "700000001", "name": "Engineer", "company": {"name": "Good"}}]}
    )
    platform.pages["/v1/companies/Good/postings/700000001"] = json_of(
        {
            "id": "700000001",
            "name": "Engineer",
            "location": {"city": "Basel", "country": "ch"},
            "typeOfEmployment": {"label": "Full-time"},
            "jobAd": {
                "sections": {"jobDescription": {"text": "<p>Build pumps. Pay: CHF 90,000 a year.</p>"}}
            },
        }
    )
    source = platform.source("smartrecruiters", "Good")
    platform.pull(source)
    assert Posting.objects.get().text is None

    HostBudget.objects.all().delete()
    settle()

    posting = Posting.objects.get()
    assert posting.text is not None
    assert (posting.text.text, posting.text.method) == ("Build pumps. Pay: CHF 90,000 a year.", "detail")
    assert (posting.locations, posting.employment_type) == (["Basel, CH"], "full_time")
    assert posting.compensation.min == 90_000
    assert posting.facts_hash == posting.content_hash
    asked = len(platform.server.paths)
    platform.pull(source)
    settle()
    assert len([path for path in platform.server.paths[asked:] if path.endswith("/700000001")]) == 0


def test_a_detail_that_cannot_be_read_is_asked_for_again_later_and_not_for_ever(platform: Platform) -> None:
    """A6."""
    platform.pages["/v1/companies/Good/postings"] = json_of(
        {"totalFound": 1, "content": [{"id": "700000001", "name": "Engineer"}]}
    )
    platform.pull(platform.source("smartrecruiters", "Good"))
    HostBudget.objects.all().delete()

    settle()

    listing = Listing.objects.get()
    assert listing.detail_failures == 1
    assert listing.detail_at is not None
    assert len([path for path in platform.server.paths if path.endswith("/700000001")]) == 1


def test_an_unchanged_board_is_asked_with_what_it_gave_and_writes_nothing(platform: Platform) -> None:
    """A6, A7."""

    def board(exchange: Exchange) -> None:
        if exchange.header("If-None-Match") == '"1"':
            return answer(304, headers={"ETag": '"1"'})(exchange)
        return json_of([lever_posting("a1")], ETag='"1"')(exchange)

    platform.pages["/v0/postings/goodco"] = board
    source = platform.source("lever", "goodco")
    assert platform.pull(source).outcome == "complete"
    before = Source.objects.get().last_complete_at

    pull = platform.pull(source)

    assert (pull.outcome, pull.seen, pull.kept) == ("unchanged", 1, 1)
    assert not pull.pages.exists()
    after = Source.objects.get().last_complete_at
    assert before is not None
    assert after is not None
    assert after > before


def test_another_title_pattern_reads_an_unchanged_board_again(platform: Platform) -> None:
    """A1: what was recorded is ruled on by the pattern as it is now."""

    def board(exchange: Exchange) -> None:
        reply = (
            answer(304) if exchange.header("If-None-Match") else json_of([lever_posting("a1")], ETag='"1"')
        )
        reply(exchange)

    platform.pages["/v0/postings/goodco"] = board
    source = platform.source("lever", "goodco")
    platform.pull(source)
    Source.objects.update(title_pattern="nurse")

    assert platform.pull(source).outcome == "complete"
    assert not Listing.objects.filter(kept=True).exists()


def test_what_a_host_asks_of_robots_is_honoured_and_shown(platform: Platform) -> None:
    robots = b"User-agent: *\nDisallow: /apply\n"
    platform.pages["/robots.txt"] = answer(200, robots, {"Content-Type": "text/plain"})
    platform.pages["/apply"] = answer(200, b"<ul class='list-group'></ul>", {"Content-Type": "text/html"})
    source = platform.source("jazzhr", "goodco")

    pull = platform.pull(source)

    assert (pull.outcome, pull.fault) == ("failed", "robots")
    assert "asks robots not to read /apply" in pull.detail
    assert "/apply" not in platform.server.paths
    Source.objects.update(obeys_robots=False)  # a person decided so
    assert platform.pull(source).fault != "robots"
    assert RobotsFile.objects.get().outcome == "fetched"


def test_a_feed_asks_what_its_host_wants_of_robots(platform: Platform) -> None:
    platform.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /\n")
    source = platform.source("teamtailor", "goodco")

    assert platform.pull(source).fault == "robots"
    assert platform.server.paths == ["/robots.txt"]


def test_robots_that_cannot_be_read_for_a_moment_are_waited_for(platform: Platform) -> None:
    """RFC 9309, 2.3.1.4. A short fault of the host is no failure of the source."""
    platform.pages["/robots.txt"] = answer(503)
    platform.pages["/apply"] = answer(200, b"<ul class='list-group'></ul>", {"Content-Type": "text/html"})
    source = platform.source("jazzhr", "goodco")

    assert platform.pull(source).outcome == "deferred"
    assert Source.objects.get().failures == 0

    RobotsFile.objects.update(failures=5, fetched_at=timezone.now())
    assert platform.pull(source).fault == "robots"


def test_robots_that_were_read_hold_while_they_cannot_be_read(platform: Platform) -> None:
    platform.pages["/robots.txt"] = answer(200, b"User-agent: *\nDisallow: /apply\n")
    source = platform.source("jazzhr", "goodco")
    platform.pull(source)
    platform.pages["/robots.txt"] = answer(503)
    RobotsFile.objects.update(fetched_at=timezone.now() - timedelta(days=2))

    pull = platform.pull(source)

    assert (pull.fault, RobotsFile.objects.get().failures) == ("robots", 1)
    assert "asks robots not to read" in pull.detail


def test_a_source_that_keeps_failing_is_switched_off_with_an_alert(platform: Platform) -> None:
    """A6: failures back off, and stop asking after a limit, visibly."""
    source = platform.source("lever", "goodco")
    for _ in range(FAILURES_BEFORE_OFF):
        assert platform.pull(source).fault == "unknown_board"

    source.refresh_from_db()
    assert not source.is_active
    assert "switched off after 8 failed pulls" in source.note
    alert = Alert.objects.get(resolved_at=None)
    assert (alert.kind, alert.source) == ("source_switched_off", source)

    platform.pages["/v0/postings/goodco"] = json_of([lever_posting("a1")])
    Source.objects.update(is_active=True)
    platform.pull(source)
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_a_board_that_suddenly_shows_nothing_raises_an_alert_and_closes_nothing(platform: Platform) -> None:
    """A2."""
    platform.pages["/v0/postings/goodco"] = json_of([lever_posting("a1")])
    source = platform.source("lever", "goodco")
    platform.pull(source)
    platform.pages["/v0/postings/goodco"] = json_of([])

    assert platform.pull(source).outcome == "empty"
    assert Posting.objects.get().availability == "open"
    assert Alert.objects.get().kind == "source_emptied"


def test_an_empty_board_that_does_not_change_stays_an_empty_board(platform: Platform) -> None:
    """A2: "not modified" says no more of an empty list than the list did."""

    def empty(exchange: Exchange) -> None:
        reply = answer(304) if exchange.header("If-None-Match") else json_of([], ETag='"0"')
        reply(exchange)

    platform.pages["/v0/postings/goodco"] = json_of([lever_posting("a1")])
    source = platform.source("lever", "goodco")
    whole = platform.pull(source).finished_at
    platform.pages["/v0/postings/goodco"] = empty

    assert [platform.pull(source).outcome for _ in range(3)] == ["empty"] * 3
    assert Source.objects.get().last_complete_at == whole
    assert Alert.objects.filter(resolved_at=None).count() == 1


def test_an_unchanged_board_still_has_its_missing_texts_read(platform: Platform) -> None:
    """A5."""
    board = {"totalFound": 1, "content": [{"id": "700000001", "name": "Engineer"}]}

    def listed(exchange: Exchange) -> None:
        reply = answer(304) if exchange.header("If-None-Match") else json_of(board, ETag='"1"')
        reply(exchange)

    platform.pages["/v1/companies/Good/postings"] = listed
    source = platform.source("smartrecruiters", "Good")
    platform.pull(source)

    assert platform.pull(source).outcome == "unchanged"
    assert Task.objects.filter(kind="catalog.details").count() == 1


def test_a_reading_that_was_overtaken_is_no_failure_of_its_source(platform: Platform) -> None:
    platform.pages["/v0/postings/goodco"] = json_of([lever_posting("a1")])
    source = platform.source("lever", "goodco")
    Source.objects.update(recording_pull=10**9)

    pull = platform.pull(source)

    assert (pull.outcome, Source.objects.get().failures) == ("deferred", 0)
    assert not Listing.objects.exists()


def test_what_no_column_holds_fails_by_name(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a value had been let through that the database refuses."""
    monkeypatch.setattr(postings, "bounds_fit", lambda low, high: True)
    row = lever_posting("a1", salaryRange={"min": 5e14, "max": 5e14, "currency": "USD"})
    platform.pages["/v0/postings/goodco"] = json_of([row])

    pull = platform.pull(platform.source("lever", "goodco"))

    assert (pull.outcome, pull.fault) == ("failed", "unstorable")
    assert "numeric field overflow" in pull.detail


def test_a_platform_that_wants_a_key_says_which(platform: Platform, settings: Settings) -> None:
    settings.SOURCE_KEYS = {"adzuna": {"app_id": "", "app_key": ""}}
    source = platform.source("adzuna", "gb")

    pull = platform.pull(source)

    assert pull.fault == "no_key"
    assert "ADZUNA_APP_ID, ADZUNA_APP_KEY" in pull.detail


def test_a_key_is_sent_and_kept_nowhere(platform: Platform, settings: Settings) -> None:
    settings.SOURCE_KEYS = {"adzuna": {"app_id": "me", "app_key": "secret"}}
    platform.pages["/v1/api/jobs/gb/search/1"] = json_of({"count": 0, "results": []})

    pull = platform.pull(platform.source("adzuna", "gb"))

    assert "app_key=secret" in platform.server.paths[-1]
    assert "secret" not in pull.pages.get().url
    assert "secret" not in pull.detail


def test_a_host_that_asks_for_time_gets_it(platform: Platform) -> None:
    """A6: the task waits, without spending an attempt."""
    platform.pages["/v0/postings/goodco"] = answer(429, headers={"Retry-After": "120"})
    source = platform.source("lever", "goodco")
    Task.objects.all().delete()

    outcome = pull_source(claimed("catalog.pull", source_id=source.pk), source.pk)

    assert isinstance(outcome, Delay)
    assert source.pulls.get().outcome == "deferred"


def test_a_kind_of_another_release_fails_by_name_and_has_its_page(platform: Platform, client: Client) -> None:
    source = SourceFactory.create(kind="gone", token="goodco")
    client.force_login(UserFactory.create())

    assert platform.pull(source).fault == "unknown_kind"
    assert "gone" in client.get(f"/sources/{source.pk}/").content.decode()
    assert client.get("/sources/").status_code == 200
