"""A3: what closes a posting, and the many things that prove nothing.

No source ever loses a live posting by them.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from catalog.models import Listing, Observation, PageFetch, Posting, Source
from catalog.services.closing import NEXT_CHECKS, check_posting, close_posting
from taskqueue.models import HostBudget, Task
from tests.catalog.servers import Exchange, LocalServers, Reply, answer, redirect, reset
from tests.catalog.test_recording import listing, record
from tests.claims import claimed
from tests.factories import SourceFactory

pytestmark = pytest.mark.django_db

TEXT = " ".join(f"We build pump number {number} for water works." for number in range(60))
HTML = {"Content-Type": "text/html; charset=utf-8"}


def page(body: str, *, title: str = "Data Engineer") -> Reply:
    document = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return answer(200, document.encode(), HTML)


class World:
    """A posting that its source no longer shows, and the sites that could say why."""

    def __init__(self, local: LocalServers, settings: Settings) -> None:
        self.pages: dict[str, Reply] = {}
        self.server = local(self._reply)
        settings.FETCH_BASE_URL_OVERRIDES = {
            "https://boards.greenhouse.io": self.server.base,
            "https://boards-api.greenhouse.io": f"{self.server.base}/api",
            "https://jobs.lever.co": f"{self.server.base}/lever",
            "https://jobs.ashbyhq.com": f"{self.server.base}/ashby",
            "https://api.ashbyhq.com": f"{self.server.base}/ashby-api",
        }

    def _reply(self, exchange: Exchange) -> None:
        self.pages.get(exchange.path.partition("?")[0], answer(404))(exchange)

    def unlisted(self, kind: str = "greenhouse", url: str = "", key: str = "7") -> Posting:
        """One posting gone from a whole list that shows another one."""
        self.source: Source = SourceFactory.create(kind=kind, token="acme")
        gone = listing(key, description_text=TEXT, description_html=f"<p>{TEXT}</p>")
        gone = listing(key, description_text=TEXT, description_html=f"<p>{TEXT}</p>", url=url or gone.url)
        stays = listing("8")
        record(self.source, gone, stays)
        record(self.source, stays)
        return Posting.objects.get(listings__external_key=key)

    def check(self, posting: Posting) -> Posting:
        Task.objects.all().delete()
        HostBudget.objects.all().delete()
        check_posting(claimed("catalog.check", posting_id=posting.pk), posting.pk)
        posting.refresh_from_db()
        return posting


@pytest.fixture
def world(local: LocalServers, settings: Settings) -> World:
    return World(local, settings)


def silent_page(exchange: Exchange) -> None:
    reset(exchange)


LEVER_GONE = answer(
    404, b"<title>Not found</title><a href='https://www.lever.co/'>Jobs powered by Lever</a>", HTML
)
NOTHING: dict[str, Any] = {
    "too many requests": answer(429, b"Too Many Requests"),
    "a challenge with status 403": answer(403, b"<title>Just a moment...</title>", HTML),
    "a challenge with status 200": page("<p>Checking your browser. Ray ID: 1</p>", title="Just a moment..."),
    "a fault of the server": answer(500, b"oops"),
    "a cut connection": silent_page,
    "a redirect to the board": redirect("/acme"),
    "a redirect to a sign-in": redirect("/login"),
    "a page that is gone": answer(404, b"<h1>Page not found</h1>", HTML),
    "an empty page": page(""),
    "a page of navigation": page("<nav>Home Jobs About</nav>" * 30),
    "a form that is to be filled": page(
        "<p>After the application form has been filled out, press submit.</p>"
    ),
    "a condition": page("<p>If this position has been filled, we keep your application.</p>"),
    "another posting's notice": page(
        f"<p>{'Work with us. ' * 200}</p><p>Fitter: this job is no longer available.</p>"
    ),
    "an image": answer(200, b"\x89PNG", {"Content-Type": "image/png"}),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_what_proves_nothing_leaves_the_posting_unknown(world: World, kind: str) -> None:
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = NOTHING[kind]
    world.pages["/acme"] = page("<h1>All jobs</h1>")
    world.pages["/login"] = page("<p>Please sign in</p>")

    world.check(posting)

    assert posting.availability == "unknown"
    assert posting.check_failures == 1
    assert posting.next_check_at is not None
    evidence = PageFetch.objects.get()
    assert (evidence.outcome, bool(evidence.evidence)) == ("unknown", True)
    assert not Observation.objects.filter(kind="closed").exists()


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Sorry, this job is no longer available.</h1>",
        "<p>We’re sorry, this role isn’t available anymore</p>",
        "<p>Cette offre n’est plus disponible</p>",
        "<p>The position has been filled.</p>" + "<p>Have a look at our other openings.</p>" * 20,
    ],
)
def test_a_page_that_says_so_closes_the_posting_with_its_sentence(world: World, body: str) -> None:
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = page(body)

    world.check(posting)

    assert posting.availability == "closed"
    assert posting.availability_reason.startswith("the page says: ")
    assert Observation.objects.filter(posting=posting, kind="closed").count() == 1
    assert posting.next_check_at is None


def test_a_page_that_still_shows_the_posting_keeps_it_open(world: World) -> None:
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = page(f"<h1>Data Engineer</h1><p>{TEXT}</p>")
    assert world.check(posting).availability == "open"


def test_the_platforms_own_answer_goes_first(world: World) -> None:
    posting = world.unlisted()
    not_found = json.dumps({"status": 404, "error": "Job not found"}).encode()
    world.pages["/api/v1/boards/acme/jobs/7"] = answer(404, not_found)
    world.pages["/acme/jobs/7"] = page(f"<p>{TEXT}</p>")

    world.check(posting)

    assert (posting.availability, posting.availability_reason) == (
        "closed",
        "Greenhouse answers: Job not found",
    )


def test_a_board_that_is_gone_is_no_answer_about_its_postings(world: World) -> None:
    posting = world.unlisted()
    world.pages["/api/v1/boards/acme/jobs/7"] = answer(404, b'{"status":404,"error":"Job board not found"}')
    assert world.check(posting).availability == "unknown"


def test_lever_is_asked_by_its_page_because_its_interface_hides_confidential_postings(world: World) -> None:
    url = "https://jobs.lever.co/acme/a102c558-c365-48cf-b1ae-766037509e5c"
    posting = world.unlisted("lever", url, key=url.rpartition("/")[2])
    world.pages[f"/lever{url.removeprefix('https://jobs.lever.co')}"] = page(f"<p>{TEXT}</p>")
    assert world.check(posting).availability == "open"

    world.pages.clear()
    assert world.check(posting).check_failures == 1  # a 404 that is not Lever's own proves nothing
    world.pages[f"/lever{url.removeprefix('https://jobs.lever.co')}"] = LEVER_GONE
    Source.objects.update(failures=1)
    assert world.check(posting).check_failures == 2  # the site may be gone with all its postings
    Source.objects.update(failures=0)
    assert world.check(posting).availability == "closed"


def test_a_platform_that_closes_by_leaving_out_is_believed_at_the_second_whole_list(world: World) -> None:
    posting = world.unlisted("ashby", "https://jobs.ashbyhq.com/acme/1")
    assert world.check(posting).availability == "unknown"

    Source.objects.update(last_complete_at=timezone.now() + timedelta(days=1))
    board = "/ashby-api/posting-api/job-board/acme"
    for nothing in (answer(404, b"Not Found"), answer(200, b'{"jobs": []}')):
        world.pages[board] = nothing
        assert world.check(posting).availability == "unknown"
    world.pages[board] = answer(200, b'{"jobs": [{"id": "7", "isListed": false}, {"id": "8"}]}')
    assert world.check(posting).availability == "open"  # to whoever has its link

    world.pages[board] = answer(200, b'{"jobs": [{"id": "8"}]}')
    assert world.check(posting).availability == "closed"
    assert "leaves the posting out of the whole list" in posting.availability_reason


def test_a_platform_without_an_answer_is_believed_by_its_lists(world: World) -> None:
    posting = world.unlisted("recruitee", "https://acme.recruitee.com/o/7")
    Source.objects.update(last_complete_at=timezone.now() + timedelta(days=1))
    assert world.check(posting).availability == "closed"
    assert "left out of the whole list" in posting.availability_reason


def test_another_boards_pull_closes_nothing_here(world: World) -> None:
    """The scope of absence is the board that was listed to its end."""
    ours = SourceFactory.create()
    record(ours, *(listing(str(key)) for key in range(5)))
    other = SourceFactory.create()
    record(other, listing("77"), listing("78"))
    record(other, listing("77"))
    assert Listing.objects.filter(source=ours).listed().count() == 5
    assert Posting.objects.filter(availability="open").count() == 6


def test_a_closed_posting_that_is_shown_again_is_reopened_and_says_so(world: World) -> None:
    posting = world.unlisted()
    close_posting(posting.pk, by="ann", reason="the recruiter wrote so")
    posting.refresh_from_db()
    assert (posting.availability, posting.availability_reason) == ("closed", "ann: the recruiter wrote so")

    record(world.source, listing("7"), listing("8"))

    posting.refresh_from_db()
    assert posting.availability == "open"
    kinds = list(posting.observations.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["appeared", "unlisted", "closed", "reappeared", "reopened"]


def test_a_posting_that_never_tells_is_asked_less_and_less_and_then_no_more(world: World) -> None:
    posting = world.unlisted()
    waits = []
    for _ in range(len(NEXT_CHECKS) + 1):
        world.check(posting)
        wait = posting.next_check_at - timezone.now() if posting.next_check_at else None
        waits.append(None if wait is None else round(wait / timedelta(hours=1)))
    assert waits == [6, 24, 72, 168, 336, None]


def test_a_posting_that_is_shown_somewhere_is_not_asked_after(world: World) -> None:
    posting = world.unlisted()
    record(SourceFactory.create(), listing("7"))
    assert world.check(posting).availability == "open"
    assert not PageFetch.objects.exists()
    assert world.server.paths == []


def test_a_posting_that_its_page_shows_is_asked_again_until_it_is_closed(world: World) -> None:
    """A3: at growing intervals, because no source will say that it is over."""
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = page(f"<h1>Data Engineer</h1><p>{TEXT}</p>")
    waits = []
    for _ in range(6):
        world.check(posting)
        assert posting.next_check_at is not None
        waits.append(round((posting.next_check_at - timezone.now()) / timedelta(days=1)))
    assert (posting.availability, waits) == ("open", [1, 3, 7, 14, 14, 14])

    world.pages["/acme/jobs/7"] = page("<h1>Data Engineer</h1><p>This job is no longer available.</p>")
    assert world.check(posting).availability == "closed"
    assert posting.next_check_at is None


def test_a_page_that_stops_telling_leaves_the_posting_unknown_at_last(world: World) -> None:
    """A3: what a page showed weeks ago is no evidence for ever."""
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = page(f"<h1>Data Engineer</h1><p>{TEXT}</p>")
    world.check(posting)
    world.pages["/acme/jobs/7"] = answer(500)
    said = [world.check(posting).availability for _ in range(len(NEXT_CHECKS) + 1)]
    assert said == ["open"] * len(NEXT_CHECKS) + ["unknown"]
    assert posting.next_check_at is None


def test_a_posting_that_is_listed_again_is_due_no_more(world: World) -> None:
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = page(f"<h1>Data Engineer</h1><p>{TEXT}</p>")
    world.check(posting)
    record(world.source, listing("7"), listing("8"))
    world.check(posting)
    assert (posting.availability, posting.next_check_at) == ("open", None)
    assert PageFetch.objects.count() == 1


def test_a_redirect_to_a_list_where_another_job_is_filled_closes_nothing(world: World) -> None:
    """A3: a redirect proves nothing, whatever stands at its end."""
    posting = world.unlisted()
    world.pages["/acme/jobs/7"] = redirect("/acme")
    world.pages["/acme"] = page("<h1>All jobs</h1><p>This position has been filled.</p>")
    assert world.check(posting).availability == "unknown"


def test_a_board_that_no_longer_answers_is_no_witness_against_its_postings(world: World) -> None:
    """A3: Greenhouse says "Job not found" of a board that is gone, too."""
    posting = world.unlisted()
    not_found = b'{"status":404,"error":"Job not found"}'
    world.pages["/api/v1/boards/acme/jobs/7"] = answer(404, not_found)
    Source.objects.update(failures=2)
    assert world.check(posting).availability == "unknown"
