"""Remotive: `remotive.com/api/remote-jobs`, all jobs it shows, a day late.

Facts: https://github.com/remotive-com/remote-jobs-api (terms: at most four reads a day, name the source and
link back) and a recorded response of 2026. Dates have no zone.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
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
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://remotive.com"


class Remotive(OneBoard):
    kind = "remotive"
    name = "Remotive"
    domains = ("remotive.com",)
    page = f"{_SITE}/remote-jobs"
    address = f"{_SITE}/api/remote-jobs"
    hosts = ("remotive.com", "www.remotive.com")
    board_paths = frozenset({"/", "/remote-jobs", "/api/remote-jobs"})
    posting_path = re.compile(r"/remote-jobs/[\w-]+/[\w-]*-(?P<id>\d{4,12})\Z")
    least_interval = 6 * 60

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/remote-jobs/all/job-{found.posting_id}"

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "jobs"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("total-job-count")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    html, text = description([headed("", row.get("description"))], flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")),
        locations=places([row.get("candidate_required_location")]),
        remote="yes",
        employment_type=employment_type(row.get("job_type")),
        department=name(row.get("category")),
        posted_at=iso_date(row.get("publication_date"), context),
        compensation=pay_in_field(row.get("salary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
