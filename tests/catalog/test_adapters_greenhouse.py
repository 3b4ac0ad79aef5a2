"""Greenhouse responses, read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, ParsedListing, Pay, Reading, UnreadableResponse
from tests.catalog.mutation import assert_reads_or_refuses, spoilt

GREENHOUSE = ADAPTERS["greenhouse"]
CONTEXT = Context(token="acme")


def job(**changes: Any) -> dict[str, Any]:
    return {
        "id": 4_000_000_001,
        "internal_job_id": 77,
        "absolute_url": "https://job-boards.greenhouse.io/acme/jobs/4000000001",
        "title": "Site Reliability Engineer ",
        "company_name": "Acme ",
        "location": {"name": "London, UK"},
        "first_published": "2026-07-16T11:55:32-04:00",
        "updated_at": "2026-07-29T08:50:01-04:00",
        "metadata": [{"name": "Employment Type", "value": "Full-time", "value_type": "single_select"}],
        "departments": [{"id": 1, "name": "Platform "}],
        "offices": [{"id": 2, "name": "London", "location": "London, England, United Kingdom"}],
        "content": "&lt;h2&gt;About &amp;amp; us&lt;/h2&gt;&lt;p&gt;We don&#39;t&amp;nbsp;stop&lt;/p&gt;",
        **changes,
    }


def board(*jobs: Any, total: object = ...) -> bytes:
    stated = len(jobs) if total is ... else total
    return json.dumps({"jobs": jobs, "meta": {"total": stated}}).encode()


def read(**changes: Any) -> ParsedListing:
    reading = GREENHOUSE.parse(board(job(**changes)), CONTEXT)
    assert reading.rejected == ()
    return reading.listings[0]


def test_a_row_becomes_a_listing() -> None:
    assert read() == ParsedListing(
        external_id="4000000001",
        url="https://job-boards.greenhouse.io/acme/jobs/4000000001",
        title="Site Reliability Engineer",
        company="Acme",
        locations=("London, UK",),
        employment_type="full_time",
        department="Platform",
        posted_at="2026-07-16T11:55:32-04:00",
        updated_at="2026-07-29T08:50:01-04:00",
        description_html="<h2>About &amp; us</h2><p>We don't&nbsp;stop</p>",
        description_text="About & us\nWe don't stop",
    )


def test_a_board_is_complete_when_the_total_says_so() -> None:
    """Contract A2."""
    reading = GREENHOUSE.parse(board(job(id=1), job(id=2)), CONTEXT)
    assert reading.complete
    assert [listing.external_id for listing in reading.listings] == ["1", "2"]


@pytest.mark.parametrize("total", [37, 0, None, "1", True, [1]])
def test_any_other_total_makes_the_reading_partial(total: object) -> None:
    """Contract A2."""
    reading = GREENHOUSE.parse(board(job(), total=total), CONTEXT)
    assert not reading.complete
    assert len(reading.listings) == 1


def test_a_board_without_a_total_is_partial() -> None:
    reading = GREENHOUSE.parse(json.dumps({"jobs": [job()]}).encode(), CONTEXT)
    assert not reading.complete
    assert "does not state" in reading.reason


def test_an_empty_board_is_complete_and_says_that_it_is_empty() -> None:
    assert GREENHOUSE.parse(board(), CONTEXT) == Reading((), True, "the board is empty")


def test_of_two_rows_with_one_id_the_last_counts_and_the_reading_is_partial() -> None:
    """A08; and the total promised one posting more (A2)."""
    reading = GREENHOUSE.parse(board(job(title="Old"), job(id=2), job(title="New")), CONTEXT)
    assert [listing.title for listing in reading.listings] == ["New", "Site Reliability Engineer"]
    assert not reading.complete
    assert "1 ids came twice" in reading.reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": None}, "no id"),
        ({"id": True}, "no id"),
        ({"id": [1]}, "no id"),
        ({"id": 1.5}, "no id"),
        ({"id": "x" * 300}, "id is empty, too long"),
        ({"title": None}, "no title"),
        ({"title": " \u200b "}, "no title"),
        ({"absolute_url": None}, "no link"),
        ({"absolute_url": "javascript:alert(1)"}, "no link"),
        ({"absolute_url": "http://127.0.0.1/"}, "no link"),
        ({"absolute_url": "https://acme.example/" + "x" * 5_000}, "no link"),
    ],
)
def test_one_bad_row_is_rejected_and_the_board_is_partial(changes: dict[str, Any], reason: str) -> None:
    """A10, A17. A row that was seen is not absent, so nothing may be concluded from absence (A2)."""
    reading = GREENHOUSE.parse(board(job(id=1), job(**changes)), CONTEXT)
    assert [listing.external_id for listing in reading.listings] == ["1"]
    assert reason in reading.rejected[0].reason
    assert not reading.complete


def test_a_link_without_scheme_is_resolved_and_its_spelling_kept() -> None:
    listing = read(absolute_url="//careers.acme.example/jobs?gh_jid=1")
    assert listing.url == "https://careers.acme.example/jobs?gh_jid=1"
    assert listing.raw_url == "//careers.acme.example/jobs?gh_jid=1"


def test_a_link_to_the_employers_own_page_keeps_its_spelling() -> None:
    url = "https://www.acme.example/careers/?gh_jid=4000000001&lang=en"
    assert read(absolute_url=url).url == url


def test_one_posting_says_nothing_about_the_board() -> None:
    reading = GREENHOUSE.parse(json.dumps(job()).encode(), CONTEXT)
    assert len(reading.listings) == 1
    assert not reading.complete


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (b"", "empty"),
        (b"null", "wrong_shape"),
        (b"[]", "wrong_shape"),
        (b"{}", "wrong_shape"),
        (b'{"jobs": null}', "wrong_shape"),
        (b'{"jobs": {}}', "wrong_shape"),
        (b'{"jobs": [1, "x"]}', "wrong_shape"),
        (b'{"name": "Acme", "content": "x"}', "wrong_shape"),
        (b'{"jobs": [{"id": 1, "title": "Eng', "truncated"),
        (b'{"jobs": [', "truncated"),
        (b"Just a moment", "not_json"),
        (b"<!doctype html><title>Just a moment</title>", "html_page"),
        (b'{"status": 404, "error": "Job not found"}', "unknown_board"),
        (b'{"errors": [{"message": "internal"}], "jobs": []}', "error_body"),
        (b'{"jobs": [], "meta": {"total": NaN}}', "bad_number"),
        (b'{"jobs": [], "meta": {"total": ' + b"9" * 5_000 + b"}}", "bad_number"),
        (b'{"jobs": [], "jobs": []}', "duplicate_key"),
        (b"[" * 200_000, "too_deep"),
        (b'{"a":' * 200_000, "too_deep"),
    ],
)
def test_a_response_that_is_no_board_is_refused_by_name(payload: bytes, outcome: str) -> None:
    """Contract A2: an error inside a 200 is never an empty board."""
    with pytest.raises(UnreadableResponse) as refused:
        GREENHOUSE.parse(payload, CONTEXT)
    assert refused.value.outcome == outcome


@pytest.mark.parametrize(
    ("payload", "title"),
    [
        (board(job(title="Café")).decode().encode("utf-8-sig"), "Café"),
        (json.dumps({"jobs": [job(title="Café")]}, ensure_ascii=False).encode("utf-16"), "Café"),
        (json.dumps({"jobs": [job(title="Café")]}, ensure_ascii=False).encode("utf-32"), "Café"),
        (json.dumps({"jobs": [job(title="Café")]}, ensure_ascii=False).encode("latin-1"), "Caf\ufffd"),
    ],
)
def test_bytes_are_decoded_in_one_order(payload: bytes, title: str) -> None:
    """A14: byte order mark, else UTF-8 with replacement; one damaged text does not lose the board."""
    assert GREENHOUSE.parse(payload, CONTEXT).listings[0].title == title


def test_a_field_of_the_tenants_own_can_state_the_work_model() -> None:
    assert read(metadata=[{"name": "Workplace Type", "value": ["Hybrid"]}]).remote == "hybrid"


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Full-time", "full_time"),
        ("FullTime", "full_time"),
        ("Part time", "part_time"),
        ("Intern", "internship"),
        ("Full-Time Internship", "internship"),
        ("Contractor", "contract"),
        ("Fixed Term", "temporary"),
        ("Volunteer", "volunteer"),
        ("Full or Part Time, full-time or part-time", "other"),
        ("Working Student", "internship"),
        ("Werkstudent (m/w/d)", "internship"),
        ("Alternance", "internship"),
        ("CDI", "full_time"),
        ("CDI, temps partiel", "part_time"),
        ("CDD", "temporary"),
        ("Befristet", "temporary"),
        ("Freiberuflich", "contract"),
        ("Contrat à durée indéterminée", "full_time"),
        ("Tiempo completo", "full_time"),
        ("Jornada completa", "full_time"),
        ("Tempo parziale", "part_time"),
        ("Heltid", "full_time"),
        ("Deltid", "part_time"),
        ("正社員", "full_time"),
        ("契約社員", "temporary"),
        ("アルバイト・パート", "part_time"),
        ("Regular", None),
        ("Permanent", None),
        ("Internal", None),
        (None, None),
    ],
)
def test_the_employment_type_is_what_the_label_states(label: str | None, kind: str | None) -> None:
    listing = read(
        metadata=[{"name": "Employment Type", "value": label}, {"name": "Level", "value": "Intern"}]
    )
    assert listing.employment_type == kind


@pytest.mark.parametrize(
    ("ranges", "pay"),
    [
        (
            [
                {
                    "min_cents": 12_000_000,
                    "max_cents": 16_000_000,
                    "currency_type": "USD",
                    "title": "Pay range",
                }
            ],
            Pay(120_000, 160_000, "USD", None),
        ),
        (
            [{"min_cents": 5_000, "max_cents": 7_050, "currency_type": "USD", "title": "Hourly pay"}],
            Pay(50, 70.5, "USD", "hour"),
        ),
        (
            [
                {
                    "min_cents": 16_000_000,
                    "max_cents": 12_000_000,
                    "currency_type": "eur",
                    "title": "Annual salary",
                }
            ],
            Pay(120_000, 160_000, "EUR", "year"),
        ),
        (
            [
                {"min_cents": 10_000_000, "max_cents": 12_000_000, "currency_type": "USD", "title": "Austin"},
                {
                    "min_cents": 11_000_000,
                    "max_cents": 14_000_000,
                    "currency_type": "USD",
                    "title": "New York",
                },
                {"min_cents": 9_000_000, "max_cents": 9_500_000, "currency_type": "CAD", "title": "Toronto"},
            ],
            Pay(100_000, 140_000, "USD", None),
        ),
        ([{"min_cents": 0, "max_cents": 0, "currency_type": "USD"}], None),
        ([{"min_cents": 100, "max_cents": 200, "currency_type": "USD", "title": "Annual"}], None),
        ([{"min_cents": -5, "max_cents": None}, {"min_cents": 1e308}, {"min_cents": [1]}, "x"], None),
        ("x", None),
        ([], None),
    ],
)
def test_pay_ranges_are_cents_and_name_no_period(ranges: Any, pay: Pay | None) -> None:
    assert read(pay_input_ranges=ranges).compensation == pay


def test_swapped_bounds_are_noticed() -> None:
    """SAL-10."""
    swapped = [{"min_cents": 16_000_000, "max_cents": 12_000_000, "currency_type": "USD"}]
    assert read(pay_input_ranges=swapped).flags == ("bounds_swapped",)


@pytest.mark.parametrize(
    ("published", "posted_at"),
    [
        ("2026-07-16T11:55:32-04:00", "2026-07-16T11:55:32-04:00"),
        ("2026-07-16T11:55:32Z", "2026-07-16T11:55:32+00:00"),
        ("2026-07-16", "2026-07-16"),
        ("2026-07-16T11:55:32", "2026-07-16"),
        ("2026-02-30T00:00:00Z", None),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("2099-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("Posted 30+ Days Ago", None),
        (1_784_217_332, None),
        (None, None),
    ],
)
def test_a_date_is_stated_or_unknown(published: object, posted_at: str | None) -> None:
    """Contract A9: never the time of an edit, never now, and a date without a zone is a day."""
    context = Context(token="acme", fetched_at=datetime(2026, 11, 29, tzinfo=UTC))
    reading = GREENHOUSE.parse(board(job(first_published=published)), context)
    assert reading.listings[0].posted_at == posted_at


def test_a_row_without_a_publication_date_takes_none_from_its_edit() -> None:
    row = job()
    del row["first_published"]
    assert GREENHOUSE.parse(board(row), CONTEXT).listings[0].posted_at is None


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("R&amp;D Engineer", "R&D Engineer"),
        ("Ben &amp;lt;Partners&amp;gt; &Eacute;ditions &#x27;X&#x27;", "Ben &lt;Partners&gt; Éditions 'X'"),
        ("Lead &lt;b&gt;", "Lead <b>"),
        ("Risk &reg; &regulation", "Risk ® &regulation"),
        ("  Software \n Engineer\u00a0 - Logistic ", "Software Engineer - Logistic"),
        ("\u202eEngineer\u202c\ud800\x00", "Engineer"),
    ],
)
def test_titles_are_one_line_with_entities_decoded_once(raw: str, title: str) -> None:
    """ENC-02, ENC-06, A13."""
    assert read(title=raw).title == title


def test_an_enormous_title_is_cut_and_flagged() -> None:
    listing = read(title="x" * 1_000_000)
    assert listing.title == "x" * 512
    assert listing.flags == ("title_cut",)


def test_an_enormous_description_is_left_out_and_flagged() -> None:
    """Contract A5: whole text or none."""
    listing = read(content="word " * 4_000_000)
    assert (listing.description_html, listing.description_text) == ("", "")
    assert listing.flags == ("description_too_long",)


@pytest.mark.parametrize("content", ["<p>C++ &lt;T&gt;</p>", "&lt;p&gt;C++ &amp;lt;T&amp;gt;&lt;/p&gt;"])
def test_content_is_decoded_once_and_only_where_it_is_escaped(content: str) -> None:
    """ENC-01, ENC-02."""
    assert read(content=content).description_text == "C++ <T>"


def test_a_prospect_post_is_flagged() -> None:
    assert read(internal_job_id=None).flags == ("prospect_post",)


def test_the_employer_is_who_the_row_names_else_who_the_source_is_for() -> None:
    context = Context(token="acme", company="Acme GmbH")
    assert GREENHOUSE.parse(board(job()), context).listings[0].company == "Acme"
    assert GREENHOUSE.parse(board(job(company_name=None)), context).listings[0].company == "Acme GmbH"
    assert read(company_name="").company is None


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_a_response_it_is_read_or_refused(seed: int) -> None:
    """A35."""
    pay = [{"min_cents": 1_200_000, "max_cents": 1_600_000, "currency_type": "USD", "title": "Pay"}]
    document = {"jobs": [job(id=1, pay_input_ranges=pay), job(id=2)], "meta": {"total": 2}}
    for payload in spoilt(document, seed=seed, count=150):
        assert_reads_or_refuses(GREENHOUSE, payload)


def test_recorded_responses_survive_every_mutation(shared: Path) -> None:
    document = json.loads((shared / "payloads/greenhouse/jobs_smarterdx_content.json").read_bytes())
    for payload in spoilt(document, seed=7, count=60):
        assert_reads_or_refuses(GREENHOUSE, payload)


def test_the_request_asks_for_texts_and_pay() -> None:
    assert GREENHOUSE.list_url(CONTEXT) == (
        "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true&pay_transparency=true"
    )
    assert GREENHOUSE.board_url(CONTEXT) == "https://job-boards.greenhouse.io/acme"
    assert (
        GREENHOUSE.board_url(Context(token="acme", region="eu")) == "https://job-boards.eu.greenhouse.io/acme"
    )
