"""We Work Remotely: `weworkremotely.com/remote-jobs.rss`, the newest.

Facts: https://weworkremotely.com/remote-job-rss-feed and a recorded feed of 2026. A title is "Company:
Role"; a company may be called "Remote", or have a space before the colon.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    mail_date,
    name,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.markup import MENDED, channel_items, child_text
from catalog.adapters.one_board import XML_HEADERS, OneBoard
from catalog.adapters.payload import read_elements

_SITE = "https://weworkremotely.com"


class WeWorkRemotely(OneBoard):
    kind = "weworkremotely"
    name = "We Work Remotely"
    domains = ("weworkremotely.com",)
    page = f"{_SITE}/remote-jobs"
    address = f"{_SITE}/remote-jobs.rss"
    hosts = ("weworkremotely.com", "www.weworkremotely.com")
    board_paths = frozenset({"/", "/remote-jobs", "/remote-jobs.rss"})
    posting_path = re.compile(r"/remote-jobs/(?P<id>[\w-]{5,200})\Z")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/remote-jobs/{found.posting_id}"

    def headers(self) -> dict[str, str]:
        return dict(XML_HEADERS)

    def parse(self, payload: bytes, context: Context) -> Reading:
        _, items, is_whole = channel_items(payload)
        rows = read_elements(items, lambda row: _listing(row, context))
        return rows.page(gap="" if is_whole else MENDED)


def _listing(row: Any, context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(child_text(row, "link"), _SITE)
    company, colon, role = child_text(row, "title").partition(":")
    html, text = description([headed("", child_text(row, "description"))], flags)
    return ParsedListing(
        external_id=external_id(child_text(row, "guid")[-200:] or url[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(role if colon and role.strip() else company, flags),
        company=name(company) if colon and role.strip() else None,
        locations=places([child_text(row, "region")]),
        remote="yes",
        employment_type=employment_type(child_text(row, "type")),
        department=name(child_text(row, "category")),
        posted_at=mail_date(child_text(row, "pubDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
