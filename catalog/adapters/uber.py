"""Uber: `POST www.uber.com/api/loadSearchJobsResults`, a hundred a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the site say of the
interface that its pages use, and recorded links to postings.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    html_or_plain,
    inside,
    iso_date,
    joined,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://www.uber.com/global/en/careers/list"
_PER_PAGE = 100


class Uber(OneBoard):
    kind = "uber"
    name = "Uber"
    domains = ("uber.com",)
    page = f"{_SITE}/"
    address = "https://www.uber.com/api/loadSearchJobsResults?localeCode=en"
    hosts = ("www.uber.com",)
    board_paths = frozenset({"/global/en/careers/list", "/careers", "/us/en/careers", "/us/en/careers/list"})
    posting_path = re.compile(r"/[a-z]{2,6}/[a-z]{2}/careers/list/(?P<id>\d{3,12})\Z")
    is_experimental = True

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        body = {"limit": _PER_PAGE, "page": so_far.pages, "params": {}}
        headers = {**self.headers(), "x-csrf-token": "x"}
        return Request(self.address, headers=headers, body=json.dumps(body).encode())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"data": {"results": […], "totalResults": {"low": n}}}`."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "data", "results"), lambda row: _listing(row, context))
        return rows.page(total=count_in(inside(body, "data", "totalResults", "low")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, _ = page_link(f"{_SITE}/{path_segment(number)}", _SITE)
    html, text = description([html_or_plain(None, row.get("description"))], flags)
    spots = objects(row, "allLocations") or objects({"one": [row.get("location")]}, "one")
    where = [joined(each.get("city"), each.get("region"), each.get("countryName")) for each in spots]
    if row.get("isPipeline") is True:
        flags.append("prospect_post")
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("title"), flags),
        company="Uber",
        locations=places(where),
        remote=remote_in(where),
        employment_type=employment_type(row.get("timeType")),
        department=name(row.get("department")),
        posted_at=iso_date(row.get("creationDate"), context),
        updated_at=iso_date(row.get("updatedDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
