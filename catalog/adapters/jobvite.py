"""Jobvite: `jobs.jobvite.com/{company}/search`, a page of links; texts are on the postings' pages.

Facts: a recorded page (2026), trimmed by whoever recorded it. The JSON interface is retired: it redirects,
as unknown companies do. A page of the list may say "1-50 of 120".
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    ParsedListing,
    Progress,
    Reading,
    Request,
    UnreadableResponse,
)
from catalog.adapters.fields import external_id, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import gap_of, job_postings, page, spaced_text, visible_text
from catalog.adapters.payload import RowUnreadable, count_in, read_elements
from catalog.links import UrlParts

_HOST = "jobs.jobvite.com"
_COMPANY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_POSTING = re.compile(r"o[A-Za-z0-9]{5,15}")
_RESERVED = frozenset({"support", "api", "static", "careers-static", "__assets__"})
_LINK = re.compile(
    r"(?:https://jobs\.jobvite\.com)?/(?:careers/)?[\w-]+/job/(?P<id>o[A-Za-z0-9]{5,15})(?:[/?#]|\Z)"
)
_COUNT = re.compile(r"\d[\d,]*\s*[-–]\s*\d[\d,]*\s+of\s+(?P<total>\d[\d,]*)")


class Jobvite(Adapter):
    kind = "jobvite"
    name = "Jobvite"
    domains = ("jobvite.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        segments = parts.segments[1:] if parts.segments[:1] == ("careers",) else parts.segments
        company, section, posting = (*segments[:3], "", "", "")[:3]
        if parts.host != _HOST or not _COMPANY.fullmatch(company) or company in _RESERVED:
            return None
        return Detection(
            kind=self.kind,
            token=company,
            posting_id=posting if section == "job" and _POSTING.fullmatch(posting) else None,
            reason="the address of a Jobvite company",
        )

    def posting_url(self, found: Detection) -> str:
        return f"https://{_HOST}/{path_segment(found.token)}/job/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"https://{_HOST}/{path_segment(context.token)}/jobs"

    def list_url(self, context: Context) -> str:
        return f"https://{_HOST}/{path_segment(context.token)}/search"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return page_request(f"{self.list_url(context)}?p={so_far.pages}")

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        company, posting = path_segment(context.token), path_segment(listing.external_id)
        return page_request(f"https://{_HOST}/{company}/job/{posting}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the list, or a posting's page."""
        root = page(payload)
        if job_postings(root):
            return read_posting_page(self, payload, context)
        links = [link for link in root.iter("a") if _LINK.match(link.get("href") or "")]
        text = spaced_text(root)
        if not links and "jv-" not in payload[:200_000].decode("ascii", "replace"):
            raise UnreadableResponse("wrong_shape", "the page is no list of Jobvite postings")
        stated = _COUNT.search(text)
        rows = read_elements(links, lambda link: _listing(link, context))
        total = count_in(stated["total"].replace(",", "")) if stated else None
        return rows.page(total=total, gap=gap_of(payload, rows.rows, text))


def _listing(link: Any, context: Context) -> ParsedListing:
    flags: list[str] = []
    found = _LINK.match(link.get("href"))
    if not found:
        raise RowUnreadable("the link leads to no posting")
    url, raw_url = page_link(link.get("href"), f"https://{_HOST}/")
    where = _location_beside(link)
    return ParsedListing(
        external_id=external_id(found["id"]),
        url=url,
        raw_url=raw_url,
        title=title(visible_text(link), flags),
        company=context.company or None,
        locations=places([where]),
        remote=remote_in([where]),
        flags=tuple(flags),
    )


def _location_beside(link: Any) -> str:
    """The text of the location's cell in the link's row, or inside the link."""
    row = next(link.iterancestors("tr", "li"), link)
    for cell in row.iter():
        if isinstance(cell.tag, str) and "jv-job-list-location" in (cell.get("class") or "").split():
            return visible_text(cell)
    return ""
