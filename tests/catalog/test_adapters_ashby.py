"""Ashby responses, read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, ParsedListing, Pay, Reading, UnreadableResponse
from tests.catalog.mutation import assert_reads_or_refuses, spoilt

ASHBY = ADAPTERS["ashby"]
CONTEXT = Context(token="Good Co")
ID = "595ce65e-292e-4a5c-9a9e-9c9f2852cde6"


def part(kind: str = "Salary", **changes: Any) -> dict[str, Any]:
    salary = {"interval": "1 YEAR", "currencyCode": "USD", "minValue": 119_000, "maxValue": 178_000}
    return {"compensationType": kind, **salary, **changes}


EQUITY = part("EquityPercentage", interval="NONE", currencyCode=None, minValue=0.1, maxValue=0.3)
BONUS = part("Bonus", minValue=None, maxValue=None)


def job(**changes: Any) -> dict[str, Any]:
    return {
        "id": ID,
        "title": "Product Designer ",
        "department": "R&amp;D",
        "employmentType": "FullTime",
        "location": "United States",
        "secondaryLocations": [{"location": "Ireland", "address": {}}],
        "publishedAt": "2025-10-22T16:46:18.419+00:00",
        "isListed": True,
        "isRemote": True,
        "workplaceType": "Remote",
        "shouldDisplayCompensationOnJobPostings": True,
        "jobUrl": f"https://jobs.ashbyhq.com/Good%20Co/{ID}",
        "applyUrl": f"https://jobs.ashbyhq.com/Good%20Co/{ID}/application",
        "descriptionHtml": '<p style="min-height:1.5em">We <em>design</em></p><p></p>',
        "descriptionPlain": "We design",
        "compensation": {"compensationTiers": [], "summaryComponents": [EQUITY, BONUS, part()]},
        **changes,
    }


def board(*jobs: Any) -> bytes:
    return json.dumps({"jobs": jobs, "apiVersion": "1"}).encode()


def read(**changes: Any) -> ParsedListing:
    return ASHBY.parse(board(job(**changes)), CONTEXT).listings[0]


def test_a_row_becomes_a_listing() -> None:
    assert read() == ParsedListing(
        external_id=ID,
        url=f"https://jobs.ashbyhq.com/Good%20Co/{ID}",
        apply_url=f"https://jobs.ashbyhq.com/Good%20Co/{ID}/application",
        title="Product Designer",
        locations=("United States", "Ireland"),
        remote="yes",
        employment_type="full_time",
        department="R&D",
        posted_at="2025-10-22T16:46:18.419000+00:00",
        compensation=Pay(119_000, 178_000, "USD", "year"),
        description_html="<p>We <em>design</em></p><p></p>",
        description_text="We design",
    )


def test_the_list_of_jobs_is_the_whole_board() -> None:
    """Contract A2."""
    reading = ASHBY.parse(board(job(), job(id="b")), CONTEXT)
    assert (len(reading.listings), reading.complete) == (2, True)
    assert ASHBY.parse(board(), CONTEXT) == Reading((), True, "the board is empty")


def test_unlisted_rows_are_left_out_and_counted() -> None:
    reading = ASHBY.parse(board(job(), job(id="b", isListed=False), job(id="c", isListed=None)), CONTEXT)
    assert [listing.external_id for listing in reading.listings] == [ID, "c"]
    assert reading.complete
    assert reading.reason == "the whole board: 2 postings; 1 unlisted rows left out"


@pytest.mark.parametrize(
    "row", [None, "x", job(id=""), job(title=None), job(jobUrl="ftp://jobs.example.com/")]
)
def test_a_row_that_cannot_be_read_makes_the_board_partial(row: Any) -> None:
    """Contract A2: it was seen, so its posting is not absent."""
    reading = ASHBY.parse(board(job(id="a"), row), CONTEXT)
    assert [listing.external_id for listing in reading.listings] == ["a"]
    assert len(reading.rejected) == 1
    assert not reading.complete


def test_one_posting_says_nothing_about_the_board() -> None:
    reading = ASHBY.parse(json.dumps(job()).encode(), CONTEXT)
    assert (len(reading.listings), reading.complete) == (1, False)


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (b"Not Found", "unknown_board"),
        (b"Not Found\n", "unknown_board"),
        (b'{"data": {"organization": null}}', "unknown_board"),
        (b'{"data": {"organization": {"name": "Good Co"}}}', "wrong_shape"),
        (b'{"errors": [{"message": "internal"}]}', "error_body"),
        (b'{"jobs": "none"}', "wrong_shape"),
        (b"[]", "wrong_shape"),
        (b"null", "wrong_shape"),
        (b"<html></html>", "html_page"),
        (b'{"jobs": [{"id": "a"', "truncated"),
        (b'{"jobs": [{"id": NaN}]}', "bad_number"),
    ],
)
def test_a_response_that_is_no_board_is_refused_by_name(payload: bytes, outcome: str) -> None:
    with pytest.raises(UnreadableResponse) as refused:
        ASHBY.parse(payload, CONTEXT)
    assert refused.value.outcome == outcome


@pytest.mark.parametrize(
    ("workplace", "is_remote", "location", "remote"),
    [
        ("Remote", True, "Canada", "yes"),
        ("Hybrid", True, "Toronto, Ontario", "hybrid"),
        ("OnSite", True, "Toronto, Ontario", "no"),
        (None, True, "Remote", "yes"),
        (None, True, "San Francisco-Hybrid", "hybrid"),
        (None, False, "San Francisco", "no"),
        (None, None, "San Francisco", "unknown"),
        (None, "yes", "Remote: Canada", "yes"),
    ],
)
def test_the_workplace_type_decides_and_the_older_flag_stands_in(
    workplace: object, is_remote: object, location: str, remote: str
) -> None:
    """The flag is true for hybrid places too."""
    assert read(workplaceType=workplace, isRemote=is_remote, location=location).remote == remote


@pytest.mark.parametrize(
    ("location", "secondary", "places"),
    [
        (
            "San Francisco",
            [{"location": "Berlin"}, {"location": "London"}],
            ("San Francisco", "Berlin", "London"),
        ),
        ("London; Paris", [{"location": "paris"}, {}, None, {"location": 7}], ("London", "Paris")),
        ("Remote", [], ("Remote",)),
        ("Remote", [{"location": "Canada"}], ("Canada",)),
        (None, None, ()),
    ],
)
def test_every_place_is_kept_once_in_order(location: Any, secondary: Any, places: tuple[str, ...]) -> None:
    """LOC-04."""
    assert read(location=location, secondaryLocations=secondary).locations == places


TIERS = [
    {"components": [BONUS, part(currencyCode="GBP", minValue=83_000, maxValue=115_000), EQUITY]},
    {"components": [part(currencyCode="EUR", minValue=86_000, maxValue=120_000)]},
    {"components": [part(currencyCode="GBP", minValue=70_000, maxValue=99_000)]},
]


@pytest.mark.parametrize(
    ("compensation", "pay"),
    [
        (
            {"summaryComponents": [EQUITY, part()], "compensationTiers": TIERS},
            Pay(119_000, 178_000, "USD", "year"),
        ),
        ({"summaryComponents": [BONUS], "compensationTiers": TIERS}, Pay(70_000, 115_000, "GBP", "year")),
        ({"compensationTiers": TIERS}, Pay(70_000, 115_000, "GBP", "year")),
        (
            {"summaryComponents": [part(interval="1 HOUR", minValue=30, maxValue=45)]},
            Pay(30, 45, "USD", "hour"),
        ),
        (
            {"summaryComponents": [part(interval="1 TIME", minValue=500, maxValue=500)]},
            Pay(500, 500, "USD", "one_time"),
        ),
        ({"summaryComponents": [part(interval="NONE")]}, Pay(119_000, 178_000, "USD", None)),
        ({"summaryComponents": [part(interval="1 HOUR")]}, None),
        ({"summaryComponents": [EQUITY, BONUS], "compensationTiers": []}, None),
        ({"summaryComponents": [part(minValue=None, maxValue=None)]}, None),
        ({"summaryComponents": "x", "compensationTiers": [7, {"components": None}]}, None),
        (None, None),
    ],
)
def test_pay_is_the_salary_and_nothing_beside_it(compensation: object, pay: Pay | None) -> None:
    assert read(compensation=compensation).compensation == pay


def test_pay_that_the_employer_keeps_off_its_postings_stays_off() -> None:
    assert read(shouldDisplayCompensationOnJobPostings=False).compensation is None


def test_plain_text_stands_in_for_missing_html() -> None:
    assert read(descriptionHtml=" ").description_html == "<p>We design</p>"


def test_the_employer_is_never_in_the_payload() -> None:
    assert read().company is None
    named = Context(token="good", company="Good Co")
    assert ASHBY.parse(board(job()), named).listings[0].company == "Good Co"


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_a_response_it_is_read_or_refused(seed: int) -> None:
    """A35."""
    tiered = job(id="b", compensation={"compensationTiers": TIERS, "summaryComponents": [BONUS]})
    for payload in spoilt({"jobs": [job(), tiered], "apiVersion": "1"}, seed=seed, count=150):
        assert_reads_or_refuses(ASHBY, payload)


def test_recorded_responses_survive_every_mutation(shared: Path) -> None:
    document = json.loads((shared / "payloads/ashby/board_coder_multicurrency_tiers.json").read_bytes())
    for payload in spoilt(document, seed=7, count=60):
        assert_reads_or_refuses(ASHBY, payload)


def test_the_request_names_the_organisation_encoded() -> None:
    assert ASHBY.list_url(CONTEXT) == (
        "https://api.ashbyhq.com/posting-api/job-board/Good%20Co?includeCompensation=true"
    )
    assert ASHBY.board_url(CONTEXT) == "https://jobs.ashbyhq.com/Good%20Co"
