"""Breezy HR: `{tenant}.breezy.hr/json`, the whole board in one array; texts are on the postings' pages.

Facts: https://developer.breezy.hr and a recorded response of 2024. Pay is one string ("$1 – $5 / year"); a
label and its text may disagree, so amounts that cannot be meant are not shown.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import Context, Detection, ParsedListing, Reading, Remote, Request
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    iso_date,
    joined,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost, path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import is_markup
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape


class Breezy(BoardHost):
    kind = "breezy"
    name = "Breezy HR"
    domains = ("breezy.hr",)
    closes_by_absence = True
    posting_path = re.compile(r"/p/(?P<id>[0-9a-f]{12})(?:-|/|\Z)")

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/p/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/json"

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{self.origin(context)}/p/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a bare array, the whole board, or a posting's page."""
        if is_markup(payload):
            return read_posting_page(self, payload, context)
        body = load(payload)
        if isinstance(body, dict):
            refuse_error_body(body)
        if not isinstance(body, list):
            wrong_shape("a response of Breezy is an array")
        origin = self.origin(context)
        rows = read_rows(body, lambda row: _listing(row, context, origin))
        return rows.board(total=rows.count)


def _listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, raw_url = page_link(row.get("url") or f"{origin}/p/{path_segment(number)}", origin)
    locations: list[Any] = [*objects(row, "locations")] or [row.get("location")]
    named = [_place(each) for each in locations]
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        title=title(row.get("name"), flags),
        company=name(inside(row, "company", "name")) or context.company or None,
        locations=places(named),
        remote=_remote(locations, named),
        employment_type=employment_type(inside(row, "type", "name")),
        department=name(row.get("department")),
        posted_at=iso_date(row.get("published_date"), context),
        compensation=pay_in_field(row.get("salary"), flags),
        flags=tuple(flags),
    )


def _place(location: object) -> str:
    said = inside(location, "name")
    if said:
        return joined(said)
    state, country = inside(location, "state", "name"), inside(location, "country", "name")
    return joined(inside(location, "city"), state, country)


def _remote(locations: list[Any], named: list[str]) -> Remote:
    flags = [inside(each, "is_remote") for each in locations]
    if all(flag is True for flag in flags):
        return "yes"
    return "no" if all(flag is False for flag in flags) else remote_in(named)
