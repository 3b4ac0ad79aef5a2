"""Jobicy: `jobicy.com/api/v2/remote-jobs`, the newest hundred.

Facts: https://jobicy.com/jobs-rss-feed (terms: name the source, read a few times a day) and a recorded
response of 2026.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    iso_date,
    name,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import load_object, read_rows, rows_of

_SITE = "https://jobicy.com"


class Jobicy(OneBoard):
    kind = "jobicy"
    name = "Jobicy"
    domains = ("jobicy.com",)
    page = f"{_SITE}/remote-jobs"
    address = f"{_SITE}/api/v2/remote-jobs?count=100"
    hosts = ("jobicy.com", "www.jobicy.com")
    board_paths = frozenset({"/", "/remote-jobs", "/jobs", "/api/v2/remote-jobs"})
    posting_path = re.compile(r"/jobs/(?P<id>\d{2,12})(?:-|\Z)")
    least_interval = 6 * 60

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/jobs/{found.posting_id}"

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        return read_rows(rows_of(body, "jobs"), lambda row: _listing(row, context)).page()


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    html, text = description([headed("", row.get("jobDescription"))], flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("jobTitle"), flags),
        company=name(row.get("companyName")),
        locations=places([_first(row.get("jobGeo"))]),
        remote="yes",
        employment_type=employment_type(_first(row.get("jobType"))),
        department=name(_first(row.get("jobIndustry"))),
        posted_at=iso_date(row.get("pubDate"), context),
        compensation=pay(
            row.get("salaryMin"),
            row.get("salaryMax"),
            currency=row.get("salaryCurrency"),
            period=period(row.get("salaryPeriod")),
            flags=flags,
        ),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _first(value: object) -> object:
    return next(iter(value), None) if isinstance(value, list) else value
