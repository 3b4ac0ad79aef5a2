"""SmartRecruiters: `api.smartrecruiters.com/v1/companies/{identifier}/postings`, a hundred a page.

Facts: https://developers.smartrecruiters.com/docs/posting-api and recorded responses of 2024 and 2026. A
company that does not exist answers as one without postings does, so an empty board is never taken for a
closed one. Custom fields and creators are left out: they name people, grades and internal pay.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    Judgement,
    ParsedListing,
    Progress,
    Reading,
    Remote,
    Request,
    UnreadableResponse,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    joined,
    link,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places
from catalog.adapters.payload import count_in, load, load_object, read_rows, rows_of
from catalog.links import UrlParts

_API = "https://api.smartrecruiters.com/v1/companies"
_PAGES = "https://jobs.smartrecruiters.com"
_PER_PAGE = 100
_COMPANY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # case matters
_POSTING = re.compile(r"(?P<id>\d{6,20})(?:-.*)?")
_RESERVED = frozenset({"oneclick-ui", "api", "static", "assets", "external-referrals", "sr-jobs", "v1"})
_SECTIONS = ("companyDescription", "jobDescription", "qualifications", "additionalInformation")


class SmartRecruiters(Adapter):
    kind = "smartrecruiters"
    name = "SmartRecruiters"
    domains = ("smartrecruiters.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        company, posting = _named(parts)
        if not _COMPANY.fullmatch(company) or company.lower() in _RESERVED:
            return None
        found = _POSTING.fullmatch(posting)
        return Detection(
            kind=self.kind,
            token=company,
            posting_id=found["id"] if found else None,
            reason="the address of a SmartRecruiters company",
        )

    def posting_url(self, found: Detection) -> str:
        """Lower case: the pages answer to a company's name in any case, and without the title behind the
        id.
        """
        return f"{_PAGES}/{found.token.lower()}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"https://careers.smartrecruiters.com/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"{_API}/{path_segment(context.token)}/postings?limit={_PER_PAGE}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return Request(f"{self.list_url(context)}&offset={so_far.rows}", headers=self.headers())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        return Request(f"{_API}/{path_segment(context.token)}/postings/{posting}", headers=self.headers())

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return self.detail_request(context, listing)

    def judge(self, status: int, payload: bytes) -> Judgement:
        """The posting's own flag. A status alone says nothing: 400 and 404 were seen for open postings."""
        try:
            active = inside(load(payload), "active") if status == 200 else None
        except UnreadableResponse:
            active = None
        if active is False:
            return Judgement("closed", "SmartRecruiters says that the posting is not active")
        if active is True:
            return Judgement("open", "SmartRecruiters says that the posting is active")
        return Judgement("unknown", f"SmartRecruiters answers with status {status}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the list, `{"totalFound": n, "content": […]}`, or one posting."""
        body = load_object(payload, of=self.name)
        if "content" not in body and ("jobAd" in body or "name" in body):
            return read_rows([body], lambda row: _listing(row, context)).detail()
        rows = read_rows(rows_of(body, "content"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("totalFound")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    company = name(inside(row, "company", "identifier")) or context.token
    built = f"{_PAGES}/{path_segment(company)}/{path_segment(number)}"
    url, raw_url = page_link(row.get("postingUrl") or built, _PAGES)
    sections = inside(row, "jobAd", "sections")
    texts = [headed("", inside(sections, each, "text")) for each in _SECTIONS]
    html, text = description(texts, flags)
    location = row.get("location")
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("applyUrl"), _PAGES),
        title=title(row.get("name"), flags),
        company=name(inside(row, "company", "name")) or context.company or None,
        locations=places([_place(location)]),
        remote=_remote(location),
        employment_type=employment_type(inside(row, "typeOfEmployment", "label")),
        department=name(inside(row, "department", "label")),
        posted_at=iso_date(row.get("releasedDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _place(location: object) -> str:
    """The whole location where the platform writes it: "bangalore, , India" loses its gap."""
    whole = inside(location, "fullLocation")
    if isinstance(whole, str) and whole.strip(" ,"):
        return joined(*whole.split(","))
    country = inside(location, "country")
    code = country.upper() if isinstance(country, str) and len(country) == 2 else country
    return joined(inside(location, "city"), inside(location, "region"), code)


def _remote(location: object) -> Remote:
    """Flags. Responses before 2025 have none for hybrid, and then "not remote" does not say "on site"."""
    if inside(location, "hybrid") is True:
        return "hybrid"
    if inside(location, "remote") is True:
        return "yes"
    return "no" if inside(location, "remote") is False and inside(location, "hybrid") is False else "unknown"


def _named(parts: UrlParts) -> tuple[str, str]:
    """Company and posting as the path names them."""
    segments = (*parts.segments[:5], "", "", "", "", "")
    if parts.host == "api.smartrecruiters.com" and segments[:2] == ("v1", "companies"):
        return segments[2], segments[4] if segments[3] == "postings" else ""
    if parts.host == "jobs.smartrecruiters.com" and segments[:2] == ("oneclick-ui", "company"):
        return segments[2], ""
    if parts.host in {"careers.smartrecruiters.com", "jobs.smartrecruiters.com"}:
        return segments[0], segments[1]
    return "", ""
