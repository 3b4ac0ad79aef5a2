"""What a signed-in person may say of a source: what is refused is refused in words, and nothing is a 500."""

from __future__ import annotations

import time
from random import Random

import pytest
from django.core import signing
from django.test import Client
from pytest_django import Settings

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Detection
from catalog.errors import UnknownPlatform
from catalog.models import LookPlace, RobotsFile, Source, SourceRequest
from catalog.pacing import OutOfTime, fetch_at_pace, within
from catalog.services.looking import BoardNotFound, LookUnderWay, found_board, look, signed_board
from catalog.services.sources import add_board
from tests.catalog.servers import LocalServers, Server, answer, dripping
from tests.catalog.test_pulls import json_of, lever_posting
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

BOARD = "https://jobs.lever.co/goodco"


@pytest.fixture
def person(client: Client) -> Client:
    client.force_login(UserFactory.create())
    return client


@pytest.mark.parametrize("step", ["look", "ask", "add"])
@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("url", "https://jobs.lever.co/a\0b"),
        ("url", "https://jobs.lever.co/" + "é" * 3000),
        ("url", "https://[x"),
        ("url", "http://" + "\u00ad" * 1500 + "example.com/"),
        ("company", "a\0b"),
        ("company", "x" * 201),
        ("titles", "a\0b"),
        ("titles", "[\0]"),
        ("titles", "x" * 501),
        ("titles", "(" * 400),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words_and_stays_typed(
    person: Client, step: str, field: str, text: str
) -> None:
    form = {"url": BOARD, "company": "Good Co", "titles": "engineer", field: text, "step": step}
    form["board"] = "" if field == "url" else signed_board(Detection("lever", "goodco"))

    shown = person.post("/sources/", form)

    assert shown.status_code == 400
    assert shown.context["error"]
    for name in ("url", "company", "titles"):
        assert shown.context[name] == form[name].replace("\0", "")
    assert not Source.objects.exists()
    assert not SourceRequest.objects.exists()


ODD_TOKENS = [
    *("a\0b", "é" * 1000, "x" * 1000, "/" * 1000, "\U0001f600" * 900, "", " ", "[", "[::1]|x|y", "a|[|b"),
    *("||", "..", "//evil.example", "a\nb", "\u202eabc", "%00", "https://[x", "javascript:alert(1)"),
    *("https://example.com/" + "é" * 900, "https://example.com/" + "x" * 2000, "https://127.0.0.1/"),
]


@pytest.mark.parametrize("kind", ADAPTERS)
def test_a_board_is_kept_or_refused_whatever_its_name(kind: str) -> None:
    for token in ODD_TOKENS:
        try:
            added = add_board(Detection(kind, token), pulls_now=False)
        except UnknownPlatform:
            continue
        assert added.source.url.startswith(("http://", "https://"))
        assert len(added.source.name) <= 200


def test_the_longest_names_that_are_accepted_fit_the_index() -> None:
    """Letters in no order, which the database cannot make shorter."""
    order = Random(7)
    latin = "".join(order.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1000))
    chinese = "".join(chr(order.randrange(0x4E00, 0x9F00)) for _ in range(1000))
    api_root = "https://api.example.com/" + latin[:470]
    page = f"https://careers.example.com/{latin[:970]}"
    named = [("ashby", latin), ("recruitee", chinese[:666]), ("jsonld", page), ("csv", page)]
    for kind, token in named:
        added = add_board(Detection(kind, token), api_root=api_root, pulls_now=False)
        assert added.source.token == token
    with pytest.raises(UnknownPlatform, match="2,000 bytes"):
        add_board(Detection("recruitee", chinese[:667]), pulls_now=False)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"kind": "lever", "token": "goodco", "region": ""},
        {"board": "x"},
        {"board": "\0"},
        {"board": signing.dumps({"kind": "lever", "token": "goodco", "region": "zz"}, salt="other")},
    ],
)
def test_only_what_a_look_has_found_is_added(person: Client, forged: dict[str, str]) -> None:
    shown = person.post("/sources/", {"url": BOARD, "company": "Good Co", "step": "add", **forged})

    assert shown.status_code == 400
    assert "Look at the address again" in shown.content.decode()
    assert shown.context["url"] == BOARD
    assert not Source.objects.exists()


def test_a_found_board_is_good_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Detection("lever", "goodco", region="eu")
    signed = signed_board(board)
    assert found_board(signed) == board

    later = time.time() + 3_601
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    with pytest.raises(BoardNotFound, match="age"):
        found_board(signed)


