"""From a pasted address to a board: what it is, what it would bring, and what becomes of a wish."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from catalog.management.commands.detect_source import Command
from catalog.models import Listing, Posting, Source, SourceBundle, SourceRequest, Subscription
from catalog.page_detection import board_in_page
from catalog.services.discovery import preview_pattern
from catalog.services.sources import answer_request
from tests.catalog.servers import LocalServers, Server, answer, redirect, site
from tests.catalog.test_pulls import json_of, lever_posting
from tests.catalog.test_recording import listing, record
from tests.factories import SourceFactory, UserFactory

pytestmark = pytest.mark.django_db

PAGE = "https://goodpumps.example.com/careers"


def page(*parts: str) -> bytes:
    return (
        f"<!doctype html><html><head><title>Jobs</title></head><body>{''.join(parts)}</body></html>".encode()
    )


@pytest.mark.parametrize(
    ("html", "kind", "token"),
    [
        ('<a href="https://jobs.lever.co/goodpumps">Jobs</a>', "lever", "goodpumps"),
        ('<a href="https:\\/\\/jobs.lever.co\\/goodpumps">', "lever", "goodpumps"),
        (
            '<script src="https://boards.greenhouse.io/embed/job_board/js?for=goodpumps"></script>'
            '<a href="https://jobs.lever.co/partner/">partner</a>',
            "greenhouse",
            "goodpumps",
        ),
        ('<div data-board-token="goodpumps"></div>', "greenhouse", "goodpumps"),
        ('<script src="https://jobs.ashbyhq.com/goodpumps/embed"></script>', "ashby", "goodpumps"),
        (
            '<link href="https://assets.teamtailor-cdn.com/x.css" rel="stylesheet">',
            "teamtailor",
            "goodpumps.example.com",
        ),
        ("<script>window.recruitee = {};</script>", "recruitee", "goodpumps.example.com"),
        (
            '<script>window._EF_GROUP_ID = "goodpumps.com";</script>',
            "eightfold",
            "goodpumps.example.com|goodpumps.com",
        ),
        ("<script>phApp.ddo = {};</script>", "phenom", "goodpumps.example.com"),
        (
            '<script type="application/ld+json">{"@type": "JobPosting", "title": "Engineer"}</script>',
            "jsonld",
            PAGE,
        ),
    ],
)
def test_a_page_tells_the_board_behind_it(html: str, kind: str, token: str) -> None:
    found = board_in_page(page(html), PAGE)
    assert found is not None
    assert (found.board.kind, found.board.token) == (kind, token)
    assert found.evidence


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<a href='https://jobs.lever.co/one'></a><a href='https://jobs.ashbyhq.com/two'></a>",
        "<a href='https://www.greenhouse.com/'>powered by</a>",
        '<div data-board-token="one"></div><div data-board-token="two"></div>',
    ],
)
def test_a_page_of_no_board_or_of_several_tells_none(html: str) -> None:
    """Nothing is guessed: other companies have the employer's name too."""
    assert board_in_page(page(html), PAGE) is None


@pytest.fixture
def web(local: LocalServers) -> Server:
    return local(
        site(
            {
                "/careers": answer(200, page('<a href="https://jobs.lever.co/goodco">'), HTML),
                "/moved": redirect("/careers"),
                "/empty": answer(200, page("<p>nothing</p>"), HTML),
                "/wall": answer(403, b"<title>Just a moment...</title>", HTML),
                "/v0/postings/goodco?mode=json": json_of(
                    [lever_posting("a1"), lever_posting("b2", text="Head of Sales"), {"id": "c3"}]
                ),
            }
        )
    )


HTML = {"Content-Type": "text/html"}


def followed(*urls: str) -> list[dict[str, str]]:
    out = StringIO()
    call_command(Command(stdout=out), "--follow", *urls)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_detect_source_reads_the_page_when_it_is_asked_to(web: Server) -> None:
    careers, moved, empty, wall = followed(
        *(web.base + path for path in ("/careers", "/moved", "/empty", "/wall"))
    )
    assert (careers["kind"], careers["token"], careers["confidence"]) == ("lever", "goodco", "likely")
    assert moved["token"] == "goodco"
    assert empty["kind"] is None
    assert "leads to no board" in empty["reason"]
    assert wall["kind"] is None
    assert "could not be read" in wall["reason"]


def test_addsource_follows_a_careers_page(web: Server) -> None:
    call_command("addsource", f"{web.base}/careers", stdout=StringIO())
    assert Source.objects.get().token == "goodco"
    with pytest.raises(CommandError, match="leads to no board"):
        call_command("addsource", f"{web.base}/empty", stdout=StringIO())


