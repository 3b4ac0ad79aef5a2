"""Any page that carries schema.org job postings. The token is the page's address.

A page of one posting says nothing about others, and a page of several does not say that they are all.
"""

from __future__ import annotations

from typing import Any

from catalog.adapters.base import Context, ParsedListing, Reading, UnreadableResponse
from catalog.adapters.job_posting import address_of, listing_of
from catalog.adapters.markup import has_its_end, job_postings, page, visible_text
from catalog.adapters.one_board import PageBoard
from catalog.adapters.payload import read_rows

_SHORT = 400  # characters; an error page says no more


class JsonLd(PageBoard):
    kind = "jsonld"
    name = "schema.org in a page"

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html,application/xhtml+xml"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        return read_postings(payload, context, page_url=self.board_url(context))


def _none_in(payload: bytes, root: Any) -> UnreadableResponse:
    """Only a page that came whole and shows something else is known to carry no posting."""
    text = visible_text(root)
    if not has_its_end(payload):
        return UnreadableResponse("truncated", "the page is cut short, and no posting was found in it")
    if b"JobPosting" in payload:
        return UnreadableResponse("wrong_shape", "the page's job posting cannot be read")
    if any((each.get("type") or "").lower() == "password" for each in root.iter("input")):
        return UnreadableResponse("wrong_shape", "the page asks for a password")
    if len(text) < _SHORT:
        return UnreadableResponse("wrong_shape", f"the page shows nothing but: {text[:100]}")
    return UnreadableResponse("no_posting", "the page carries no job posting as schema.org data")


def read_postings(payload: bytes, context: Context, *, page_url: str) -> Reading:
    """All postings of a page. A posting that names no address has that of the page."""
    root = page(payload)
    postings = job_postings(root)
    if not postings:
        raise _none_in(payload, root)
    own = context.names.get("url") or address_of(root)
    is_only = len(postings) == 1

    def read(row: dict[str, Any]) -> ParsedListing:
        return listing_of(row, context, url=(is_only and own) or row.get("url") or own or page_url)

    rows = read_rows(postings, read)
    return rows.detail() if is_only else rows.page()
