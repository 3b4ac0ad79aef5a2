"""SAP SuccessFactors career sites: `{origin}/googlefeed.xml`, an RSS feed with fields of Google Base.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of its
feeds. The sites live on employers' own domains, so the token is the host. Older career portals load by
script and cannot be read.
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
from catalog.adapters.hosts import BoardHost
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import MENDED, channel_items, child_text
from catalog.adapters.one_board import XML_HEADERS
from catalog.adapters.payload import read_elements

_NUMBER = re.compile(r"/job/[^/]+/(?P<id>\d{4,15})")


class SuccessFactors(BoardHost):
    kind = "successfactors"
    serves_own_domains = True
    name = "SAP SuccessFactors"
    domains = ("jobs.hr.cloud.sap",)
    posting_path = _NUMBER
    is_experimental = True

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/job/posting/{found.posting_id}/"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/googlefeed.xml"

    def headers(self) -> dict[str, str]:
        return dict(XML_HEADERS)

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the feed. It does not say how many postings the site has."""
        channel, items, is_whole = channel_items(payload)
        company = context.company or child_text(channel, "title")
        rows = read_elements(items, lambda row: _listing(row, company, context, self.origin(context)))
        return rows.page(gap="" if is_whole else MENDED)


def _listing(row: Any, company: str, context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(child_text(row, "link"), origin)
    number = _NUMBER.search(url)
    html, text = description([headed("", child_text(row, "description"))], flags)
    where = child_text(row, "location")
    return ParsedListing(
        external_id=external_id(number["id"] if number else child_text(row, "id") or url[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(child_text(row, "title"), flags),
        company=name(child_text(row, "employer")) or name(company),
        locations=places([where]),
        remote=remote_in([where]),
        employment_type=employment_type(child_text(row, "job_type")),
        department=name(child_text(row, "job_function")),
        posted_at=mail_date(child_text(row, "pubDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
