"""JazzHR: `{tenant}.applytojob.com/apply`, one page of links; texts are on the postings' pages.

Facts: recorded pages of 2026. A page that does not exist may come with status 200: its title says "404 Page
Not Found". Two postings may share title and place.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Reading, Request, UnreadableResponse
from catalog.adapters.fields import external_id, name, page_link, title
from catalog.adapters.hosts import BoardHost, path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import has_its_end, job_postings, page, visible_text
from catalog.adapters.payload import RowUnreadable, read_elements, wrong_shape

_LINK = re.compile(r"(?:https://[\w-]+\.applytojob\.com)?/apply/(?P<id>[A-Za-z0-9]{10})/[^/?#]+")


class JazzHR(BoardHost):
    kind = "jazzhr"
    name = "JazzHR"
    domains = ("applytojob.com",)
    board_path = "/apply"
    posting_path = re.compile(r"/apply/(?:jobs/details/)?(?P<id>[A-Za-z0-9]{10})(?:/|\Z)")

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/apply/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/apply"

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{self.origin(context)}/apply/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the board's page, which is the whole of it, or a posting's page."""
        root = page(payload)
        heading = visible_text(root.find(".//title")) if root.find(".//title") is not None else ""
        if "404 Page Not Found" in heading:
            raise UnreadableResponse("unknown_board", "the page is not found, whatever its status says")
        if job_postings(root):
            return read_posting_page(self, payload, context)
        lists = root.xpath("//ul[contains(concat(' ', normalize-space(@class), ' '), ' list-group ')]")
        if not lists:
            wrong_shape("the page is no list of JazzHR postings")
        links = [link for each in lists for link in each.iter("a") if _LINK.match(link.get("href") or "")]
        company = name(heading.removesuffix("- Career Page").strip(" -")) or context.company or None
        origin = self.origin(context)
        rows = read_elements(links, lambda link: _listing(link, company, origin))
        return rows.board(total=rows.count if has_its_end(payload) else None)


def _listing(link: Any, company: str | None, origin: str) -> ParsedListing:
    flags: list[str] = []
    found = _LINK.match(link.get("href"))
    if not found:
        raise RowUnreadable("the link leads to no posting")
    url, raw_url = page_link(link.get("href"), origin)
    beside = _beside(link)
    where = beside.get("fa-map-marker", "")
    return ParsedListing(
        external_id=external_id(found["id"]),
        url=url,
        raw_url=raw_url,
        title=title(visible_text(link), flags),
        company=company,
        locations=places([where]),
        remote=remote_in([where]),
        department=name(beside.get("fa-sitemap")),
        flags=tuple(flags),
    )


def _beside(link: Any) -> dict[str, str]:
    """The texts of the row by the icon in front of them."""
    row = next(link.iterancestors("li"), None)
    if row is None:
        return {}
    icons = ((icon, (icon.get("class") or "").split()) for icon in row.iter("i"))
    return {
        kind: visible_text(icon.getparent())
        for icon, kinds in icons
        for kind in kinds
        if kind.startswith("fa-")
    }
