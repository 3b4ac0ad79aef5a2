"""Gusto's hosted boards: `jobs.gusto.com/boards/{company}`, one page of links.

Facts: a recorded page of 2026. Texts are on the postings' pages.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading, Request
from catalog.adapters.fields import employment_type, external_id, name, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import has_its_end, job_postings, page, visible_text
from catalog.adapters.payload import RowUnreadable, read_elements, wrong_shape
from catalog.links import UrlParts

_SITE = "https://jobs.gusto.com"
_BOARD = re.compile(r"[a-z0-9][a-z0-9-]{8,199}")
_POSTING = re.compile(r"/postings/(?P<id>[\w-]{8,200})\Z")


class Gusto(Adapter):
    kind = "gusto"
    name = "Gusto"
    domains = ("jobs.gusto.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        section, board = (*parts.segments[:2], "", "")[:2]
        if parts.host != "jobs.gusto.com" or section != "boards" or not _BOARD.fullmatch(board):
            return None
        return Detection(kind=self.kind, token=board, reason="the address of a board on Gusto")

    def posting_id(self, url: str) -> str | None:
        named = _POSTING.search(url)
        return named["id"] if named else None

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/postings/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_SITE}/boards/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{_SITE}/postings/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the board's page, which shows all its postings, or a posting's page."""
        root = page(payload)
        if job_postings(root):
            return read_posting_page(self, payload, context)
        headings = root.xpath("//*[@id='job-board-header']//h1")
        if not headings:
            wrong_shape("the page is no board of Gusto")
        company = name(visible_text(headings[0])) or context.company or None
        links = [link for link in root.iter("a") if _POSTING.search(link.get("href") or "")]
        rows = read_elements(links, lambda link: _listing(link, company))
        return rows.board(total=rows.count if has_its_end(payload) else None)


def _listing(link: Any, company: str | None) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(link.get("href"), _SITE)
    named = _POSTING.search(url)
    if not named:
        raise RowUnreadable("the link leads to no posting")
    heading = link.find(".//h3")
    lines = [visible_text(line) for line in link.iter("p")]
    kinds = [kind for line in lines if (kind := employment_type(line))]
    where = [line for line in lines if not employment_type(line)]
    return ParsedListing(
        external_id=external_id(named["id"]),
        url=url,
        raw_url=raw_url,
        title=title(visible_text(heading) if heading is not None else "", flags),
        company=company,
        locations=places(where),
        remote=remote_in(where),
        employment_type=kinds[0] if kinds else None,
        flags=tuple(flags),
    )
