"""TikTok: `POST api.lifeattiktok.com/api/v1/public/supplier/search/job/posts`, a hundred a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the site say of the
interface that its pages use.
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
    headed,
    inside,
    joined,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.html import as_paragraphs

_SITE = "https://lifeattiktok.com"
_PER_PAGE = 100
_NO_FILTERS = ("recruitment_id_list", "job_category_id_list", "subject_id_list", "location_code_list")


class TikTok(OneBoard):
    kind = "tiktok"
    name = "TikTok"
    domains = ("lifeattiktok.com", "careers.tiktok.com")
    page = f"{_SITE}/search"
    address = "https://api.lifeattiktok.com/api/v1/public/supplier/search/job/posts"
    hosts = ("lifeattiktok.com", "www.lifeattiktok.com", "careers.tiktok.com")
    board_paths = frozenset({"/", "/search", "/position"})
    posting_path = re.compile(r"/(?:search|position)/(?P<id>\d{6,25})(?:/|\Z)")
    is_experimental = True
    shows_at_most = 10_000

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/search/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        empty: dict[str, object] = {name: [] for name in _NO_FILTERS}
        body = {**empty, "keyword": "", "limit": _PER_PAGE, "offset": so_far.rows}
        headers = {**self.headers(), "website-path": "tiktok", "accept-language": "en-US"}
        return Request(self.address, headers=headers, body=json.dumps(body).encode())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"code": 0, "data": {"count": n, "job_post_list": […]}}`."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "data", "job_post_list"), _listing)
        return rows.page(total=count_in(inside(body, "data", "count")))


def _listing(row: dict[str, Any]) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, _ = page_link(f"{_SITE}/search/{path_segment(number)}", _SITE)
    sections = [("", row.get("description")), ("Requirements", row.get("requirement"))]
    html, text = description([headed(heading, _html(value)) for heading, value in sections], flags)
    city = row.get("city_info")
    where = joined(
        inside(city, "en_name"),
        inside(city, "parent", "en_name"),
        inside(city, "parent", "parent", "en_name"),
    )
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("title"), flags),
        company="TikTok",
        locations=places([where]),
        remote=remote_in([where]),
        employment_type=employment_type(inside(row, "recruit_type", "en_name")),
        department=name(inside(row, "job_category", "en_name")),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _html(value: object) -> str:
    return as_paragraphs(value) if isinstance(value, str) else ""
