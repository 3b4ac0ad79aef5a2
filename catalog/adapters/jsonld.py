"""Any page that carries schema.org job postings. The token is the page's address.

A page of one posting says nothing about others, and a page of several does not say that they are all.
"""

from __future__ import annotations

from typing import Any

from catalog.adapters.base import Context, ParsedListing, Reading, UnreadableResponse
from catalog.adapters.job_posting import address_of, listing_of
from catalog.adapters.markup import job_postings, page
from catalog.adapters.one_board import PageBoard
from catalog.adapters.payload import read_rows


class JsonLd(PageBoard):
    kind = "jsonld"
    name = "schema.org in a page"

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html,application/xhtml+xml"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        return read_postings(payload, context, page_url=self.board_url(context))


def read_postings(payload: bytes, context: Context, *, page_url: str) -> Reading:
    """All postings of a page. A posting that names no address has that of the page."""
    root = page(payload)
    postings = job_postings(root)
    if not postings:
        raise UnreadableResponse("no_posting", "the page carries no job posting as schema.org data")
    own = context.names.get("url") or address_of(root)
    is_only = len(postings) == 1

    def read(row: dict[str, Any]) -> ParsedListing:
        return listing_of(row, context, url=(is_only and own) or row.get("url") or own or page_url)

    rows = read_rows(postings, read)
    return rows.detail() if is_only else rows.page()
