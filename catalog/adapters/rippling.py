"""Rippling: `api.rippling.com/platform/api/ats/v1/board/{board}/jobs`, the whole board in one array.

Facts: a recorded page of the second version (2026) and https://developer.rippling.com. Both versions write
a row for each place of a posting, under one id. Lists have neither dates nor texts: those come with each
posting.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading, Remote, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in, remote_named
from catalog.adapters.payload import (
    Rows,
    count_in,
    load,
    read_rows,
    refuse_error_body,
    rows_of,
    wrong_shape,
)
from catalog.links import UrlParts

_API = "https://api.rippling.com/platform/api/ats/v1/board"
_PAGES = "https://ats.rippling.com"
_PAGE_HOSTS = frozenset({"ats.rippling.com", "ats.us1.rippling.com", "ats.eu1.rippling.com"})
_LANGUAGE = re.compile(r"[a-z]{2}-[A-Z]{2}")
_BOARD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_POSTING = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Rippling(Adapter):
    kind = "rippling"
    name = "Rippling"
    domains = ("rippling.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        segments = list(parts.segments)
        if parts.host == "api.rippling.com":
            is_board = "board" in segments[:5]
            segments = segments[segments.index("board") + 1 :] if is_board else []
        elif parts.host not in _PAGE_HOSTS:
            return None
        if segments and _LANGUAGE.fullmatch(segments[0]):
            segments = segments[1:]
        board, section, posting = (*segments[:3], "", "", "")[:3]
        if not _BOARD.fullmatch(board) or (section and section != "jobs"):
            return None
        return Detection(
            kind=self.kind,
            token=board,
            posting_id=posting if _POSTING.fullmatch(posting) else None,
            reason="the address of a Rippling board",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_PAGES}/{path_segment(found.token)}/jobs/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_PAGES}/{path_segment(context.token)}/jobs"

    def list_url(self, context: Context) -> str:
        return f"{_API}/{path_segment(context.token)}/jobs"

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        return Request(f"{self.list_url(context)}/{posting}", headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a bare array (the whole board), a page with `items` and `totalItems`, or one posting."""
        body = load(payload)
        if isinstance(body, list):
            rows = _rows(body, context)
            return rows.board(total=rows.count)
        if not isinstance(body, dict):
            wrong_shape("a response of Rippling is an array or an object")
        refuse_error_body(body)
        if "items" not in body and ("uuid" in body or "id" in body):
            return _rows([body], context).detail()
        rows = _rows(rows_of(body, "items"), context)
        total = count_in(body.get("totalItems"))  # rows, of which a posting may have several
        return rows.page(total=rows.count if total == rows.rows else total)


def _rows(rows: list[Any], context: Context) -> Rows:
    return read_rows(rows, lambda row: _listing(row, context), is_row_per_place=True)


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("uuid") or row.get("id"))
    built = f"{_PAGES}/{path_segment(context.token)}/jobs/{path_segment(number)}"
    url, raw_url = page_link(row.get("url") or built, _PAGES)
    sections = row.get("description")
    texts = [inside(sections, "role"), inside(sections, "company")] if sections else []
    html, text = description([headed("", each) for each in texts], flags)
    named = _places(row)
    department = row.get("department")
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        title=title(row.get("name"), flags),
        company=name(row.get("companyName")) or context.company or None,
        locations=places(named),
        remote=_remote(row, named),
        employment_type=employment_type(inside(row, "employmentType", "label")),
        department=name(inside(department, "name") or inside(department, "label")),
        posted_at=iso_date(row.get("createdOn"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _places(row: dict[str, Any]) -> list[str]:
    """The first version labels one place ("Remote (New Jersey, US)"), a posting lists texts, the second
    objects.
    """
    named = [one_line(each.get("name"), limit=200) for each in objects(row, "locations")]
    several = row.get("workLocations")
    named += [one_line(each, limit=200) for each in several] if isinstance(several, list) else []
    return named or [one_line(inside(row, "workLocation", "label"), limit=200)]


def _remote(row: dict[str, Any], named: list[str]) -> Remote:
    models = {remote_named(each.get("workplaceType")) for each in objects(row, "locations")} - {"unknown"}
    return models.pop() if len(models) == 1 else remote_in(named)
