"""Y Combinator's Work at a Startup: `www.ycombinator.com/companies/{company}/jobs`, a page that carries its
data.

Facts: recorded pages of 2026. A list's "8 months" is no date: the date is on the posting's page, as
schema.org data, with the text. Founders' names in the page are personal data, and left there.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    ParsedListing,
    Reading,
    Request,
    UnreadableResponse,
)
from catalog.adapters.fields import employment_type, inside, name, one_line, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import job_postings, page
from catalog.adapters.payload import RowUnreadable, read_rows, rows_of
from catalog.links import UrlParts

_SITE = "https://www.ycombinator.com"
_HOSTS = frozenset({"www.ycombinator.com", "ycombinator.com"})
_COMPANY = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_POSTING = re.compile(r"(?P<id>[A-Za-z0-9_]{6,10})(?:-.*)?")


class WorkAtAStartup(Adapter):
    kind = "workatastartup"
    name = "Work at a Startup"
    domains = ("workatastartup.com", "ycombinator.com")

    def found(self, parts: UrlParts) -> Detection | None:
        section, company, jobs, posting = (*parts.segments[:4], *[""] * 4)[:4]
        if parts.host not in _HOSTS or (section, jobs) != ("companies", "jobs"):
            return None
        if not _COMPANY.fullmatch(company):
            return None
        named = _POSTING.fullmatch(posting)
        return Detection(
            kind=self.kind,
            token=company,
            posting_id=named["id"] if named else None,
            reason="the jobs of a company of Y Combinator",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{self.board_url(Context(token=found.token))}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_SITE}/companies/{path_segment(context.token)}/jobs"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(listing.url) if listing.url.startswith(f"{_SITE}/companies/") else None

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a company's page, which shows all its postings, or a posting's page."""
        root = page(payload)
        if job_postings(root):
            return read_posting_page(self, payload, context)
        data = next(
            (found for each in root.iter("div") if (found := _page_data(each.get("data-page")))), None
        )
        if data is None:
            raise UnreadableResponse("wrong_shape", "the page carries no postings")
        rows = read_rows(rows_of(data, "jobPostings"), lambda row: _listing(row, context))
        return rows.board(total=rows.count)


def _page_data(text: str | None) -> dict[str, Any] | None:
    try:
        props = inside(json.loads(text or "null"), "props")
    except (ValueError, RecursionError):
        return None
    return props if isinstance(props, dict) and "jobPostings" in props else None


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    named = _POSTING.fullmatch(url.rpartition("/")[2])
    if not named:
        raise RowUnreadable("the row's link names no posting")
    where = one_line(row.get("location"), limit=1_000)
    return ParsedListing(
        external_id=named["id"],
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("companyName")) or context.company or None,
        locations=places(where.split(" / ")),
        remote=remote_in([where]),
        employment_type=employment_type(row.get("type")),
        department=name(row.get("prettyRole")),
        compensation=pay_in_field(row.get("salaryRange"), flags),
        flags=tuple(flags),
    )
