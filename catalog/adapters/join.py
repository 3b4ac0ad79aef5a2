"""JOIN: `join.com/companies/{company}`, pages of five jobs whose data is in the page.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of
`__NEXT_DATA__` (`props.pageProps.initialState.jobs`, and `.job` on a posting's page).
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
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    iso_date,
    joined,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_named
from catalog.adapters.markup import job_postings, page, script_json
from catalog.adapters.payload import count_in, read_rows, rows_of
from catalog.links import UrlParts

_SITE = "https://join.com"
_COMPANY = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_POSTING = re.compile(r"(?P<id>\d{4,12})-.*")


class Join(Adapter):
    kind = "join"
    name = "JOIN"
    domains = ("join.com",)
    is_experimental = True

    def found(self, parts: UrlParts) -> Detection | None:
        section, company, posting = (*parts.segments[:3], "", "", "")[:3]
        is_board = parts.host in {"join.com", "www.join.com"} and section == "companies"
        if not is_board or not _COMPANY.fullmatch(company):
            return None
        named = _POSTING.fullmatch(posting)
        return Detection(
            kind=self.kind,
            token=company,
            posting_id=named["id"] if named else None,
            reason="the address of a company on JOIN",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{self.board_url(Context(token=found.token))}/{found.posting_id}-job"

    def board_url(self, context: Context) -> str:
        return f"{_SITE}/companies/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return page_request(f"{self.list_url(context)}?page={so_far.pages + 1}")

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        is_own = listing.url.startswith(f"{self.board_url(context)}/")
        return page_request(listing.url) if is_own else None

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of a company's jobs, or a posting's page."""
        root = page(payload)
        state = inside(script_json(root, "__NEXT_DATA__"), "props", "pageProps", "initialState")
        jobs = inside(state, "jobs")
        if not isinstance(jobs, dict):
            if job_postings(root):
                return read_posting_page(self, payload, context)
            raise UnreadableResponse("wrong_shape", "the page carries no jobs")
        company = name(inside(state, "company", "name")) or context.company or None
        rows = read_rows(rows_of(jobs, "items"), lambda row: _listing(row, company, context))
        return rows.page(total=count_in(inside(jobs, "pagination", "rowCount")))


def _listing(row: dict[str, Any], company: str | None, context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    base = f"{_SITE}/companies/{path_segment(context.token)}"
    url, _ = page_link(f"{base}/{path_segment(str(row.get('idParam') or number))}", base)
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("title"), flags),
        company=company,
        locations=places([joined(inside(row, "city", "cityName"), inside(row, "city", "countryName"))]),
        remote=remote_named(row.get("workplaceType")),
        employment_type=employment_type(inside(row, "employmentType", "name")),
        department=name(inside(row, "category", "name")),
        posted_at=iso_date(row.get("createdAt"), context),
        flags=tuple(flags),
    )
