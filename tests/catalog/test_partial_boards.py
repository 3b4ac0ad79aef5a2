"""Boards that look whole and are not: every trap leaves the reading partial, so that nothing is retired (A2).

And scans that must end: a hostile page is read in one pass, or the test never comes to its end.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.adapters import ADAPTERS, canonical_posting_url
from catalog.adapters.base import Context, Progress, Reading, Request, UnreadableResponse
from catalog.adapters.http import Response
from catalog.adapters.markup import json_in
from catalog.links import canonical
from catalog.places import parse_place
from catalog.services.reading import read_board

SITEMAP = "https://good.example.com/sitemap.xml"
POSTING = (
    '<html><body><script type="application/ld+json">{"@type": "JobPosting", "title": "Engineer",'
    ' "url": "https://good.example.com/jobs/%d"}</script></body></html>'
)
PROSE = "<p>Where we work, what we build, and whom we look for this year.</p>" * 10


def read(kind: str, answers: list[Any], board: str = "goodpumps") -> Reading:
    """The board that these answers make, one for each request; JSON unless they are text."""
    left = iter(answers)

    def ask(request: Request) -> Response:
        answer = next(left)
        at = answer[0] if isinstance(answer, tuple) else request.url
        body = answer[1] if isinstance(answer, tuple) else answer
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return Response(200, request.url, at, {}, content)

    context = Context(token=board, fetched_at=datetime(2026, 12, 1, tzinfo=UTC))
    return read_board(ADAPTERS[kind], context, ask=ask)


def workday(numbers: range, total: object) -> dict[str, Any]:
    rows = [{"title": f"Engineer {number}", "externalPath": f"/job/X/E_{number}"} for number in numbers]
    return {"total": total, "jobPostings": rows}


def teamtailor(numbers: range, broken: str = "") -> str:
    link = "https://goodpumps.teamtailor.com/jobs"
    items = [
        f"<item><title>T{number}</title><link>{link}/{number}-x</link><guid>{number}</guid></item>"
        for number in numbers
    ]
    return f"<rss version='2.0'><channel><title>Good</title>{''.join(items)}{broken}</channel></rss>"


def icims(numbers: range, said: str, end: str = "</body></html>") -> str:
    rows = "".join(
        f"<li><a class='iCIMS_Anchor' href='https://careers-good.icims.com/jobs/{number}/x/job'>"
        f"<h3>T{number}</h3></a></li>"
        for number in numbers
    )
    return f"<html><body>iCIMS{rows}<div>{said}</div>{end}"


def jobvite(numbers: range, said: str = "", end: str = "</body></html>") -> str:
    rows = "".join(f"<a href='/goodpumps/job/o{number}ABCDEFG'>T{number}</a>" for number in numbers)
    return f"<html><body class='jv-page'>{rows}{said}{end}"


def urls(*addresses: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{address}</loc></url>' for address in addresses)}</urlset>"


JOBS = [f"https://good.example.com/jobs/{number}" for number in (1, 2)]
UUID = "11111111-1111-1111-1111-111111111111"
DOVER = [{"id": f"{number:08d}-0000-0000-0000-000000000000", "title": "T"} for number in range(3)]

PARTIAL: dict[str, tuple[str, str, list[Any], str]] = {
    "a total that only the second answer states": (
        "dover",
        "goodpumps",
        [{"id": UUID, "slug": "x"}, {"count": 1500, "results": DOVER}],
        "3 of 1500",
    ),
    "a total that grows": (
        "workday",
        "good|wd5|S",
        [workday(range(20), 40), workday(range(20, 40), 90), workday(range(0), 90)],
        "40 of 90",
    ),
    "a total of nothing, then an empty page that states some": (
        "workday",
        "good|wd5|S",
        [workday(range(20), 0), workday(range(0), 45)],
        "20 of 45",
    ),
    "no total where there always is one": (
        "workday",
        "good|wd5|S",
        [workday(range(20), None), workday(range(0), None)],
        "does not state",
    ),
    "a mended page": (
        "teamtailor",
        "goodpumps",
        [teamtailor(range(1, 5), "<item><title>T5</title><guid>5</guid"), teamtailor(range(0))],
        "well-formed",
    ),
    "a page that was cut": (
        "icims",
        "careers-good",
        [icims(range(1, 3), "Page 1 of 2", end=""), icims(range(5, 7), "Page 2 of 2")],
        "cut short",
    ),
    "an error page in the middle": (
        "icims",
        "careers-good",
        [icims(range(1, 3), "Page 1 of 5"), icims(range(0), "Under maintenance")],
        "states 5 pages",
    ),
    "an error page where nothing says how many there are": (
        "jobvite",
        "goodpumps",
        [jobvite(range(2)), jobvite(range(0), "Sorry, something broke")],
        "does not say that there is none",
    ),
    "a sitemap that was mended": (
        "sitemap",
        SITEMAP,
        [
            urls(JOBS[0]).replace(
                "</urlset>", "<url><loc>https://good.example.com/jobs/2</lo></url></urlset>"
            ),
            POSTING % 1,
            POSTING % 2,
        ],
        "well-formed",
    ),
    "a sitemap whose page is a wall": (
        "sitemap",
        SITEMAP,
        [
            urls(*JOBS),
            POSTING % 1,
            "<html><title>Just a moment...</title><body>Checking your browser</body></html>",
        ],
        "could not be read",
    ),
    "a sitemap whose page says that the site is down": (
        "sitemap",
        SITEMAP,
        [urls(*JOBS), POSTING % 1, "<html><body>We will be back soon.</body></html>"],
        "could not be read",
    ),
    "a sitemap whose page leads to a login": (
        "sitemap",
        SITEMAP,
        [urls(*JOBS), POSTING % 1, ("https://good.example.com/login", f"<html><body>{PROSE}</body></html>")],
        "could not be read",
    ),
    "a sitemap whose page asks for a password": (
        "sitemap",
        SITEMAP,
        [urls(*JOBS), POSTING % 1, f"<html><body>{PROSE}<input type=password></body></html>"],
        "could not be read",
    ),
    "a sitemap whose page was cut": (
        "sitemap",
        SITEMAP,
        [urls(*JOBS), POSTING % 1, f"<html><body>{PROSE}"],
        "could not be read",
    ),
    "a sitemap whose posting is broken": (
        "sitemap",
        SITEMAP,
        [urls(*JOBS), POSTING % 1, (POSTING % 2).replace("Engineer", 'Engi"neer')],
        "could not be read",
    ),
    "an index of sitemaps elsewhere": (
        "sitemap",
        SITEMAP,
        [
            "<sitemapindex><sitemap><loc>https://good.example.com/a.xml</loc></sitemap>"
            "<sitemap><loc>https://other.example.com/b.xml</loc></sitemap></sitemapindex>",
            urls(JOBS[0]),
            POSTING % 1,
        ],
        "other sites",
    ),
    "rows of a state that nobody knows": (
        "recruitee",
        "goodpumps",
        [
            {
                "offers": [
                    {"id": 1, "title": "T", "careers_url": "https://goodpumps.recruitee.com/o/t"},
                    {"id": 2, "status": None},
                ]
            }
        ],
        "could not be read",
    ),
}


@pytest.mark.parametrize("case", PARTIAL)
def test_a_part_is_not_taken_for_the_whole(case: str) -> None:
    kind, token, answers, why = PARTIAL[case]

    reading = read(kind, answers, token)

    assert not reading.complete
    assert why in reading.reason
    assert reading.listings


def test_a_sitemap_whose_other_pages_are_no_postings_is_whole() -> None:
    other = f"<html><body>{PROSE}</body></html>"

    reading = read("sitemap", [urls(*JOBS), POSTING % 1, other], SITEMAP)

    assert (reading.complete, len(reading.listings)) == (True, 1)


def test_a_total_of_nothing_on_a_later_page_is_no_total() -> None:
    """Workday says 0 from the second page on."""
    reading = read("workday", [workday(range(20), 40), workday(range(20, 40), 0)], "good|wd5|S")

    assert (reading.complete, len(reading.listings)) == (True, 40)


def test_a_last_page_that_comes_for_ever_with_a_broken_row_ends() -> None:
    page = workday(range(3), 500)
    page["jobPostings"].append({"title": ""})

    reading = read("workday", [page, page], "good|wd5|S")

    assert not reading.complete
    assert "came again" in reading.reason
    assert len(reading.rejected) == 1


HOSTILE = {
    "sitemap": [b"<!-- x -->" * 100_000 + b"<html></html>", b"<?x ?>" * 100_000],
    "homerun": [b"<!-- x -->\n" * 100_000],
    "csv": [b"title,url\n" + b"[" * 130_000 + b",https://x.example.com/1\n"],
    "markdown": [b"| Role | Link |\n| --- | --- |\n| " + b"[a](" * 4_000 + b" | https://x.example.com/1 |\n"],
    "hackernews": [json.dumps({"children": [{"id": 1, "text": "<a x" * 60_000}]}).encode()],
    "remoteok": [json.dumps([{"id": 1, "position": "T", "description": " " * 200_000 + "x"}]).encode()],
}


@pytest.mark.parametrize(
    ("kind", "payload"), [(kind, payload) for kind, payloads in HOSTILE.items() for payload in payloads]
)
def test_a_hostile_payload_is_read_to_its_end(kind: str, payload: bytes) -> None:
    with suppress(UnreadableResponse):
        ADAPTERS[kind].parse(payload, Context(token=SITEMAP))


def test_json_in_a_page_is_not_looked_for_without_end() -> None:
    assert json_in("data: [" * 200_000, "data:") is None
    assert json_in("data: x data: [1]", "data:") == [1]


ODD = [
    "engineer%00",
    "engineer%23x",
    "engineer%3Fx",
    "a%2F..%2Fb",
    "a%0Ab",
    "caf%C3%A9",
    "a%20b",
    "%E2%80%AE",
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "place",
    [
        "https://goodpumps.recruitee.com/o/",
        "https://www.arbeitnow.com/jobs/companies/x/",
        "https://jobs.lever.co/goodpumps/",
        "https://www.workable.com/view/x/",
    ],
)
def test_an_odd_id_has_one_spelling_and_no_control_characters(place: str, odd: str) -> None:
    """A4."""
    once = canonical_posting_url(place + odd)

    assert once.isprintable()
    assert canonical_posting_url(once) == once
    assert canonical(once) == once


@pytest.mark.parametrize("kind", ["avature", "bamboohr", "breezy", "jazzhr", "pinpoint", "homerun"])
def test_a_platform_without_own_domains_is_asked_at_its_own_hosts(kind: str) -> None:
    request = ADAPTERS[kind].request(Context(token="elsewhere.example.org"), Progress())

    assert request is not None
    assert "elsewhere" not in request.url


def test_jobs_that_lead_to_one_page_stay_jobs_of_their_own() -> None:
    """A4: near copies are linked, never merged away; different jobs all the less."""
    link = "https://good.example.com/careers"
    items = "".join(
        f"<item><title>Role {number}</title><link>{link}#role-{number}</link><guid>{number}</guid></item>"
        for number in range(3)
    )
    table = f"title,url\nRole 0,{link}\nRole 1,{link}\nRole 2,{link}\n"
    for kind, payload in (("feed", f"<rss><channel>{items}</channel></rss>"), ("csv", table)):
        listings = ADAPTERS[kind].parse(payload.encode(), Context(token=link)).listings

        assert [listing.title for listing in listings] == ["Role 0", "Role 1", "Role 2"]
        addresses = {canonical_posting_url(listing.url) for listing in listings}
        assert len(addresses) == 3
        assert all(address.startswith(f"{link}#id=") for address in addresses)


def test_a_job_that_has_its_page_to_itself_keeps_its_address() -> None:
    [listing] = ADAPTERS["csv"].parse(b"title,url\nRole,https://good.example.com/a#top\n", Context()).listings

    assert canonical_posting_url(listing.url) == "https://good.example.com/a"


def test_an_employer_with_its_place_behind_a_dot_is_taken_apart() -> None:
    table = (
        "title,url,company\nRole,https://good.example.com/a,Example AG \u00b7 Zurich, Switzerland (On-site)\n"
    )
    table = table.replace("Example AG", '"Example AG').replace("(On-site)", '(On-site)"')
    [row] = ADAPTERS["csv"].parse(table.encode(), Context()).listings

    assert (row.company, row.remote) == ("Example AG", "no")
    [place] = parse_place(row.locations[0])
    assert (place.city, place.country) == ("Zürich", "CH")


def test_a_german_word_for_the_work_model_is_known() -> None:
    table = b"title,url,location,remote\nRole,https://good.example.com/a,Leipzig,TEILWEISE\n"
    [row] = ADAPTERS["csv"].parse(table, Context()).listings

    assert (row.locations, row.remote) == (("Leipzig",), "hybrid")
