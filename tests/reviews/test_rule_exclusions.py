"""Words and companies that are not wanted: FLT-03, TTL-05, CMP-01, CMP-02."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules.exclusions import check_companies, check_words
from tests.reviews.postings import snapshot


@pytest.mark.parametrize(
    ("excluded", "company", "outcome"),
    [
        ("Ausy", "AUSY", "reject"),
        ("Ausy", "Ausy Group", "unknown"),
        ("Ausy", "Causy Ltd", "pass"),
        ("Ausy", "AUSY S.A.S.", "reject"),
        ("Acme Inc.", "Acme, Inc", "reject"),
        ("Acme", "Acme GmbH & Co. KG", "reject"),
        *(
            ("Acme", company, "reject")
            for company in (
                "Acme Ltda.",
                "Acme A/S",
                "Acme ApS",
                "Acme d.o.o.",
                "Acme K.K.",
                "Acme Sp. z o.o.",
                "Acme Spółka z o.o.",
                "Acme Private Limited",
                "Acme Pvt. Ltd.",
                "Acme S. r. l.",
                "Acme, S.A. de C.V.",
                "Acme Co., Ltd.",
                "株式会社Acme",
                "Acme株式会社",
                "Acme (株)",
                "(주)Acme",
                "㈜ Acme",
                "\u041e\u041e\u041e «Acme»",
                "Acme \u041e\u041e\u041e",
                "PT Acme Tbk",
            )
        ),
        ("トヨタ自動車", "トヨタ自動車株式会社", "reject"),
        ("腾讯", "腾讯有限公司", "reject"),
        ("삼성전자", "삼성전자 주식회사", "reject"),
        ("Acme", "Acme Private Wealth", "unknown"),
        ("Acme", "Acmeas", "pass"),
        ("株式会社", "Acme 株式会社", "pass"),
        ("The Acme Company", "Acme", "reject"),
        ("İş Bankası", "iş bankası", "reject"),
        ("Nestlé", "Nestle", "reject"),
        ("腾讯", "腾讯", "reject"),
        ("腾讯", "阿里巴巴", "pass"),
        ("!!!", "???", "unknown"),
        ("Acme", "", "unknown"),
    ],
)
def test_a_company_is_blocked_by_its_name_and_asked_about_by_a_longer_one(
    excluded: str, company: str, outcome: StepOutcome
) -> None:
    criteria = Criteria.parse({"exclude_companies": [excluded]})

    assert check_companies(criteria, snapshot(company=company)).outcome == outcome


@pytest.mark.parametrize(
    ("word", "title", "outcome"),
    [
        ("sales", "Sales Development Representative", "reject"),
        ("sales", "Sales Engineer", "reject"),
        ("sales", "Manager, Sales", "reject"),
        ("sales", "Head of Sales", "reject"),
        ("sales", "Software Engineer, Sales Platform", "unknown"),
        ("pricing", "Staff Engineer, Pricing Platform", "unknown"),
        ("sales", "Salesforce Developer", "pass"),
        ("senior", "Software Engineer, Senior", "reject"),
        ("intern", "International Account Manager", "pass"),
        ("front end", "Frontend Engineer", "reject"),
        ("r&d", "R&amp;D Engineer", "reject"),
        ("angular", "Frontend Developer (Angular)", "reject"),
        ("go", "Go-to-Market Engineer", "pass"),
    ],
)
def test_a_word_is_blocked_where_it_names_the_role_and_left_open_where_it_names_a_team(
    word: str, title: str, outcome: StepOutcome
) -> None:
    criteria = Criteria.parse({"exclude_words": [word]})

    assert check_words(criteria, snapshot(title=title)).outcome == outcome
