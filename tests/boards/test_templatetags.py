"""What templates say of times, pay and places, and the rules that every template and the stylesheet keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

from boards.templatetags import rolecall

NOW = datetime(2026, 11, 29, 14, 30, tzinfo=UTC)
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
STYLESHEET = (settings.BASE_DIR / "static" / "rolecall.css").read_text()


@dataclass(frozen=True)
class Stated:
    min: Decimal | float | None
    max: Decimal | float | None
    currency: str | None = "USD"
    period: str | None = "year"


def words(element: str) -> str:
    return re.sub(r"<[^>]+>", "", element)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(seconds=0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=59, hours=23), "59 d ago"),
        (timedelta(days=60), "2 mo ago"),
        (timedelta(days=729), "24 mo ago"),
        (timedelta(days=730), "2 y ago"),
        (timedelta(seconds=-30), "just now"),
        (timedelta(minutes=-46), "in 46 min"),
        (timedelta(days=-3), "in 3 d"),
    ],
)
def test_an_instant_is_told_by_its_age(age: timedelta, expected: str) -> None:
    assert words(rolecall.when(NOW - age, NOW)) == expected


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (date(2026, 11, 29), "today"),
        (date(2026, 11, 28), "yesterday"),
        (date(2026, 11, 30), "tomorrow"),
        (date(2026, 11, 27), "2 d ago"),
        (date(2026, 12, 5), "in 6 d"),
        (date(2024, 11, 1), "2 y ago"),
    ],
)
def test_a_day_is_told_in_whole_days(day: date, expected: str) -> None:
    assert words(rolecall.when(day, NOW)) == expected


def test_an_instant_keeps_its_exact_moment() -> None:
    assert rolecall.when(datetime(2026, 11, 29, 11, 5, 9, 4321, tzinfo=UTC), NOW) == (
        '<time datetime="2026-11-29T11:05:09Z" title="29 November 2026, 11:05 UTC">3 h ago</time>'
    )


def test_a_day_never_becomes_an_instant() -> None:
    """A9: a date without a zone is a day."""
    shown = rolecall.when(date(2026, 11, 17), NOW)
    assert shown == '<time datetime="2026-11-17" title="17 November 2026">12 d ago</time>'


def test_the_readers_zone_decides_the_hour_and_which_day_is_today() -> None:
    late = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)  # already the 30th in Tokyo
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        assert words(rolecall.when(date(2026, 11, 30), late)) == "today"
        assert 'title="30 November 2026, 05:00 JST"' in rolecall.when(late, late)
        assert 'datetime="2026-11-29T20:00:00Z"' in rolecall.when(late, late)


def test_a_time_that_was_never_stated_is_unknown() -> None:
    """A9: missing is missing."""
    assert words(rolecall.when(None, NOW)) == "unknown"
    assert rolecall.exact(None) == "unknown"


def test_when_counts_from_the_present_by_default() -> None:
    assert words(rolecall.when(timezone.now() - timedelta(days=12, hours=1))) == "12 d ago"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (Stated(120_000, 150_000), "$120k–150k a year"),
        (Stated(Decimal("120000.00"), Decimal("150000.00")), "$120k–150k a year"),
        (Stated(120_500, 150_000), "$120.5k–150k a year"),
        (Stated(120_550, 150_000), "$120,550–150,000 a year"),
        (Stated(9_500, 12_000, "EUR", "month"), "€9,500–12,000 a month"),
        (Stated(38.5, 45, "USD", "hour"), "$38.50–45.00 an hour"),
        (Stated(20, 25, "GBP", "hour"), "£20–25 an hour"),
        (Stated(6_000_000, 9_250_000, "JPY"), "¥6M–9.25M a year"),
        (Stated(1_204_000, None, "INR"), "from ₹1,204k a year"),
        (Stated(55_000, None, "EUR"), "from €55k a year"),
        (Stated(None, 90_000, "CHF"), "up to CHF 90k a year"),
        (Stated(80_000, 80_000, "cad"), "CA$80k a year"),
        (Stated(0, 150_000), "$0–150,000 a year"),
        (Stated(5_000, None, "USD", "one_time"), "from $5,000 one time"),
        (Stated(70_000, 90_000, None), "70k–90k a year (currency unknown)"),
        (Stated(70_000, 90_000, "EUR", None), "€70k–90k (period unknown)"),
        (Stated(70_000, 90_000, None, None), "70k–90k (currency and period unknown)"),
        (Stated(None, None), ""),
        (None, ""),
    ],
)
def test_pay_is_short_and_loses_no_stated_digit(stated: Stated | None, expected: str) -> None:
    assert rolecall.pay(stated) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Berlin, Germany"], "Berlin, Germany"),
        (["Berlin, Germany", "Paris", "Rome", "Oslo", "Remote"], "Berlin +4"),
        (("Remote", ""), "Remote"),
        ([], ""),
        (None, ""),
    ],
)
def test_places_are_one_place_or_a_city_and_how_many_more(names: list[str] | None, expected: str) -> None:
    assert rolecall.places(names) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.example.com/jobs/1?x=2", "example.com"),
        ("https://Boards.Greenhouse.io:443/acme", "boards.greenhouse.io"),
        ("mailto:jobs@example.com", ""),
        ("https://[broken/", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_hostname_is_the_host_as_people_write_it(url: str | None, expected: str) -> None:
    assert rolecall.hostname(url) == expected


@pytest.mark.parametrize(("count", "expected"), [(0, "0"), (1903, "1,903"), (None, "unknown")])
def test_a_count_never_made_is_not_zero(count: int | None, expected: str) -> None:
    assert rolecall.number(count) == expected


def test_a_work_mode_is_said_in_a_word_and_an_unstated_one_in_none() -> None:
    assert [rolecall.work_mode(mode) for mode in ("yes", "no", "hybrid")] == ["Remote", "On site", "Hybrid"]
    assert [rolecall.work_mode(mode) for mode in ("unknown", "", None)] == ["", "", ""]


@pytest.mark.parametrize(
    ("address", "tag", "expected"),
    [
        (
            "/b/x/?q=a&page=2&place=de&place=nl",
            "{% query page=3 %}",
            "?q=a&amp;page=3&amp;place=de&amp;place=nl",
        ),
        ("/b/x/?q=a&page=2", "{% query page=None show='hidden' %}", "?q=a&amp;show=hidden"),
        ("/b/x/?page=2", "{% query page=None %}", "/b/x/"),
        ('/b/x/?q="><b>', "{% query page=2 %}", "?q=%22%3E%3Cb%3E&amp;page=2"),
    ],
)
def test_a_link_changes_its_own_parameters_and_keeps_the_rest(address: str, tag: str, expected: str) -> None:
    context = Context({"request": RequestFactory().get(address)})
    assert Template("{% load rolecall %}" + tag).render(context) == expected


def test_the_release_is_shown() -> None:
    assert Template("{% load rolecall %}{% release %}").render(Context()) == settings.RELEASE


def test_only_the_posting_text_trusts_html() -> None:
    """R9: what a posting says is data. One template shows markup, after catalog/html.py sanitised it."""
    trusting = [
        path.name for path in TEMPLATES if re.search(r"\|\s*safe|autoescape|mark_safe", path.read_text())
    ]
    assert trusting == ["posting_text.html"]


def test_no_template_needs_more_than_the_content_security_policy_allows() -> None:
    inline = re.compile(
        r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:|https?://(?!\W)", re.IGNORECASE
    )
    pages = [path for path in TEMPLATES if "admin" not in path.parts]  # the console is outside the policy
    assert pages
    assert [(path.name, found) for path in pages for found in inline.findall(path.read_text())] == []


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_colours_are_legible_on_every_ground(theme: int) -> None:
    """WCAG 2.2, 1.4.3: text has at least 4.5:1 against what it lies on; 1.4.11: an edge 3:1."""
    pairs = re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", STYLESHEET)
    colours = {name: values[theme] for name, *values in pairs}
    grounds = ["paper", "surface", "raised", "accent-wash", "caution-wash", "bad-wash"]
    texts = ["ink", "muted", "accent", "accent-strong", "good", "caution", "bad"]
    needed = [(text, ground, 4.5) for text in texts for ground in grounds]
    needed += [("on-accent", "accent", 4.5), ("on-accent", "accent-strong", 4.5)]
    needed += [("edge", ground, 3.0) for ground in ("paper", "surface", "raised")]
    faint = [(a, b) for a, b, least in needed if contrast(colours[a], colours[b]) < least]
    assert faint == []


def contrast(first: str, second: str) -> float:
    """The ratio of WCAG 2.2's relative luminances, 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    channels = [value / 255 for value in bytes.fromhex(colour)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
