"""Lever responses, read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, ParsedListing, Pay, Reading, UnreadableResponse
from tests.catalog.mutation import assert_reads_or_refuses, spoilt

LEVER = ADAPTERS["lever"]
CONTEXT = Context(token="GoodCo")
ID = "95ee9a06-a46d-43a2-a8e7-003de776404d"


def posting(**changes: Any) -> dict[str, Any]:
    return {
        "id": ID,
        "text": "Data Engineer",
        "hostedUrl": f"https://jobs.lever.co/GoodCo/{ID}",
        "applyUrl": f"https://jobs.lever.co/GoodCo/{ID}/apply",
        "categories": {
            "commitment": "Full-time",
            "department": "Data",
            "team": "Platform",
            "location": "Jakarta",
            "allLocations": ["Jakarta", "Singapore"],
        },
        "workplaceType": "onsite",
        "createdAt": 1_719_223_321_521,
        "description": "<div><b>About</b></div><div>We move data.</div>",
        "lists": [
            {"text": "You will", "content": "<li>Build</li><li>Run"},
            {"text": "", "content": "<li>Learn</li>"},
        ],
        "additional": "<p>Perks</p>",
        "salaryRange": {"interval": "per-year-salary", "currency": "USD", "min": 150_000, "max": 180_000},
        "salaryDescription": "<p>Pay depends on place.</p>",
        **changes,
    }


def read(**changes: Any) -> ParsedListing:
    return LEVER.parse(json.dumps([posting(**changes)]).encode(), CONTEXT).listings[0]


def test_a_row_becomes_a_listing() -> None:
    listing = read()
    assert listing == ParsedListing(
        external_id=ID,
        url=f"https://jobs.lever.co/GoodCo/{ID}",
        apply_url=f"https://jobs.lever.co/GoodCo/{ID}/apply",
        title="Data Engineer",
        locations=("Jakarta", "Singapore"),
        remote="no",
        employment_type="full_time",
        department="Data",
        posted_at="2024-06-24T10:02:01.521000+00:00",
        compensation=Pay(150_000, 180_000, "USD", "year"),
        description_html=listing.description_html,
        description_text=("About\nWe move data.\nYou will\nBuild\nRun\nLearn\nPerks\nPay depends on place."),
    )
    assert "<h3>You will</h3><ul><li>Build</li><li>Run</li></ul>" in listing.description_html


def test_a_bare_array_is_the_whole_board() -> None:
    """Contract A2."""
    reading = LEVER.parse(json.dumps([posting(), posting(id="b")]).encode(), CONTEXT)
    assert (len(reading.listings), reading.complete) == (2, True)
    assert LEVER.parse(b"[]", CONTEXT) == Reading((), True, "the board is empty")


def test_of_two_rows_with_one_id_the_last_counts() -> None:
    """A08: one posting, and the reason says that it came twice."""
    reading = LEVER.parse(json.dumps([posting(text="Old"), posting(text="New")]).encode(), CONTEXT)
    assert [listing.title for listing in reading.listings] == ["New"]
    assert "1 ids came twice" in reading.reason


@pytest.mark.parametrize(
    "row", [None, 7, "x", [], posting(id=None), posting(text=""), posting(hostedUrl="data:x")]
)
def test_a_row_that_cannot_be_read_makes_the_board_partial(row: Any) -> None:
    """Contract A2: it was seen, so its posting is not absent."""
    reading = LEVER.parse(json.dumps([posting(id="a"), row]).encode(), CONTEXT)
    assert [listing.external_id for listing in reading.listings] == ["a"]
    assert len(reading.rejected) == 1
    assert not reading.complete


def test_one_posting_says_nothing_about_the_board() -> None:
    reading = LEVER.parse(json.dumps(posting()).encode(), CONTEXT)
    assert (len(reading.listings), reading.complete) == (1, False)


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (b'{"ok": false, "error": "Document not found"}', "unknown_board"),
        (b'{"ok": false}', "error_body"),
        (b'{"error": {"code": 500}}', "error_body"),
        (b'{"jobs": []}', "wrong_shape"),
        (b"[1, 2]", "wrong_shape"),
        (b"7", "wrong_shape"),
        (b'[{"id": "a", "text": "Dat', "truncated"),
        (b"<html><body>widget</body></html>", "html_page"),
        (b'[{"createdAt": Infinity}]', "bad_number"),
        (b'[{"id": "a", "id": "b"}]', "duplicate_key"),
    ],
)
def test_a_response_that_is_no_board_is_refused_by_name(payload: bytes, outcome: str) -> None:
    with pytest.raises(UnreadableResponse) as refused:
        LEVER.parse(payload, CONTEXT)
    assert refused.value.outcome == outcome


def test_a_board_cut_at_any_byte_is_refused() -> None:
    payload = json.dumps([posting()]).encode()
    for end in range(len(payload)):
        with pytest.raises(UnreadableResponse):
            LEVER.parse(payload[:end], CONTEXT)


@pytest.mark.parametrize(
    ("workplace", "location", "remote"),
    [
        ("onsite", "Jakarta", "no"),
        ("on-site", "Jakarta", "no"),
        ("hybrid", "Jakarta", "hybrid"),
        ("remote", "Jakarta", "yes"),
        ("unspecified", "Jakarta", "unknown"),
        ("unspecified", "Bangalore, India - Remote", "yes"),
        (None, "Berlin (Hybrid)", "hybrid"),
        (["remote"], "Jakarta", "unknown"),
    ],
)
def test_the_workplace_type_decides_and_the_words_of_the_location_stand_in(
    workplace: object, location: str, remote: str
) -> None:
    assert read(workplaceType=workplace, categories={"location": location}).remote == remote


@pytest.mark.parametrize(
    ("salary", "pay"),
    [
        (
            {"interval": "per-hour-wage", "currency": "USD", "min": 20, "max": 35.5},
            Pay(20, 35.5, "USD", "hour"),
        ),
        ({"interval": "per-month-salary", "currency": "EUR", "min": 4_000}, Pay(4_000, None, "EUR", "month")),
        ({"interval": "bi-week-salary", "currency": "USD", "min": 4_000}, Pay(4_000, None, "USD", None)),
        ({"interval": "per-year-salary", "currency": "USD", "min": 180, "max": 150_000}, None),
        ({"interval": "per-hour-wage", "currency": "USD", "min": 90_000, "max": 120_000}, None),
        ({"interval": "per-hour-wage", "currency": "KRW", "min": 15_000}, Pay(15_000, None, "KRW", "hour")),
        ({"interval": "per-year-salary", "currency": "US$", "min": 90_000}, Pay(90_000, None, None, "year")),
        ({"interval": "per-year-salary", "currency": "USD", "min": 0, "max": 0}, None),
        ({"interval": "per-year-salary", "currency": "USD", "min": True, "max": "x"}, None),
        ({}, None),
        ("100k", None),
        (None, None),
    ],
)
def test_pay_is_what_is_stated_and_can_be_meant(salary: object, pay: Pay | None) -> None:
    """ATS practice: amounts that belong to another period are not shown."""
    assert read(salaryRange=salary).compensation == pay


@pytest.mark.parametrize(
    ("created", "posted_at"),
    [
        (1_719_223_321_521, "2024-06-24T10:02:01.521000+00:00"),
        (1_719_223_321, "2024-06-24T10:02:01+00:00"),
        (0, None),
        (-1, None),
        (253_402_300_800_000, None),
        (10**30, None),
        (True, None),
        ("2024-06-24", None),
        (1.7e12, None),
        (None, None),
    ],
)
def test_the_creation_time_is_epoch_milliseconds(created: object, posted_at: str | None) -> None:
    """DAT-05; contract A9: an impossible time is unknown."""
    assert read(createdAt=created).posted_at == posted_at


def test_a_posting_may_have_its_text_in_lists_only() -> None:
    listing = read(description="<div><br></div>", additional="", salaryDescription="\n")
    assert listing.description_text == "You will\nBuild\nRun\nLearn"


def test_a_part_left_open_does_not_swallow_the_next() -> None:
    listing = read(
        description="<p>About<!-- never closed", lists=[{"text": "You <will>", "content": "<li>Build"}]
    )
    assert listing.description_text.startswith("About\nYou <will>\nBuild\n")


def test_plain_text_stands_in_for_missing_html() -> None:
    listing = read(
        description=None, descriptionPlain="a < b\n\nc", lists=None, additional=7, salaryDescription=None
    )
    assert listing.description_html == "<p>a &lt; b</p><p>c</p>"


def test_the_employer_is_never_in_the_payload() -> None:
    payload = json.dumps([posting()]).encode()
    assert LEVER.parse(payload, CONTEXT).listings[0].company is None
    assert LEVER.parse(payload, Context(token="GoodCo", company="Good Co")).listings[0].company == "Good Co"


def test_a_dash_is_no_team() -> None:
    assert read(categories={"department": "-", "team": "Platform"}).department == "Platform"
    assert read(categories={"team": "-"}).department is None


def test_an_apply_link_that_is_no_web_address_is_left_out() -> None:
    assert read(applyUrl="javascript:apply()").apply_url is None


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_a_response_it_is_read_or_refused(seed: int) -> None:
    """A35."""
    for payload in spoilt([posting(), posting(id="b")], seed=seed, count=150):
        assert_reads_or_refuses(LEVER, payload)


def test_recorded_responses_survive_every_mutation(shared: Path) -> None:
    document = json.loads((shared / "payloads/lever/postings_matchgroup_salary_korean.json").read_bytes())
    for payload in spoilt(document, seed=7, count=60):
        assert_reads_or_refuses(LEVER, payload)


def test_the_request_asks_the_region_of_the_board_for_json() -> None:
    assert LEVER.list_url(CONTEXT) == "https://api.lever.co/v0/postings/GoodCo?mode=json"
    eu = Context(token="GoodCo", region="eu")
    assert LEVER.list_url(eu) == "https://api.eu.lever.co/v0/postings/GoodCo?mode=json"
    assert LEVER.board_url(eu) == "https://jobs.eu.lever.co/GoodCo"
    assert LEVER.headers() == {"Accept": "application/json"}
