"""Gem: `api.gem.com/job_board/v0/{board}/job_posts/`, the whole board in one array.

Facts: https://api.gem.com/job_board/v0/reference and a recorded response of 2026. Ids are digits or
base64-like.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    html_or_plain,
    inside,
    iso_date,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import names_a_place, places, remote_in, remote_named
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape
from catalog.links import UrlParts

_PAGES = "https://jobs.gem.com"
_BOARD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_POSTING = re.compile(r"[A-Za-z0-9_=-]{6,80}")
_RESERVED = frozenset({"api", "static", "assets", "graphql", "job_board"})


class Gem(Adapter):
    kind = "gem"
    name = "Gem"
    domains = ("gem.com",)
    closes_by_absence = True

    def found(self, parts: UrlParts) -> Detection | None:
        segments = (*parts.segments[:3], "", "", "")
        if parts.host == "api.gem.com" and segments[:2] == ("job_board", "v0"):
            board, posting = segments[2], ""
        elif parts.host == "jobs.gem.com":
            board, posting = segments[0], segments[1]
        else:
            return None
        if not _BOARD.fullmatch(board) or board.lower() in _RESERVED:
            return None
        return Detection(
            kind=self.kind,
            token=board,
            posting_id=posting if _POSTING.fullmatch(posting) else None,
            reason="the address of a Gem board",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_PAGES}/{path_segment(found.token)}/{path_segment(found.posting_id or '')}"

    def board_url(self, context: Context) -> str:
        return f"{_PAGES}/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"https://api.gem.com/job_board/v0/{path_segment(context.token)}/job_posts/"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a bare array, the whole board, or one posting. It does not name the employer."""
        body = load(payload)
        if isinstance(body, list):
            rows = read_rows(body, lambda row: _listing(row, context))
            return rows.board(total=rows.count)
        if not isinstance(body, dict):
            wrong_shape("a response of Gem is an array or an object")
        refuse_error_body(body)
        if "title" not in body:
            wrong_shape("the object is not a posting")
        return read_rows([body], lambda row: _listing(row, context)).detail()


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("absolute_url"), _PAGES)
    html, text = description([html_or_plain(row.get("content"), row.get("content_plain"))], flags)
    own = inside(row, "location", "name")
    offices = [inside(each, "location", "name") for each in objects(row, "offices")]
    named = [own] if names_a_place(own) else [own, *offices]
    model = remote_named(row.get("location_type"))
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=context.company or None,
        locations=places(named),
        remote=model if model != "unknown" else remote_in([own]),
        employment_type=employment_type(row.get("employment_type")),
        department=next(filter(None, (name(each.get("name")) for each in objects(row, "departments"))), None),
        posted_at=iso_date(row.get("first_published_at"), context),
        updated_at=iso_date(row.get("updated_at"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
