"""Avature: `{tenant}.avature.net/careers/SearchJobs/feed/`, an RSS feed of the newest twenty.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of the
feed, which stops at twenty, so it never is the whole board.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import external_id, mail_date, name, page_link, teaser, title
from catalog.adapters.hosts import BoardHost
from catalog.adapters.markup import MENDED, channel_items, child_text
from catalog.adapters.one_board import XML_HEADERS
from catalog.adapters.payload import read_elements

_NUMBER = re.compile(r"/JobDetail/(?:[^/]+/)?(?P<id>\d{1,12})(?:[/?]|\Z)")


class Avature(BoardHost):
    kind = "avature"
    name = "Avature"
    domains = ("avature.net",)
    board_path = "/careers"
    posting_path = re.compile(r"/[\w-]+(?:/[\w-]+)?/JobDetail/(?:[^/]+/)?(?P<id>\d{1,12})(?:/|\Z)")
    is_experimental = True
    shows_at_most = 20

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/careers/JobDetail/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/careers/SearchJobs/feed/?jobRecordsPerPage=20"

    def headers(self) -> dict[str, str]:
        return dict(XML_HEADERS)

    def parse(self, payload: bytes, context: Context) -> Reading:
        _, items, is_whole = channel_items(payload)
        rows = read_elements(items, lambda row: _listing(row, context, self.origin(context)))
        return rows.page(gap="" if is_whole else MENDED)


def _listing(row: Any, context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(child_text(row, "link"), origin)
    number = _NUMBER.search(url)
    html, text = teaser(child_text(row, "description"), flags)
    return ParsedListing(
        external_id=external_id(number["id"] if number else url[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(child_text(row, "title"), flags),
        company=name(context.company),
        posted_at=mail_date(child_text(row, "pubDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
