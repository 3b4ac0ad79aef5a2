"""Polymer: `api.polymer.co/v1/hire/organizations/{organisation}/jobs`, fifty a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of its
interface.
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
    inside,
    iso_date,
    joined,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_SITE = "https://jobs.polymer.co"
_ORGANISATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_POSTING = re.compile(r"\d{1,12}")


class Polymer(Adapter):
    kind = "polymer"
    name = "Polymer"
    domains = ("polymer.co",)
    is_experimental = True

    def found(self, parts: UrlParts) -> Detection | None:
        organisation, posting = (*parts.segments[:2], "", "")[:2]
        if parts.host != "jobs.polymer.co" or not _ORGANISATION.fullmatch(organisation):
            return None
        return Detection(
            kind=self.kind,
            token=organisation,
            posting_id=posting if _POSTING.fullmatch(posting) else None,
            reason="the address of an organisation on Polymer",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/{path_segment(found.token)}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_SITE}/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"https://api.polymer.co/v1/hire/organizations/{path_segment(context.token)}/jobs"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(
            f"{self.list_url(context)}?page={so_far.pages + 1}&per_page=50", headers=self.headers()
        )

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "items"), lambda row: _listing(row, context))
        return rows.page(total=count_in(inside(body, "meta", "total")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, raw_url = page_link(
        row.get("job_post_url") or f"{_SITE}/{path_segment(context.token)}/{path_segment(number)}", _SITE
    )
    html, text = description([headed("", row.get("description"))], flags)
    place = joined(row.get("city"), row.get("state_region"), row.get("country"))
    where = place or row.get("display_location")
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("organization_name")) or context.company or None,
        locations=places([where]),
        remote=remote_in([row.get("remoteness_pretty"), where]),
        employment_type=employment_type(row.get("kind_pretty")),
        department=name(row.get("job_category_name")),
        posted_at=iso_date(row.get("published_at"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
