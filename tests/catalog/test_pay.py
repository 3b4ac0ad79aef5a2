"""Pay in the words of a posting: what is stated, and what only looks like it (A9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.pay import StatedPay, pay_in_text

Read = tuple[float | None, float | None, str | None, str | None]


def read(text: str) -> Read | None:
    stated = pay_in_text(text)
    return None if stated is None else (stated.min, stated.max, stated.currency, stated.period)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$120-150k", (120_000, 150_000, "USD", "year")),
        ("$120,000 - $150,000", (120_000, 150_000, "USD", "year")),
        ("$120,000 \\- $150,000", (120_000, 150_000, "USD", "year")),
        ("The pay range for this role is $95,000 - $110,000.", (95_000, 110_000, "USD", "year")),
        ("Pay range: $188,900.00 - $359,800.00 per year", (188_900, 359_800, "USD", "year")),
        ("€60.000–75.000", (60_000, 75_000, "EUR", "year")),
        ("€60–75.000", (60_000, 75_000, "EUR", "year")),
        ("Salaire : 45 k€ - 55 k€ brut annuel", (45_000, 55_000, "EUR", "year")),
        ("rémunération : 40 000 € à 50 000 € par an", (40_000, 50_000, "EUR", "year")),
        ("Jahresgehalt 65.000 bis 80.000 Euro", (65_000, 80_000, "EUR", "year")),
        ("CHF 110'000", (110_000, 110_000, "CHF", "year")),
        ("Salary: CHF 95’000 – 120’000", (95_000, 120_000, "CHF", "year")),
        ("£45k", (45_000, 45_000, "GBP", "year")),
        ("USD 120,000/yr", (120_000, 120_000, "USD", "year")),
        ("CA$ 90,000 - CA$ 110,000", (90_000, 110_000, "CAD", "year")),
        ("A$120k - A$140k", (120_000, 140_000, "AUD", "year")),
        ("S$6,000 - S$8,500 per month", (6_000, 8_500, "SGD", "month")),
        ("Salary: PKR 150,000 per month", (150_000, 150_000, "PKR", "month")),
        ("16.8k–21k PLN netto/m (B2B)", (16_800, 21_000, "PLN", "month")),
        ("$55/hr", (55, 55, "USD", "hour")),
        ("$40/hr - $55/hr", (40, 55, "USD", "hour")),
        ("Hourly rate: $30 - $40", (30, 40, "USD", "hour")),
        ("Pay: $15–$18 an hour", (15, 18, "USD", "hour")),
        ("Day rate: £500-£600", (500, 600, "GBP", "day")),
        ("£350 - £400 p/d", (350, 400, "GBP", "day")),
        ("£11.44ph", (11.44, 11.44, "GBP", "hour")),
        ("GBP45,000 - GBP55,000 pa", (45_000, 55_000, "GBP", "year")),
        ("CDN $85,000 annually", (85_000, 85_000, "CAD", "year")),
        ("£27,979 to £31,396 (per annum), £5,595 to £6,279 (pro-rata)", (27_979, 31_396, "GBP", "year")),
        ("earn between $40,000 and 70,000 a year", (40_000, 70_000, "USD", "year")),
        ("年収 600万円〜900万円", (6_000_000, 9_000_000, "JPY", "year")),
        ("12-18 LPA", (1_200_000, 1_800_000, "INR", "year")),
        ("₹12,50,000 - ₹18,00,000 per annum", (1_250_000, 1_800_000, "INR", "year")),
        ("R$ 8.000 a R$ 12.000 por mês", (8_000, 12_000, "BRL", "month")),
        ("The base is between 50K Euros - 60K Euros per annum", (50_000, 60_000, "EUR", "year")),
        ("Band 6 £37,338 to £44,962 a year", (37_338, 44_962, "GBP", "year")),
        ("Scale 11 € 4.332 - € 5.929 bruto per maand", (4_332, 5_929, "EUR", "month")),
        ("年収600万円〜800万円", (6_000_000, 8_000_000, "JPY", "year")),
        ("月給30万円から40万円", (300_000, 400_000, "JPY", "month")),
        ("연봉 5,000만원 ~ 7,000만원", (50_000_000, 70_000_000, "KRW", "year")),
        ("年薪30万-50万元", (300_000, 500_000, "CNY", "year")),
        ("45/55k€", (45_000, 55_000, "EUR", "year")),
        ("45k/55k €", (45_000, 55_000, "EUR", "year")),
        ("3 000 - 4 000 € brut mensuel", (3_000, 4_000, "EUR", "month")),
        ("€ 3.000 - € 4.000 bruto per maand", (3_000, 4_000, "EUR", "month")),
        ("1.800 € - 2.100 € brutos al mes", (1_800, 2_100, "EUR", "month")),
        ("2.200 € - 2.600 € lordi al mese", (2_200, 2_600, "EUR", "month")),
        ("35 000 - 40 000 SEK i månaden", (35_000, 40_000, "SEK", "month")),
        ("50 000 - 70 000 Kč měsíčně", (50_000, 70_000, "CZK", "month")),
        ("3 500 - 4 200 EUR/kk", (3_500, 4_200, "EUR", "month")),
        ("\u20bd 200 000 - 300 000 в \u043c\u0435\u0441\u044f\u0446", (200_000, 300_000, "RUB", "month")),
        ("S/ 3,000 - S/ 4,000 mensuales", (3_000, 4_000, "PEN", "month")),
        ("RM 5,000 - RM 7,000 per month", (5_000, 7_000, "MYR", "month")),
        ("Rp 10.000.000 - Rp 15.000.000 per bulan", (10_000_000, 15_000_000, "IDR", "month")),
        ("KSh 80,000 - 100,000 per month", (80_000, 100_000, "KES", "month")),
    ],
)
def test_a_range_is_read_in_the_notation_of_its_country(text: str, expected: Read) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "401(k) match up to $5,000",
        "We match 10% of your 401k, up to a maximum of $10,000 per year.",
        "$2,000 learning stipend",
        "All employees receive a $100 monthly stipend for epic dates.",
        "£400 annual learning & development budget",
        "Gym ($100/month), Food ($15/day), Travel ($200/month)",
        "$4,000 sign-on bonus",
        "Relocation package of up to $10,000",
        "$100,000 in equity",
        "Backed by a $50M Series B round",
        "We raised $108 million through Series A + B funding.",
        "An estimated $40B-$80B paid out to fraud annually.",
        "You will manage a $2M - $5M budget.",
        "Own a portfolio of accounts worth $50,000 to $200,000.",
        "Over 10,000 customers pay $50 per month.",
        "A growing user base of 100k people.",
        "You manage accounts worth $50k - $100k per year",
        "ESOP worth €20,000 - €40,000 per year",
        "Customers hold contracts worth $20,000 to $40,000 per year.",
        "3-5 years of experience",
        "Benefits\n$100/month",
    ],
)
def test_money_that_is_not_pay_is_never_taken(text: str) -> None:
    assert read(text) is None


def test_pay_is_found_among_benefits_with_its_own_sentence() -> None:
    text = (
        "Perks: 401(k) match up to $5,000, $2,000 learning stipend, backed by a $50M round. "
        "Base pay: $140,000-$165,000 plus equity."
    )
    sentence = "Base pay: $140,000-$165,000 plus equity."
    assert pay_in_text(text) == StatedPay(140_000, 165_000, "USD", "year", sentence)


@pytest.mark.parametrize(
    "text",
    [
        "Salary range: £60,000 - £75,000 + bonus + equity",
        "A salary of £60,000 to £75,000 and a relocation package of up to £5,000.",
        "Salary/Base + Commission + Bonus: £60,000 - £75,000",
        "Salary & Benefits\n£60,000 - £75,000",
        "Base £60,000 - £75,000, with OTE of £120,000 - £150,000",
        "Our people average £90,000. The salary is £60,000 - £75,000.",
    ],
)
def test_words_that_join_a_benefit_to_pay_do_not_make_it_one(text: str) -> None:
    assert read(text) == (60_000, 75_000, "GBP", "year")


def test_on_target_earnings_count_only_alone() -> None:
    assert read("€75–90k OTE, uncapped") == (75_000, 90_000, "EUR", "year")
    assert read("Base salary $80,000, OTE $160,000") == (80_000, 80_000, "USD", "year")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Zone A: $221,400 - $289,050\nZone B: $199,200 - $260,145", (199_200, 289_050, "USD", "year")),
        ("Senior: $180k-220k; Mid: $140k-170k", (140_000, 220_000, "USD", "year")),
        ("London: £70k-90k. Dublin: €75k-95k.", None),
        ("£60,000 - £70,000 per year or £30 - £40 per hour", None),
    ],
)
def test_several_ranges_make_one_only_in_one_currency_and_period(text: str, expected: Read | None) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Salary up to $150,000", (None, 150_000)),
        ("bis zu 70.000 € pro Jahr", (None, 70_000)),
        ("from €50.000 per year", (50_000, None)),
        ("Salary from 50.000 € im Jahr", (50_000, None)),
        ("$170k+, bonuses, equity", (170_000, None)),
        ("Starting at $23.50/hr", (23.5, None)),
        ("Salary: $150,000 - $120,000", (120_000, 150_000)),
        ("The annual salary range is $0 - $150,000", (None, 150_000)),
        ("Minimum salary of $70,000", (70_000, None)),
        ("Minimum annual base pay: $70,000", (70_000, None)),
        ("Salary: $70,000 minimum", (70_000, None)),
        ("Salary: $70,000 and up", (70_000, None)),
        ("月給25万円以上", (250_000, None)),
        ("Maximum salary is $90,000", (None, 90_000)),
    ],
)
def test_one_bound_leaves_the_other_open_and_swapped_bounds_are_ordered(
    text: str, expected: tuple[float | None, float | None]
) -> None:
    stated = pay_in_text(text)
    assert stated is not None
    assert (stated.min, stated.max) == expected


@pytest.mark.parametrize(
    "text", ["$120 - $150 per year", "Salary: $5,000 per hour", "$1 - $120,000 per year"]
)
def test_pay_that_cannot_be_meant_is_not_shown(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$110,000 - $140,000", "USD"),
        ("$110,000 - $140,000 CAD", "CAD"),
        ("Salary: $110,000 (AUD)", "AUD"),
        ("The range in Canada is $110,000 - $140,000.", None),
        ("$110,000 - $140,000. Amounts for Toronto are paid in CAD.", None),
        ("US or Canada: $110,000 - $140,000", "USD"),
        ("¥6,000,000 - ¥9,000,000 per year (Tokyo)", "JPY"),
        ("¥200,000 - ¥300,000 per year (Shanghai)", "CNY"),
        ("¥200,000 - ¥300,000 per year", None),
        ("kr 650 000 - 750 000 per year", None),
        ("Rs. 50,000 - 60,000 per month", None),
    ],
)
def test_a_shared_sign_names_a_currency_only_where_nothing_contradicts(
    text: str, currency: str | None
) -> None:
    stated = pay_in_text(text)
    assert stated is not None
    assert stated.currency == currency


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("Salary: $85,000", "year"),
        ("Salary: $4,000 - $5,000", None),
        ("Salary: HKD 25,000 - 30,000", None),
        ("Salary: SEK 420,000", "year"),
        ("Monthly salary: €3.500 - €4.200", "month"),
    ],
)
def test_a_period_is_inferred_only_where_the_size_leaves_no_choice(text: str, period: str | None) -> None:
    stated = pay_in_text(text)
    assert stated is not None
    assert stated.period == period


def test_the_heading_above_an_amount_says_what_it_is() -> None:
    assert read("Compensation\n$34.62/hour\nBenefits\nMedical, dental") == (34.62, 34.62, "USD", "hour")
    assert read("Team lunch\n$34.62") is None


def test_a_long_paragraph_is_quoted_around_the_amount() -> None:
    text = "word " * 300 + "the salary for this is $95,000 - $110,000 and more " + "word " * 300
    stated = pay_in_text(text)
    assert stated is not None
    assert stated.sentence in text
    assert "$95,000 - $110,000" in stated.sentence
    assert len(stated.sentence) <= 400


@given(st.text(alphabet=st.sampled_from("$€1205,.k-– \n+MandsalryeUSD%/h()'\\"), max_size=120))
def test_whatever_is_stated_is_quoted_from_the_text(text: str) -> None:
    stated = pay_in_text(text)
    if stated is not None:
        assert stated.sentence in text
        assert stated.min is not None or stated.max is not None
        if stated.min is not None and stated.max is not None:
            assert stated.min <= stated.max


def test_recorded_cases_of_the_salary_kind_come_out_as_expected(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "cases" / "cases.jsonl").read_text().splitlines()]
    cases = [row for row in rows if row["area"] == "salary" and "text" in row["input"]]
    assert len(cases) >= 5
    for case in cases:
        stated = pay_in_text(case["input"]["text"])
        assert stated is not None, case["id"]
        expected = {key: value for key, value in case["expected"].items() if key != "raises"}
        assert {key: getattr(stated, key) for key in expected} == expected, case["id"]


def test_numbers_that_cannot_be_pay_leave_room_for_the_amount_behind_them() -> None:
    assert read("1 2 3\n" * 1_000 + "Salary: $100,000 - $120,000") == (100_000, 120_000, "USD", "year")


@pytest.mark.parametrize("text", ["Salary: $50/8 hours", "Salary: $120k/10% bonus"])
def test_a_slash_parts_a_range_only_before_an_amount_of_its_kind(text: str) -> None:
    stated = pay_in_text(text)
    assert stated is None or stated.min in (None, stated.max)
