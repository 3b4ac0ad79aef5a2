"""A3: which pages say that their own posting is closed. A live posting is never closed by its page."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.adapters import ADAPTERS
from catalog.adapters.base import ParsedListing
from catalog.adapters.http import Response
from catalog.models import Posting, PostingText
from catalog.page_text import notices, read_page
from catalog.services.closing import judge_page

GONE = "This job is no longer available."
JD = " ".join(f"We build pump number {number} for water works in Basel." for number in range(60))
LIVE = f"<h1>Engineer</h1><p>{JD}</p>"
SHORT = "<h1>Engineer</h1><p>Build pumps.</p>"
APPLY = '<a href="/apply">Apply now</a>'
DATA = '<script type="application/ld+json">{"@type": "JobPosting", "title": "Engineer"%s}</script>'


def answered(body: str, head: str = "<title>Engineer - Acme</title>", final: str = "") -> Response:
    url = "https://jobs.example.com/1"
    page = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return Response(200, url, final or url, {"content-type": "text/html; charset=utf-8"}, page.encode())


def verdict(body: str, known: str = JD, **page: str) -> str:
    posting = Posting(title="Engineer", text=PostingText(text=known) if known else None)
    return judge_page(answered(body, **page), posting).verdict


ELSEWHERE = {
    "related list": f"{SHORT}<h2>Similar jobs</h2><ul><li>Welder</li><li>{GONE}</li></ul>",
    "related divs": f"{SHORT}<h2>Similar jobs</h2><div>Welder</div><div>{GONE}</div>",
    "cards": SHORT + f"<div class=card><h3>Welder</h3><p>{GONE}</p></div>" * 3,
    "recently viewed": f"<aside><p>Welder</p><p>{GONE}</p></aside>{LIVE}",
    "recently viewed, heading": f"<h3>Recently viewed</h3><p>{GONE}</p>{LIVE}",
    "a table": f"<table><tr><td>Welder</td><td>{GONE}</td></tr></table>{LIVE}",
    "hidden": f"<div hidden>{GONE}</div>{LIVE}",
    "display none": f'<div style="color: red; display : none">{GONE}</div>{LIVE}',
    "aria-hidden": f'<div aria-hidden="true"><h1>{GONE}</h1></div>{LIVE}',
    "a hidden class": f'<div class="alert d-none">{GONE}</div>{LIVE}',
    "a closed dialog": f"<dialog>{GONE}</dialog>{LIVE}",
    "noscript": f"<noscript>{GONE}</noscript>{LIVE}",
    "script": f'<script>var gone = "<h1>{GONE}</h1>";</script>{LIVE}',
    "comment": f"<!-- <h1>{GONE}</h1> -->{LIVE}",
    "template": f"<template><h1>{GONE}</h1></template>{LIVE}",
    "textarea": f"<textarea>{GONE}</textarea>{LIVE}",
    "a drawing's title": f"<svg><title>{GONE}</title></svg>{LIVE}",
    "below the text": f"{LIVE}<p>{GONE}</p>",
    "another job by name": f"<p>The Welder position has been filled.</p>{LIVE}",
    "a form below": f"<h1>Engineer</h1>{APPLY}<p>{'Pumps and valves. ' * 80}</p><p>{GONE}</p>",
    "the region": "<p>This job is not available in your region.</p>",
    "a sign-in": "<h1>Sign in</h1><p>The job posting is not available to visitors who are not signed in</p>",
    "maintenance": "<h1>Sorry</h1><p>This opportunity is not currently available. Our servers rest.</p>",
    "agencies": f"<h1>Engineer</h1><p>This position is not open to third-party recruiters.</p><p>{JD}</p>",
    "a date to come": f"<h1>Engineer</h1><p>Applications are closed on 31 January 2027.</p><p>{JD}</p>",
}


@pytest.mark.parametrize("known", [JD, ""], ids=["known text", "no text"])
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_words_in_another_place_or_of_another_meaning_close_nothing(kind: str, known: str) -> None:
    """A3"""
    assert verdict(ELSEWHERE[kind], known) != "closed"


@pytest.mark.parametrize(
    "head",
    [
        f"<!-- <title>{GONE}</title> --><title>Engineer</title>",
        f'<script>x = "<title>{GONE}</title>"</script><title>Engineer</title>',
        f"<noscript><title>{GONE}</title></noscript><title>Engineer</title>",
    ],
)
def test_a_title_that_is_not_the_pages_says_nothing(head: str) -> None:
    assert verdict(LIVE, head=head) == "open"
    assert read_page(answered(LIVE, head)).title == "Engineer"


def test_a_redirect_says_nothing_whatever_stands_at_its_end() -> None:
    """A3"""
    assert verdict(f"<h1>{GONE}</h1>", final="https://jobs.example.com/all") == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        f"<h1>{GONE}</h1>",
        f"<h1>Sorry</h1><p>{GONE}</p>",
        f"<p>{GONE}</p>{LIVE}",
        f"<h1>Engineer</h1><div class=banner>{GONE}</div><p>{JD}</p>",
        f"<h1>Engineer - {GONE}</h1><p>{JD}</p>",
        f"<p>{GONE}</p>{DATA % ''}",
        "<p>This <b>job</b> is <!-- --> no longer <i>available</i>.</p><a href=/>View similar jobs</a>",
        f"<nav><ul><li>Home</li></ul></nav><p>{GONE}</p><h2>Similar jobs</h2><ul><li>Welder</li></ul>",
    ],
)
def test_a_notice_of_its_own_above_the_text_closes(body: str) -> None:
    """A3"""
    assert verdict(body) == "closed"


@pytest.mark.parametrize("said", ["", ', "validThrough": "2999-01-01T00:00:00Z"', ', "validThrough": "soon"'])
def test_a_page_whose_data_still_offer_the_posting_closes_it_only_at_its_beginning(said: str) -> None:
    """A3"""
    below = f"<p>{'Pumps and valves. ' * 60}</p><p>{GONE}</p>"
    assert verdict(below, known="") == "closed"  # a short page: the notice counts anywhere
    assert verdict(DATA % said + below, known="") == "unknown"
    assert verdict(DATA % ', "validThrough": "2020-01-01"' + below, known="") == "closed"


@pytest.mark.parametrize(
    "piece",
    [
        "<p>-</p>",
        "-\n",
        "<h1",
        "<h1 ",
        "<h1>",
        "<title",
        "<div>",
        "<!--",
        '<a b="',
        "<div class=c><b></b></div>",
        "&",
    ],
)
def test_a_page_made_to_be_slow_is_read_in_its_length(piece: str) -> None:
    """Quadratic and worse patterns would not end on these in a day."""
    page = answered(piece * (200_000 // len(piece)), head="")
    read_page(page)
    assert notices(page).has_apply is False
    short = "".join(f"<p>{sign}</p>" for sign in "-" * 700) + "<p>captcha x</p>"
    assert read_page(answered(short, head="")).outcome == "fetched"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("Open", "open"),
        ("Filled", "closed"),
        ("Canceled", "closed"),
        ("On Hold", "unknown"),
        ("Draft", "unknown"),
    ]
    + [(each, "unknown") for each in ("Offen", "Abierta", "Ouvert", "")],
)
def test_bamboohr_closes_by_a_status_that_is_known_to_close(status: str, said: str) -> None:
    """A3"""
    answer = f'{{"result": {{"jobOpening": {{"jobOpeningStatus": "{status}"}}}}}}'
    assert ADAPTERS["bamboohr"].judge(200, answer.encode()).verdict == said


@pytest.mark.parametrize(
    ("kind", "status", "body", "said"),
    [
        ("lever", 404, "", "unknown"),
        ("lever", 404, "<h1>404 Not Found</h1><p>nginx</p>", "unknown"),
        ("lever", 404, '{"ok":false,"error":"Document not found"}', "closed"),
        ("lever", 500, '{"ok":false,"error":"Document not found"}', "unknown"),
        ("workday", 404, '{"errorCode":"S21","httpStatus":404,"message":""}', "closed"),
        ("workday", 404, '{"errorCode":"S21","message":"not found: Job_Posting_Site_ID=X"}', "unknown"),
        ("workday", 404, '{"errorCode":"HTTP_404"}', "unknown"),
        ("workday", 422, '{"errorCode":"HTTP_422"}', "unknown"),
    ],
)
def test_a_404_closes_only_in_the_platforms_words_for_a_posting(
    kind: str, status: int, body: str, said: str
) -> None:
    """A3"""
    assert ADAPTERS[kind].judge(status, body.encode()).verdict == said


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, '{"jobs": [{"id": "7", "isListed": false}]}', "open"),
        (200, '{"jobs": [{"jobUrl": "https://jobs.ashbyhq.com/acme/7"}]}', "open"),
        (200, '{"jobs": [{"id": "8"}]}', "closed"),
        (200, '{"jobs": []}', "unknown"),
        (200, '{"jobs": [{"id": "8"}, null]}', "unknown"),
        (404, "Not Found", "unknown"),
        (200, "<html>", "unknown"),
    ],
)
def test_an_unlisted_row_of_ashby_is_open_and_only_a_whole_list_closes(
    status: int, body: str, said: str
) -> None:
    """A3"""
    known: dict[str, Any] = {
        "external_id": "7",
        "url": "https://jobs.ashbyhq.com/acme/7",
        "title": "Engineer",
    }
    assert ADAPTERS["ashby"].judge_listing(ParsedListing(**known), status, body.encode()).verdict == said
