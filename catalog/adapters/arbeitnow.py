"""Arbeitnow: `www.arbeitnow.com/api/job-board-api`, the newest pages.

Facts: https://www.arbeitnow.com/blog/job-board-api and a recorded page of 2026. `links.next` carries a
search term that changes, so the number of the page is ours. `job_types` mixes seniority and German words.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    epoch_date,
    external_id,
    headed,
    name,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import load_object, read_rows, rows_of

_SITE = "https://www.arbeitnow.com"


class Arbeitnow(OneBoard):
    kind = "arbeitnow"
    name = "Arbeitnow"
    domains = ("arbeitnow.com",)
    page = _SITE
    address = f"{_SITE}/api/job-board-api"
    hosts = ("www.arbeitnow.com", "arbeitnow.com")
    board_paths = frozenset({"/", "/jobs", "/api/job-board-api"})
    posting_path = re.compile(r"/jobs/companies/[\w-]+/(?P<id>[\w-]+)\Z")
    reads_pages = 10

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/view/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(f"{self.address}?page={so_far.pages + 1}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        return read_rows(rows_of(body, "data"), lambda row: _listing(row, context)).page()


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    html, text = description([headed("", row.get("description"))], flags)
    labels = row.get("job_types")
    kinds = [kind for each in labels if (kind := employment_type(each))] if isinstance(labels, list) else []
    return ParsedListing(
        external_id=external_id(row.get("slug")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")),
        locations=places([row.get("location")]),
        remote="yes" if row.get("remote") is True else "unknown",
        employment_type=kinds[0] if kinds else None,
        posted_at=epoch_date(row.get("created_at"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