def test_one_board_is_added_once_whatever_the_form_says_of_its_region(person: Client) -> None:
    form = {"url": BOARD, "step": "add", "board": signed_board(Detection("lever", "goodco"))}
    for region in ("", "a", "b", "zzzzzzzzzz"):
        assert person.post("/sources/", {**form, "region": region, "token": region}).status_code == 302
    assert [(source.token, source.region) for source in Source.objects.all()] == [("goodco", "")]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//example.com",
        "careers",
        "http://127.0.0.1/",
        "http://localhost/",
        "https://user:word@example.com/",
        "\u202e<script>alert(1)</script>",
    ],
)
def test_a_wish_is_a_public_web_page(person: Client, url: str) -> None:
    shown = person.post("/sources/", {"url": url, "step": "ask"})

    assert shown.status_code == 400
    assert shown.context["error"]
    assert shown.context["url"] == url
    assert not SourceRequest.objects.exists()


def test_an_old_wish_that_is_no_web_page_is_no_link(person: Client) -> None:
    user = UserFactory.create()
    person.force_login(user)
    for url in ("javascript:alert(1)", "https://good.example.com/jobs"):
        SourceRequest.objects.create(user=user, url=url)

    text = person.get("/sources/").content.decode()

    assert 'href="javascript' not in text
    assert "javascript:alert(1)" in text
    assert 'href="https://good.example.com/jobs"' in text


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("source:" + "9" * 5000, 404),
        ("bundle:" + "9" * 19, 404),
        ("source:0", 404),
        ("source:²", 403),
        ("source:-1", 403),
        ("source:1\0", 403),
        ("", 403),
    ],
)
def test_what_is_followed_is_an_id(person: Client, what: str, status: int) -> None:
    assert person.post("/sources/follow/", {"what": what, "follow": "yes"}).status_code == status


def slow(local: LocalServers, settings: Settings) -> Server:
    server = local(dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n", b" " * 400))
    settings.FETCH_BASE_URL_OVERRIDES = {
        "https://api.lever.co": server.base,
        "https://slow.example.com": server.base,
    }
    return server


def test_a_board_that_answers_slowly_is_found_all_the_same(local: LocalServers, settings: Settings) -> None:
    slow(local, settings)

    seen = look(user_id=UserFactory.create().pk, url=BOARD, seconds=0.3)

    assert seen.found.board.token == "goodco"
    assert "slowly" in seen.preview.fault


def test_a_page_that_answers_slowly_is_said_to(local: LocalServers, settings: Settings) -> None:
    """Nothing is kept of a robots.txt that was not waited for: the pulls of others go by it."""
    slow(local, settings)

    with pytest.raises(UnknownPlatform, match="slowly"):
        look(user_id=UserFactory.create().pk, url="https://slow.example.com/jobs", seconds=0.3)

    assert not RobotsFile.objects.exists()


def test_nothing_is_asked_once_the_time_is_over(local: LocalServers) -> None:
    server = local(answer(200, b"x"))
    with within(0), pytest.raises(OutOfTime):
        fetch_at_pace(server.base)
    assert server.paths == []
    assert fetch_at_pace(server.base).content == b"x"


def test_a_person_looks_at_one_address_at_a_time(
    local: LocalServers, settings: Settings, client: Client
) -> None:
    """The second look of a person is refused while the first is under way; another person's is not."""
    user, other = UserFactory.create(), UserFactory.create()
    server = local(json_of([lever_posting("a1")]))
    settings.FETCH_BASE_URL_OVERRIDES = {"https://api.lever.co": server.base}
    look(user_id=user.pk, url=BOARD)
    held = LookPlace.objects.filter(user=user)
    assert held.update(taken_until="2999-01-01T00:00:00Z") == 1
    asked = len(server.paths)

    with pytest.raises(LookUnderWay):
        look(user_id=user.pk, url=BOARD)
    client.force_login(user)
    refused = client.post("/sources/", {"url": BOARD, "company": "Good Co"})
    assert refused.status_code == 429
    assert refused["Retry-After"]
    assert refused.context["company"] == "Good Co"
    assert "just now" in refused.content.decode()
    assert len(server.paths) == asked
    assert look(user_id=other.pk, url=BOARD).preview.rows

    held.update(taken_until="2000-01-01T00:00:00Z")
    assert look(user_id=user.pk, url=BOARD).preview.rows