@pytest.fixture
def lever(web: Server, settings: Settings) -> None:
    settings.FETCH_BASE_URL_OVERRIDES = {"https://api.lever.co": web.base}


def test_a_test_fetch_shows_what_would_come_and_records_nothing(
    web: Server, lever: None, client: Client
) -> None:
    client.force_login(UserFactory.create())
    form = {"url": f"{web.base}/careers", "company": "Good Co", "titles": "engineer", "step": "look"}

    shown = client.post("/sources/", form)

    text = shown.content.decode()
    assert "Lever: goodco" in text
    assert "2 listings read" in text.replace("<b>", "").replace("</b>", "")
    assert "Engineer a1" in text
    assert "its title does not match the source" in text
    assert "the row has no link to a public web page" in text
    assert "How it was read: 1 page" in text
    assert not Source.objects.exists()
    assert not Listing.objects.exists()


def test_what_was_looked_at_is_added_and_followed(client: Client, lever: None) -> None:
    user = UserFactory.create()
    client.force_login(user)
    form = {"url": "https://jobs.lever.co/goodco", "company": "Good Co", "titles": "engineer"}
    looked = client.post("/sources/", form)

    answered = client.post("/sources/", {**form, "step": "add", "board": looked.context["board"]})

    source = Source.objects.get()
    assert answered["Location"] == f"/sources/{source.pk}/"
    assert (source.kind, source.token, source.region) == ("lever", "goodco", "")
    assert (source.company, source.title_pattern) == ("Good Co", "engineer")
    assert Subscription.objects.get().user == user


def test_what_is_read_already_is_not_offered_as_new(client: Client, lever: None) -> None:
    client.force_login(UserFactory.create())
    source = SourceFactory.create(kind="lever", token="goodpumps", name="Good Pumps")

    text = client.post("/sources/", {"url": "https://jobs.lever.co/goodpumps"}).content.decode()

    assert f'href="/sources/{source.pk}/">Read already: Good Pumps' in text
    assert "Add this source" not in text


def test_a_source_shows_what_it_admits_and_what_not(client: Client) -> None:
    client.force_login(UserFactory.create())
    source = SourceFactory.create(title_pattern="engineer")
    record(source, listing("1", title="Pump Engineer"), listing("2", title="Nurse"))

    shown = client.get(f"/sources/{source.pk}/")

    assert [one.title for one in shown.context["admitted"]] == ["Pump Engineer"]
    assert [one.title for one in shown.context["dropped"]] == ["Nurse"]


def test_a_wish_is_kept_and_answered(client: Client) -> None:
    user = UserFactory.create()
    client.force_login(user)
    client.post("/sources/", {"url": "https://goodpumps.example.com/jobs", "step": "ask"})
    client.post("/sources/", {"url": "https://goodpumps.example.com/jobs", "step": "ask"})
    wish = SourceRequest.objects.get()
    source = SourceFactory.create()

    answer_request(wish, answer="It is Lever.", source=source)

    text = client.get("/sources/").content.decode()
    assert "It is Lever." in text
    assert Subscription.objects.get(user=user).source == source


def test_a_bundle_is_followed_and_left(client: Client) -> None:
    client.force_login(UserFactory.create())
    bundle = SourceBundle.objects.create(slug="pumps", name="Pumps")
    for follow, count in (("yes", 1), ("yes", 1), ("no", 0)):
        client.post("/sources/follow/", {"what": f"bundle:{bundle.pk}", "follow": follow})
        assert Subscription.objects.count() == count
    assert client.post("/sources/follow/", {"what": "user:1", "follow": "yes"}).status_code == 403


def test_a_pattern_is_tried_on_what_was_recorded_before_it_is_saved(client: Client) -> None:
    """A1."""
    source = SourceFactory.create(title_pattern="engineer")
    record(source, listing("1"), listing("2", title="Nurse"), listing("3", title="Spontaneous Application"))

    diff = preview_pattern(source, "nurse")

    assert [row.title for row in diff.admitted] == ["Nurse"]
    assert [row.title for row in diff.dropped] == ["Data Engineer"]
    assert (diff.kept, diff.still_dropped) == (0, 1)
    client.force_login(UserFactory.create())
    page_url = f"/sources/{source.pk}/"
    assert "Would come in" in client.get(page_url, {"titles": "nurse"}).content.decode()
    assert client.get(page_url, {"titles": "(("}).status_code == 400
    assert client.post(page_url, {"titles": "nurse"}).status_code == 403
    client.force_login(UserFactory.create(is_staff=True))
    assert client.post(page_url, {"titles": "nurse"}).status_code == 302
    source.refresh_from_db()
    assert source.title_pattern == "nurse"
    assert Posting.objects.count() == 1
