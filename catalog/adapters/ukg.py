"""UKG Pro (UltiPro): `POST {host}/{tenant}/JobBoard/{board}/JobBoardView/LoadSearchResults`, fifty a page.

Facts: recorded responses of 2026. `JobLocationType` contradicts itself from tenant to tenant, so the work
model is what title and place say. Texts are on the postings' pages.
"""

from __future__ import annotations

import json
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
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    joined,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import is_markup, json_in, page, scripts
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_PER_PAGE = 50
_HOSTS = {"": "recruiting.ultipro.com", "2": "recruiting2.ultipro.com", "ca": "recruiting.ultipro.ca"}
_REGIONS = {host: region for region, host in _HOSTS.items()}
_TENANT = re.compile(r"[A-Za-z0-9]{3,40}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DATA = r"CandidateOpportunityDetail\("
_PROFILE = {
    "PreferredJobs": [],
    "Educations": [],
    "LicenseAndCertifications": [],
    "Skills": [],
    "hasNoLicenses": False,
    "SkippedSkills": [],
}


class UKG(Adapter):
    kind = "ukg"
    name = "UKG Pro"
    domains = ("ultipro.com", "ultipro.ca")

    def found(self, parts: UrlParts) -> Detection | None:
        region = _REGIONS.get(parts.host)
        tenant, section, board = (*parts.segments[:3], "", "", "")[:3]
        if region is None or section != "JobBoard":
            return None
        if not _TENANT.fullmatch(tenant) or not _UUID.fullmatch(board.lower()):
            return None
        posting = parts.query.get("opportunityId", "").lower()
        return Detection(
            kind=self.kind,
            token=f"{tenant}|{board.lower()}",
            region=region,
            posting_id=posting if _UUID.fullmatch(posting) else None,
            reason="the address of a UKG job board",
        )

    def posting_url(self, found: Detection) -> str:
        board = self.board_url(Context(token=found.token, region=found.region))
        return f"{board}/OpportunityDetail?opportunityId={found.posting_id}"

    def board_url(self, context: Context) -> str:
        tenant, board = context.parts("tenant", "board_id")
        host = _HOSTS.get(context.region, _HOSTS[""])
        named = context.names.get("host", "")
        host = named if named in _REGIONS else host
        return f"https://{host}/{path_segment(tenant)}/JobBoard/{path_segment(board)}"

    def list_url(self, context: Context) -> str:
        return f"{self.board_url(context)}/JobBoardView/LoadSearchResults"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        newest = {"Value": "postedDateDesc", "PropertyName": "PostedDate", "Ascending": False}
        search = {
            "Top": _PER_PAGE,
            "Skip": so_far.rows,
            "QueryString": "",
            "OrderBy": [newest],
            "Filters": [],
        }
        body = {"opportunitySearch": search, "matchCriteria": _PROFILE}
        return Request(self.list_url(context), headers=self.headers(), body=json.dumps(body).encode())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        return page_request(f"{self.board_url(context)}/OpportunityDetail?opportunityId={posting}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"opportunities": […], "totalCount": n}`, single rows under their ids, or a
        posting's page.
        """
        board = self.board_url(context)
        if is_markup(payload):
            rows = read_rows([_opportunity(payload)], lambda row: _listing(row, board, context))
            return rows.detail()
        body = load_object(payload, of=self.name)
        if "opportunities" not in body and body and all(_is_row(each) for each in body.values()):
            return read_rows(list(body.values()), lambda row: _listing(row, board, context)).page()
        rows = read_rows(rows_of(body, "opportunities"), lambda row: _listing(row, board, context))
        return rows.page(total=count_in(body.get("totalCount")))


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and "Id" in value and "Title" in value


def _opportunity(payload: bytes) -> Any:
    for script in scripts(page(payload)):
        found = json_in(script, _DATA)
        if isinstance(found, dict):
            return found
    raise UnreadableResponse("no_posting", "the page shows no opportunity")


def _listing(row: dict[str, Any], board: str, context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("Id"))
    url, _ = page_link(f"{board}/OpportunityDetail?opportunityId={path_segment(number)}", board)
    html, text = description([headed("", row.get("Description"))], flags)
    named = [_place(each) for each in objects(row, "Locations")]
    shown = title(row.get("Title"), flags)
    hours = {True: "full time", False: "part time"}.get(row.get("FullTime") is True)
    return ParsedListing(
        external_id=number,
        url=url,
        title=shown,
        company=context.company or None,
        locations=places(named),
        remote=remote_in([shown, *named, *(_label(each) for each in objects(row, "Locations"))]),
        employment_type=employment_type(hours) if isinstance(row.get("FullTime"), bool) else None,
        department=name(row.get("JobCategoryName")),
        posted_at=iso_date(row.get("PostedDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _label(location: dict[str, Any]) -> str:
    return joined(location.get("LocalizedName") or location.get("LocalizedDescription"))


def _place(location: dict[str, Any]) -> str:
    """City, state and country; the name the employer gave the place where the address has no city."""
    address = location.get("Address")
    city = inside(address, "City") or _label(location)
    return joined(city, inside(address, "State", "Name"), inside(address, "Country", "Name"))
