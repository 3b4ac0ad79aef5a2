from __future__ import annotations

import pytest

from catalog.adapters.http import Response
from catalog.page_text import Page, blocked_reason, page_title, read_page

POSTING = "<title>Engineer &amp; more</title><h1>Engineer</h1>" + "<p>You will build things.</p>" * 100


def answered(status: int, body: str = "", content_type: str = "text/html", **headers: str) -> Response:
    url = "https://jobs.example.com/1"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, url, url, {"content-type": content_type, **named}, body.encode())


def test_a_page_shows_its_title_and_text() -> None:
    page = read_page(answered(200, POSTING))
    assert (page.outcome, page.title) == ("fetched", "Engineer & more")
    assert page.text.startswith("Engineer\nYou will build things.")
    assert "<" not in page.text


@pytest.mark.parametrize("status", [404, 410])
def test_only_the_status_says_that_a_page_is_gone(status: int) -> None:
    """A3"""
    assert read_page(answered(status, POSTING)).outcome == "gone"
    assert read_page(answered(200, "<p>This job is no longer available.</p>")).outcome == "fetched"


@pytest.mark.parametrize(
    "body",
    [
        "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue</p>",
        "<h1>Sorry, you have been blocked</h1><p>Cloudflare Ray ID: 8f1</p>",
        "<title>Attention Required! | Cloudflare</title>",
        "<p>Please solve the CAPTCHA to go on.</p>",
        "<h1>Access Denied</h1><p>Reference #18.1</p>",
        "<title>Pardon Our Interruption</title>",
        "<p>Verify you are human</p>",
        "<p>Please enable JS and disable any ad blocker</p>",
        "<p>Access to this resource has been denied.</p>",
        "<h1>Robot or human?</h1><p>Activate and hold the button to confirm that you’re human.</p>",
        "<p>Please wait while we verify your browser</p>",
        "<p>DDoS protection by Example</p>",
        "<h1>One more step</h1><p>Please complete the security check to access example.com</p>",
        "<title>Security check</title>",
        "<title>hCaptcha</title>",
        "<p>Enter the captcha code below</p>",
    ],
)
@pytest.mark.parametrize("status", [200, 403])
def test_a_wall_is_told_from_a_page_whatever_its_status(status: int, body: str) -> None:
    """A3: a wall proves nothing about the posting behind it."""
    page = read_page(answered(status, body))
    assert page.outcome == "blocked"
    assert page.reason.startswith("a wall")


def test_a_challenge_is_known_by_its_header() -> None:
    assert read_page(answered(403, POSTING, cf_mitigated="challenge")).reason == "a challenge (cf-mitigated)"
    assert read_page(answered(202, "", x_amzn_waf_action="challenge")).outcome == "blocked"
    assert read_page(answered(200, POSTING, server="cloudflare", cf_ray="8f1")).outcome == "fetched"


@pytest.mark.parametrize("status", [401, 403, 405, 429])
def test_a_refusal_with_a_short_page_is_a_wall(status: int) -> None:
    assert blocked_reason(status, {}, "No.") == f"refused with a short page, status {status}"


def test_the_words_of_a_wall_inside_a_posting_are_prose() -> None:
    text = "You will fight captcha farms, one access denied at a time, in just a moment. " * 30
    assert blocked_reason(200, {}, text) is None
    assert blocked_reason(200, {}, "Apply now. This site is protected by reCAPTCHA and its terms.") is None


@pytest.mark.parametrize(
    "text",
    [
        "Engineer, Anti-Abuse\nYou build captcha and other defences against bots.",
        "Designer\nOur products are human-centred, and you are human-centred too.",
        "Security check officer\nYou check bags at the airport. A background and security check is done.",
        "Scientist\nYou complete captcha research with the team.",
        "Lead Researcher\nWe study what makes you human-like agents trust.",
    ],
)
def test_a_short_posting_with_a_word_of_walls_is_a_page(text: str) -> None:
    assert blocked_reason(200, {}, text) is None


@pytest.mark.parametrize("status", [400, 418])
def test_any_other_refusal_is_a_failure_that_names_its_status(status: int) -> None:
    assert read_page(answered(status, "<p>no</p>")).reason == f"status {status}"
    assert read_page(answered(403, POSTING)).outcome == "failed"


@pytest.mark.parametrize("content_type", ["application/pdf", "image/png", "application/octet-stream"])
def test_a_file_is_not_a_page(content_type: str) -> None:
    assert read_page(answered(200, "%PDF", content_type)) == Page("failed", f"not a page: {content_type}")


def test_plain_text_and_json_are_text_without_a_title() -> None:
    page = read_page(answered(200, '{"title": "<b>"}', "application/json; charset=utf-8"))
    assert (page.outcome, page.title, page.text) == ("fetched", None, '{"title": "<b>"}')


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<TITLE lang=en>\n Data\u200b  Engineer </TITLE>", "Data Engineer"),
        ("<title></title>", None),
        ("<p>no title</p>", None),
        ("<title>open", "open"),
        ("<title" * 200_000, None),
    ],
)
def test_a_title_is_one_clean_line_or_none(html: str, title: str | None) -> None:
    assert page_title(html) == title
