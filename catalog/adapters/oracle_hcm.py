"""Oracle Recruiting: `{host}/hcmRestApi/resources/latest/recruitingCEJobRequisitions`, a hundred a page.

Facts: https://docs.oracle.com/en/cloud/saas/human-resources/farws (recruitingCEJobRequisitions) and
recorded responses of 2026. Without `expand` only the count comes back; limit and offset stand in the finder
and outside it. The count is often one too high, and then the board is not proven whole.
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
    Remote,
    Request,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    iso_date,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in, remote_named
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of, wrong_shape
from catalog.links import UrlParts

_PER_PAGE = 100
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.oraclecloud(?:\d{1,3})?\.com")
_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_NUMBER = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_SECTIONS = ("ExternalDescriptionStr", "ExternalResponsibilitiesStr", "ExternalQualificationsStr")
_API = "hcmRestApi/resources/latest"


class OracleHCM(Adapter):
    kind = "oracle_hcm"
    name = "Oracle Recruiting"
    domains = ("oraclecloud.com", *(f"oraclecloud{number}.com" for number in range(100)))
    shows_at_most = 10_000

    def found(self, parts: UrlParts) -> Detection | None:
        segments = parts.segments
        if not _HOST.fullmatch(parts.host) or segments[:2] != ("hcmUI", "CandidateExperience"):
            return None
        if "sites" not in segments[2:4]:
            return None
        at = segments.index("sites", 2)
        site, section, number = (*segments[at + 1 : at + 4], "", "", "")[:3]
        if not _SITE.fullmatch(site):
            return None
        is_posting = section in {"job", "requisitions"} and _NUMBER.fullmatch(number) is not None
        return Detection(
            kind=self.kind,
            token=f"{parts.host}|{site}",
            posting_id=number if is_posting else None,
            reason="the address of an Oracle Recruiting site",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_page(Context(token=found.token))}/job/{path_segment(found.posting_id or '')}"

    def board_url(self, context: Context) -> str:
        return f"{_page(context)}/jobs"

    def list_url(self, context: Context) -> str:
        return f"{_origin(context)}/{_API}/recruitingCEJobRequisitions"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        site = path_segment(context.parts("host", "site")[1])
        window = f"limit={_PER_PAGE},offset={so_far.rows}"
        query = (
            "?onlyData=true&expand=requisitionList.workLocation,requisitionList.secondaryLocations"
            f"&finder=findReqs;siteNumber={site},{window},sortBy=POSTING_DATES_DESC"
            f"&limit={_PER_PAGE}&offset={so_far.rows}"
        )
        return Request(self.list_url(context) + query, headers=self.headers())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        site = path_segment(context.parts("host", "site")[1])
        finder = f'ById;Id="{path_segment(listing.external_id)}",siteNumber={site}'
        query = f"onlyData=true&expand=all&finder={finder}".replace('"', "%22")
        url = f"{_origin(context)}/{_API}/recruitingCEJobRequisitionDetails?{query}"
        return Request(url, headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the list (`items[0].requisitionList`, `TotalJobsCount`) or one requisition."""
        body = load_object(payload, of=self.name)
        items = [body] if "Id" in body and "Title" in body else rows_of(body, "items")
        if not items or not isinstance(items[0], dict):
            wrong_shape("the response holds no search and no requisition")
        if "requisitionList" not in items[0]:
            return read_rows(items[:1], lambda row: _listing(row, context)).detail()
        rows = read_rows(rows_of(items[0], "requisitionList"), lambda row: _listing(row, context))
        return rows.page(total=count_in(items[0].get("TotalJobsCount")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("Id"))
    page = _page(context)
    url, _ = page_link(f"{page}/job/{path_segment(number)}", page)
    named = [row.get("PrimaryLocation"), *(each.get("Name") for each in objects(row, "secondaryLocations"))]
    html, text = description([headed("", row.get(each)) for each in _SECTIONS], flags)
    posted = iso_date(row.get("PostedDate"), context) or iso_date(row.get("ExternalPostedStartDate"), context)
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("Title"), flags),
        company=context.company or None,
        locations=places(named),
        remote=_remote(row, named),
        employment_type=employment_type(row.get("JobSchedule")) or employment_type(row.get("ContractType")),
        department=name(row.get("Department")) or name(row.get("Organization")),
        posted_at=posted,
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _remote(row: dict[str, Any], named: list[Any]) -> Remote:
    code = one_line(row.get("WorkplaceTypeCode"), limit=50).upper().removeprefix("ORA_")
    for said in (remote_named(code), remote_named(row.get("WorkplaceType"))):
        if said != "unknown":
            return said
    return remote_in(named)


def _origin(context: Context) -> str:
    host = context.parts("host", "site")[0].lower()
    return f"https://{host if _HOST.fullmatch(host) else 'www.oraclecloud.com'}"


def _page(context: Context) -> str:
    site = path_segment(context.parts("host", "site")[1])
    return f"{_origin(context)}/hcmUI/CandidateExperience/en/sites/{site}"
