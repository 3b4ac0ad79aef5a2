"""IBM: `POST www-api.ibm.com/search/api/v2`, a hundred a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the site say of the
search that its careers pages use.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import external_id, inside, iso_date, joined, name, page_link, teaser, title
from catalog.adapters.location import places, remote_named
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import RowUnreadable, count_in, load_object, read_rows, rows_of

_SITE = "https://careers.ibm.com"
_NUMBER = re.compile(r"(?:jobId=|/job/)(?P<id>\d{4,12})")
_PER_PAGE = 100


class IBM(OneBoard):
    kind = "ibm"
    name = "IBM"
    domains = ("ibm.com",)
    page = "https://www.ibm.com/careers/search"
    address = "https://www-api.ibm.com/search/api/v2"
    hosts = ("www.ibm.com", "careers.ibm.com")
    board_paths = frozenset({"/careers", "/careers/search"})
    posting_path = re.compile(r"/job/(?P<id>\d{4,12})(?:/|\Z)")
    is_experimental = True
    shows_at_most = 10_000

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/job/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        body = {
            "appId": "careers",
            "scopes": ["careers2"],
            "query": {"bool": {"must": []}},
            "size": _PER_PAGE,
            "from": so_far.rows,
            "sort": [{"dcdate": "desc"}],
            "lang": "zz",
            "localeSelector": {},
        }
        return Request(self.address, headers=self.headers(), body=json.dumps(body).encode())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of hits, whose fields are numbered: 05 country, 08 area, 17 work model, 19 city."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "hits", "hits"), lambda row: _listing(row, context))
        return rows.page(total=count_in(inside(body, "hits", "total", "value")))


def _listing(hit: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    row = hit.get("_source")
    if not isinstance(row, dict):
        raise RowUnreadable("the row has no fields")
    url, raw_url = page_link(row.get("url"), _SITE)
    number = _NUMBER.search(url)
    html, text = teaser(row.get("description"), flags)
    return ParsedListing(
        external_id=external_id(number["id"] if number else hit.get("_id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company="IBM",
        locations=places([joined(row.get("field_keyword_19"), row.get("field_keyword_05"))]),
        remote=remote_named(row.get("field_keyword_17")),
        department=name(row.get("field_keyword_08")),
        posted_at=iso_date(row.get("dcdate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
