"""Teamtailor: `{origin}/jobs.rss`, a hundred a page, and `jobs.json` (JSON Feed with schema.org postings).

Facts: https://docs.teamtailor.com and a recorded feed of 2026. Most boards live on the employer's own
domain, so the token is a name under teamtailor.com or a whole host. A page of the feed does not say how
many there are: the end is the page that has none.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Remote, Request
from catalog.adapters.fields import (
    description,
    external_id,
    headed,
    joined,
    mail_date,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost
from catalog.adapters.job_posting import listing_of
from catalog.adapters.location import places
from catalog.adapters.markup import MENDED, channel_items, child_text, children
from catalog.adapters.payload import (
    RowUnreadable,
    load_object,
    read_elements,
    read_rows,
    rows_of,
)

_PER_PAGE = 100
_REMOTE: dict[str, Remote] = {"onsite": "no", "hybrid": "hybrid", "fully": "yes"}  # "none" says nothing


class Teamtailor(BoardHost):
    kind = "teamtailor"
    serves_own_domains = True
    name = "Teamtailor"
    domains = ("teamtailor.com",)
    closes_by_absence = True
    board_path = "/jobs"
    posting_path = re.compile(r"(?:/[a-z]{2}(?:-[A-Z]{2})?)?/jobs/(?P<id>\d{1,12})(?:-|/|\Z)")

    def posting_url(self, found: Detection) -> str:
        """The id alone leads to the page; the words behind it change with the title."""
        return f"{self.origin(Context(token=found.token))}/jobs/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/jobs.rss"

    def headers(self) -> dict[str, str]:
        return {"Accept": "application/rss+xml, application/xml"}

    def request(self, context: Context, so_far: Progress) -> Request | None:
        page = f"?per_page={_PER_PAGE}&offset={so_far.rows}"
        return Request(self.list_url(context) + page, headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the RSS feed, or the JSON feed."""
        if payload.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            items = rows_of(load_object(payload, of=self.name), "items")
            return read_rows(items, lambda row: _json_listing(row, context, self.origin(context))).page()
        channel, items, is_whole = channel_items(payload)
        company = context.company or child_text(channel, "title")
        origin = context.names.get("origin") or self.origin(context)
        rows = read_elements(items, lambda row: _listing(row, company, context, origin))
        return rows.page(gap="" if is_whole else MENDED)


def _listing(row: Any, company: str, context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(child_text(row, "link"), origin)
    html, text = description([headed("", child_text(row, "description"))], flags)
    named = [_place(each) for group in children(row, "locations") for each in children(group, "location")]
    return ParsedListing(
        external_id=external_id(child_text(row, "guid") or url[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(child_text(row, "title"), flags),
        company=name(company),
        locations=places(named),
        remote=_REMOTE.get(child_text(row, "remoteStatus").lower(), "unknown"),
        department=name(child_text(row, "department")),
        posted_at=mail_date(child_text(row, "pubDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _place(element: Any) -> str:
    """City and country; the location's own name where it has no city."""
    return joined(child_text(element, "city") or child_text(element, "name"), child_text(element, "country"))


def _json_listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    posting = row.get("_jobposting")
    if not isinstance(posting, dict):
        raise RowUnreadable("the item holds no job posting")
    said = {
        **posting,
        "title": row.get("title") or posting.get("title"),
        "datePosted": row.get("date_published") or posting.get("datePosted"),
        "description": row.get("content_html") or posting.get("description"),
    }
    return listing_of(said, context, url=row.get("url"), number=row.get("id"), base=origin)
