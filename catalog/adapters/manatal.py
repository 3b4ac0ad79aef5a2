"""Manatal: `core.api.manatal.com/open/v3/career-page/{page}/jobs/`, some ten a page, with the whole count.

Facts: https://developers.manatal.com and recorded pages of 2026. The feed has neither dates nor links: a
posting's page is `careers-page.com/{page}/job/{hash}`.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    joined,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_PAGES = "https://www.careers-page.com"
_API_HOSTS = frozenset({"core.api.manatal.com", "api.manatal.com"})
_PAGE_HOSTS = frozenset({"www.careers-page.com", "careers-page.com"})
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_HASH = re.compile(r"[A-Z0-9]{6,16}")
_RESERVED = frozenset({"static", "media", "api", "robots.txt", "sitemap.xml", "favicon.ico"})


class Manatal(Adapter):
    kind = "manatal"
    name = "Manatal"
    domains = ("careers-page.com", "manatal.com")
    closes_by_absence = True

    def found(self, parts: UrlParts) -> Detection | None:
        segments = (*parts.segments[:5], *[""] * 5)
        if parts.host in _API_HOSTS and segments[:3] == ("open", "v3", "career-page"):
            token, posting = segments[3], ""
        elif parts.host in _PAGE_HOSTS:
            token, posting = segments[0], segments[2] if segments[1] == "job" else ""
        else:
            return None
        if not _TOKEN.fullmatch(token) or token.lower() in _RESERVED:
            return None
        return Detection(
            kind=self.kind,
            token=token,
            posting_id=posting if _HASH.fullmatch(posting) else None,
            reason="the address of a Manatal careers page",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_PAGES}/{path_segment(found.token)}/job/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_PAGES}/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"https://core.api.manatal.com/open/v3/career-page/{path_segment(context.token)}/jobs/"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(f"{self.list_url(context)}?page={so_far.pages + 1}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"count": n, "next": …, "results": […]}`."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "results"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("count")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("hash"))
    url, _ = page_link(f"{_PAGES}/{path_segment(context.token)}/job/{path_segment(number)}", _PAGES)
    html, text = description([headed("", row.get("description"))], flags)
    place = joined(row.get("city"), row.get("state"), row.get("country"))
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("position_name"), flags),
        company=context.company or None,
        locations=places([place or row.get("location_display")]),
        remote="yes" if row.get("is_remote") is True else "unknown",
        employment_type=employment_type(row.get("contract_details")),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
