"""Keys of employers and roles, and copies of one role: linked, never merged (A4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from catalog.adapters.base import Context
from catalog.adapters.fields import epoch_date, relative_date
from catalog.keys import company_key, role_key
from catalog.models import Posting
from catalog.services.groups import copies_of, decide_copies
from tests.catalog.test_recording import listing, record
from tests.factories import SourceFactory

TEXT = " ".join(f"We build pump number {number} for water works." for number in range(30))


@pytest.mark.parametrize(
    "names",
    [
        ("Acme", "ACME", "Acme, Inc.", "acme inc", "Acme Inc.", "Acme  Corporation"),
        ("İş Bankası", "İŞ BANKASI", "iş bankası"),
        ("Müller GmbH & Co. KG", "Müller", "MÜLLER GmbH"),
        ("Société Générale S.A.", "Societe Generale"),
        ("Good Pumps B.V.", "Good Pumps"),
        ("株式会社サンプル", "サンプル株式会社", "サンプル"),
        ("深圳市腾讯计算机系统有限公司", "深圳市腾讯计算机系统"),
        ("주식회사 카카오", "카카오(주)", "카카오"),
        ("ООО «Яндекс»", "Яндекс", "ЯНДЕКС"),
    ],
)
def test_names_of_one_employer_have_one_key(names: tuple[str, ...]) -> None:
    assert len({company_key(name) for name in names}) == 1


def test_names_in_any_script_have_keys_of_their_own() -> None:
    names = ["腾讯", "阿里巴巴", "Яндекс", "Acme", "Inc", "Acme Inc", "Incyte", "Globex Inc."]
    keys = [company_key(name) for name in names]
    assert all(keys)
    assert len(set(keys)) == len(names) - 1  # Acme and Acme Inc
    assert company_key("") == company_key("--- ") == ""


@pytest.mark.parametrize(
    "titles",
    [
        ("Livestream Hosts (temporary, part-time)", "Livestream Host - Temporary Part Time"),
        ("Data Engineer (m/w/d)", "Data Engineer", "data engineer [remote]"),
        ("Front-End Engineer", "front end engineer"),
    ],
)
def test_titles_of_one_role_have_one_key(titles: tuple[str, ...]) -> None:
    assert len({role_key(title) for title in titles}) == 1


def test_what_makes_another_role_makes_another_key() -> None:
    titles = ["Engineer", "Senior Engineer", "Engineer II", "Process Engineer", "Boss"]
    assert len({role_key(title) for title in titles}) == len(titles)


@pytest.mark.django_db
def test_copies_of_a_role_are_found_by_text_and_by_place_and_stay_themselves() -> None:
    """A4."""
    ours, agency, elsewhere = (SourceFactory.create() for _ in range(3))
    one = listing("1", description_text=f"--- {TEXT}", description_html=f"<p>{TEXT}</p>")
    record(ours, one)
    record(
        agency,
        replace(one, url="https://agency.example.com/1", company="Agency", description_text=TEXT.upper()),
    )
    record(
        elsewhere,
        replace(
            one,
            url="https://elsewhere.example.com/1",
            title="Data Engineers (m/f/d)",
            description_text="Other.",
        ),
        listing("9", title="Nurse"),
    )

    posting = Posting.objects.get(canonical_url__contains="greenhouse.io/acme/jobs/1")
    found = {copy.posting.canonical_url: copy.why for copy in copies_of(posting)}

    assert found == {
        "https://agency.example.com/1": "the same text",
        "https://elsewhere.example.com/1": "the same role of the same employer in the same place",
    }
    assert Posting.objects.count() == 4


@pytest.mark.django_db
def test_a_persons_word_goes_before_the_rules_and_stays() -> None:
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"), listing("3", title="Nurse"))
    one, two, nurse = Posting.objects.order_by("canonical_url")
    assert [copy.posting for copy in copies_of(one)] == [two]

    decide_copies([one, two], is_same=False, by="ann")
    decide_copies([nurse, one], is_same=True, by="ann", reason="one desk")

    assert [(copy.posting, copy.why) for copy in copies_of(one)] == [(nurse, "ann says so: one desk")]
    assert copies_of(two) == []
    record(source, listing("1", title="Data Engineer II"), listing("2"), listing("3", title="Nurse"))
    one.refresh_from_db()
    assert [copy.posting for copy in copies_of(one)] == [nurse]


NOW = Context(fetched_at=datetime(2026, 3, 10, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("told", "date"),
    [
        ("3 hours ago", "2026-03-10T09:00:00+00:00"),
        ("Posted Today", "2026-03-10"),
        ("Posted Yesterday", "2026-03-09"),
        ("Posted 13 Days Ago", "2026-02-25"),
        ("just posted", "2026-03-10"),
        ("2 weeks ago", "2026-02-24"),
        ("Posted 30+ Days Ago", None),
        ("8 months", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_told_from_now_is_counted_back_and_an_inexact_one_is_none(
    told: object, date: str | None
) -> None:
    """A9."""
    assert relative_date(told, NOW) == date
    assert relative_date(told, Context()) is None


def test_milliseconds_are_no_seconds() -> None:
    assert epoch_date(1_721_260_800_000, Context()) == "2024-07-18T00:00:00+00:00"
