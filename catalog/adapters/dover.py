"""Dover: `app.dover.com/api/v1/careers-page/{id}/jobs`; the id stands behind the name of the careers page.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of its
interface.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    external_id,
    headed,
    inside,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_SITE = "https://app.dover.com"
_API = f"{_SITE}/api/v1"
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Dover(Adapter):
    kind = "dover"
    name = "Dover"
    domains = ("dover.com",)
    is_experimental = True

    def found(self, parts: UrlParts) -> Detection | None:
        section, slug = (*parts.segments[:2], "", "")[:2]
        if parts.host != "app.dover.com" or section != "jobs" or not _SLUG.fullmatch(slug):
            return None
        return Detection(kind=self.kind, token=slug, reason="the address of a careers page on Dover")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/apply/{path_segment(found.token)}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_SITE}/jobs/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"{_API}/careers-page-slug/{path_segment(context.token)}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        """First the page's id, then its jobs, all at once."""
        if so_far.pages == 0:
            return Request(self.list_url(context), headers=self.headers())
        if so_far.pages == 1 and _UUID.fullmatch(so_far.cursor):
            return Request(f"{_API}/careers-page/{so_far.cursor}/jobs?limit=1000", headers=self.headers())
        return None

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        return Request(f"{_API}/inbound/application-portal-job/{posting}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the careers page (no rows, its id as the cursor), its jobs, or one job."""
        body = load_object(payload, of=self.name)
        if "results" not in body and "slug" in body:
            return Reading((), False, "a careers page, no jobs", cursor=one_line(body.get("id"), limit=40))
        if "results" not in body and "title" in body:
            return read_rows([body], lambda row: _listing(row, context)).detail()
        rows = read_rows(rows_of(body, "results"), lambda row: _listing(row, context))
        return rows.board(total=count_in(body.get("count")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, _ = page_link(f"{_SITE}/apply/{path_segment(context.token)}/{path_segment(number)}", _SITE)
    html, text = description([headed("", row.get("user_provided_description"))], flags)
    where = [
        each.get("name") or inside(each, "location_option", "display_name")
        for each in objects(row, "locations")
    ]
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("title"), flags),
        company=name(row.get("client_name")) or context.company or None,
        locations=places(where),
        remote=remote_in(where),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
