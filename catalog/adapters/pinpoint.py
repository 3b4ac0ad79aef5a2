"""Pinpoint: `{tenant}.pinpointhq.com/postings.json`, the whole board in one response.

Facts: https://developers.pinpointhq.com and recorded responses of 2024. The feed has no dates of publication.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Context, Detection, ParsedListing, Pay, Reading
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
from catalog.adapters.hosts import BoardHost
from catalog.adapters.location import places, remote_named
from catalog.adapters.payload import load_object, read_rows, rows_of

_SECTIONS = ("description", "key_responsibilities", "skills_knowledge_expertise", "benefits")


class Pinpoint(BoardHost):
    kind = "pinpoint"
    name = "Pinpoint"
    domains = ("pinpointhq.com",)
    closes_by_absence = True
    posting_path = re.compile(
        r"(?:/[a-z]{2}(?:-[A-Z]{2})?)?/postings/(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    )

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/postings/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/postings.json"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read `{"data": […]}`, which is the whole board. It does not name the employer."""
        origin = self.origin(context)
        data = rows_of(load_object(payload, of=self.name), "data")
        rows = read_rows(data, lambda row: _listing(row, context, origin))
        return rows.board(total=rows.count)


def _listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url") or row.get("path"), origin)
    html, text = description([headed(row.get(f"{each}_header"), row.get(each)) for each in _SECTIONS], flags)
    location = row.get("location")
    place = inside(location, "name") or joined(inside(location, "city"), inside(location, "province"))
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=context.company or None,
        locations=places([place]),
        remote=remote_named(row.get("workplace_type")),
        employment_type=employment_type(row.get("employment_type")),
        department=name(inside(row, "job", "department", "name")),
        compensation=_pay(row, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _pay(row: dict[str, Any], flags: list[str]) -> Pay | None:
    """The amounts, where the employer shows them. The text beside them may hold what they do not."""
    if row.get("compensation_visible") is not True:
        return None
    return pay(
        row.get("compensation_minimum"),
        row.get("compensation_maximum"),
        currency=row.get("compensation_currency"),
        period=period(row.get("compensation_frequency")),
        flags=flags,
    )
