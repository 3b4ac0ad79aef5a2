"""Paylocity: `recruiting.paylocity.com/recruiting/jobs/All/{company}`, a page that carries all jobs as
data.

Facts: recorded pages of 2026. Texts are on the postings' pages, as schema.org data whose date writes the
UTC clock with the local offset, hours off, and whose pay puts "YEAR" on amounts an hour: the list's date
and only plausible pay are kept.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    ParsedListing,
    Reading,
    Remote,
    Request,
    UnreadableResponse,
)
from catalog.adapters.fields import external_id, inside, iso_date, joined, name, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import names_a_place, places, remote_in
from catalog.adapters.markup import json_in, page, scripts
from catalog.adapters.payload import read_rows, rows_of
from catalog.links import UrlParts

_HOST = "recruiting.paylocity.com"
_PAGES = f"https://{_HOST}/Recruiting/Jobs"
_COMPANY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBER = re.compile(r"\d{1,12}")
_DETAILS = re.compile(
    r"https://recruiting\.paylocity\.com/recruiting/jobs/details/(?P<id>\d{1,12})", re.IGNORECASE
)
_DATA = r"window\.pageData\s*="


class Paylocity(Adapter):
    kind = "paylocity"
    name = "Paylocity"
    domains = ("paylocity.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        """A posting's page does not always name the company."""
        section, word, first, second = (*map(str.lower, parts.segments[1:5]), *[""] * 4)[:4]
        is_posting = word == "details" and _NUMBER.fullmatch(first) is not None
        company = second if is_posting else first
        if parts.host != _HOST or section != "jobs" or word not in {"all", "details"}:
            return None
        if not _COMPANY.fullmatch(company):
            return None
        return Detection(
            kind=self.kind,
            token=company,
            posting_id=first if is_posting else None,
            reason="the address of a Paylocity board",
        )

    def posting_id(self, url: str) -> str | None:
        named = _DETAILS.match(url)
        return named["id"] if named else None

    def posting_url(self, found: Detection) -> str:
        return f"{_PAGES}/Details/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"https://{_HOST}/recruiting/jobs/All/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{_PAGES}/Details/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a board's page (`window.pageData = {"Jobs": […]}`) or a posting's.

        Internal jobs are left out.
        """
        data = _page_data(payload)
        if data is None or "Jobs" not in data:
            return read_posting_page(self, payload, context)
        jobs = rows_of(data, "Jobs")
        shown = [row for row in jobs if not (isinstance(row, dict) and row.get("IsInternal") is True)]
        company = name(data.get("ModuleTitle")) or context.company or None
        rows = read_rows(shown, lambda row: _listing(row, company, context))
        hidden = len(jobs) - len(shown)
        return rows.board(total=rows.count, note=f"{hidden} internal rows left out" if hidden else "")


def _page_data(payload: bytes) -> dict[str, Any] | None:
    for script in scripts(page(payload)):
        found = json_in(script, _DATA)
        if isinstance(found, dict):
            return found
    raise UnreadableResponse("no_data", "the page carries no jobs")


def _listing(row: dict[str, Any], company: str | None, context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("JobId"))
    url, _ = page_link(f"{_PAGES}/Details/{path_segment(number)}", _PAGES)
    label = row.get("LocationName")
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("JobTitle"), flags),
        company=company,
        locations=places([_place(row)]) if row.get("ShouldDisplayLocation") is not False else (),
        remote=_remote(row, label),
        department=name(row.get("HiringDepartment")),
        posted_at=iso_date(row.get("PublishedDate"), context),
        flags=tuple(flags),
    )


def _place(row: dict[str, Any]) -> str:
    """The address; `LocationName` may be a work model or a building."""
    location = row.get("JobLocation")
    address = joined(inside(location, "City"), inside(location, "State"), inside(location, "Country"))
    label = row.get("LocationName")
    return address if inside(location, "City") or not names_a_place(label) else joined(label)


def _remote(row: dict[str, Any], label: object) -> Remote:
    said = remote_in([label])
    return "yes" if said == "unknown" and row.get("IsRemote") is True else said
