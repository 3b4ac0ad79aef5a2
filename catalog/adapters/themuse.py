"""The Muse: `www.themuse.com/api/public/jobs`, the newest pages, twenty rows each.

Experimental: no recorded response stands behind it. Facts: https://www.themuse.com/developers/api/v2.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://www.themuse.com"


class TheMuse(OneBoard):
    kind = "themuse"
    name = "The Muse"
    domains = ("themuse.com",)
    page = f"{_SITE}/search"
    address = f"{_SITE}/api/public/jobs"
    hosts = ("www.themuse.com",)
    board_paths = frozenset({"/", "/search", "/jobs", "/api/public/jobs"})
    posting_path = re.compile(r"/jobs/(?P<id>[\w-]+/[\w-]+)\Z")
    is_experimental = True
    reads_pages = 10

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/jobs/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(f"{self.address}?descending=true&page={so_far.pages}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "results"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("total")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(inside(row, "refs", "landing_page"), _SITE)
    html, text = description([headed("", row.get("contents"))], flags)
    where = [each.get("name") for each in objects(row, "locations")]
    categories = [name(each.get("name")) for each in objects(row, "categories")]
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("name"), flags),
        company=name(inside(row, "company", "name")),
        locations=places(where),
        remote=remote_in(where),
        employment_type=employment_type(row.get("type")),
        department=next(filter(None, categories), None),
        posted_at=iso_date(row.get("publication_date"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
