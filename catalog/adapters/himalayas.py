"""Himalayas: `himalayas.app/jobs/api`, the newest pages of a hundred thousand.

Facts: https://himalayas.app/api (use with visible attribution) and a recorded page of 2026. Since November
2026 a page has twenty rows, whatever is asked for.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    epoch_date,
    external_id,
    headed,
    link,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://himalayas.app"


class Himalayas(OneBoard):
    kind = "himalayas"
    name = "Himalayas"
    domains = ("himalayas.app",)
    page = f"{_SITE}/jobs"
    address = f"{_SITE}/jobs/api"
    hosts = ("himalayas.app", "www.himalayas.app")
    board_paths = frozenset({"/", "/jobs", "/jobs/api"})
    posting_path = re.compile(r"/companies/(?P<id>[\w-]+/jobs/[\w-]+)\Z")
    reads_pages = 10

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/companies/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(f"{self.address}?limit=20&offset={so_far.rows}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "jobs"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("totalCount")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("guid") or row.get("applicationLink"), _SITE)
    html, text = description([headed("", row.get("description"))], flags)
    allowed = row.get("locationRestrictions")
    return ParsedListing(
        external_id=external_id(url.removeprefix(f"{_SITE}/companies/")[-200:]),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("applicationLink"), _SITE),
        title=title(row.get("title"), flags),
        company=name(row.get("companyName")),
        locations=places(
            [one_line(each, limit=200) for each in allowed] if isinstance(allowed, list) else []
        ),
        remote="yes",
        employment_type=employment_type(row.get("employmentType")),
        posted_at=epoch_date(row.get("pubDate"), context),
        compensation=pay(
            row.get("minSalary"),
            row.get("maxSalary"),
            currency=row.get("currency"),
            period=period(row.get("salaryPeriod")),
            flags=flags,
        ),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
