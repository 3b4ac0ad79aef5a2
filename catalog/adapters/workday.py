"""Workday: `POST https://{tenant}.{instance}.myworkdayjobs.com/wday/cxs/{tenant}/{site}/jobs`, twenty a
page.

Facts: recorded responses of 2024 and 2026, and https://community.workday.com for what the fields are
called. More than twenty a page is refused, or answered without rows. The total is right on the first page
only: later ones say 0. Many tenants cap it at 2,000, so a board of that size is never taken for whole.
"""

from __future__ import annotations

import json
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
    name,
    one_line,
    page_link,
    relative_date,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in, remote_named
from catalog.adapters.payload import count_in, load, load_object, read_rows, rows_of
from catalog.links import UrlParts

_PER_PAGE = 20
_HOST = re.compile(
    r"(?P<tenant>[a-z0-9][a-z0-9_-]{0,62})\.(?P<instance>wd\d{1,4})\.myworkdayjobs(?:-impl)?\.com"
)
_SHARED_HOST = re.compile(r"(?P<instance>wd\d{1,4})\.myworkdaysite\.com")
_LOCALE = re.compile(r"[a-z]{2}(?:-[A-Z]{2})?")
_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_INSTANCE = re.compile(r"wd\d{1,4}")
_RESERVED = frozenset({"wday", "robots.txt", "sitemap.xml", "favicon.ico"})
_MORE = re.compile(r",\s*More\.\.\.$")
_LEGAL_NUMBER = re.compile(r"^\d{3,}\s+(?=\D)")


class Workday(Adapter):
    kind = "workday"
    name = "Workday"
    domains = ("myworkdayjobs.com", "myworkdaysite.com")
    shows_at_most = 2_000

    def found(self, parts: UrlParts) -> Detection | None:
        tenant, instance, segments = _board(parts)
        if segments and _LOCALE.fullmatch(segments[0]):
            segments = segments[1:]
        if not tenant or not segments or not _SITE.fullmatch(segments[0]) or segments[0] in _RESERVED:
            return None
        is_posting = segments[1:2] in (("job",), ("details",)) and len(segments) > 2
        return Detection(
            kind=self.kind,
            token=f"{tenant}|{instance}|{segments[0]}",
            posting_id=_number(segments[-1] if segments[-1] != "apply" else segments[-2])
            if is_posting
            else None,
            reason="the address of a Workday site",
        )

    def posting_url(self, found: Detection) -> str:
        """Place and title are words in front of the requisition: the number after the last "_" decides."""
        return f"{self.board_url(Context(token=found.token))}/job/{path_segment(found.posting_id or '')}"

    def board_url(self, context: Context) -> str:
        return f"{_origin(context)}/{path_segment(context.parts('tenant', 'instance', 'site')[2])}"

    def list_url(self, context: Context) -> str:
        return f"{self._api(context)}/jobs"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        body = {"limit": _PER_PAGE, "offset": so_far.rows, "searchText": "", "appliedFacets": {}}
        return Request(self.list_url(context), headers=self.headers(), body=json.dumps(body).encode())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        path = listing.url.partition("/job/")[2]
        kept = "/".join(path_segment(segment) for segment in path.split("/") if segment)
        return Request(f"{self._api(context)}/job/{kept}", headers=self.headers()) if kept else None

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return self.detail_request(context, listing)

    def judge(self, status: int, payload: bytes) -> Judgement:
        """404 with the code for what is missing, unless that is the site; else the posting's own flags."""
        try:
            body = load(payload)
        except UnreadableResponse:
            return Judgement("unknown", f"Workday answers with status {status} and no data")
        info = inside(body, "jobPostingInfo")
        if status == 404 and _lacks_the_posting(body):
            return Judgement("closed", "Workday answers that there is no such posting")
        if status != 200 or not isinstance(info, dict):
            return Judgement("unknown", f"Workday answers with status {status}")
        if info.get("posted") is False or info.get("canApply") is False:
            return Judgement("closed", "Workday says that nobody can apply any more")
        return Judgement("open", "Workday shows the posting")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the list, `{"total": n, "jobPostings": […]}`, or one posting."""
        body = load_object(payload, of=self.name)
        if "errorCode" in body and "jobPostings" not in body:
            detail = one_line(body.get("message"), limit=200)
            raise UnreadableResponse("error_body", f"the platform answered with an error: {detail}")
        if isinstance(body.get("jobPostingInfo"), dict):
            company = _company(body, context)
            info = [body["jobPostingInfo"]]
            return read_rows(info, lambda row: _detailed(row, company, context)).detail()
        base = self.board_url(context)
        rows = read_rows(rows_of(body, "jobPostings"), lambda row: _listing(row, base, context))
        total = count_in(body.get("total"))
        return rows.page(total=None if total == 0 and rows.rows else total)

    def _api(self, context: Context) -> str:
        tenant, _, site = context.parts("tenant", "instance", "site")
        return f"{_origin(context)}/wday/cxs/{path_segment(tenant)}/{path_segment(site)}"


def _listing(row: dict[str, Any], base: str, context: Context) -> ParsedListing:
    flags: list[str] = []
    path = row.get("externalPath")
    url, raw_url = page_link(
        f"{base}{path}" if isinstance(path, str) and path.startswith("/") else path, base
    )
    where = _MORE.sub("", one_line(row.get("locationsText"), limit=500))
    return ParsedListing(
        external_id=external_id(_number(url.rpartition("/")[2])),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=context.company or None,
        locations=places([where]),
        remote=_remote(row.get("remoteType"), [where]),
        employment_type=employment_type(row.get("timeType")),
        posted_at=relative_date(row.get("postedOn"), context),
        flags=tuple(flags),
    )


def _detailed(row: dict[str, Any], company: str | None, context: Context) -> ParsedListing:
    """`startDate` is the day of posting. `jobRequisitionLocation` is not where the work is."""
    flags: list[str] = []
    url, raw_url = page_link(row.get("externalUrl"), _origin(context))
    html, text = description([headed("", row.get("jobDescription"))], flags)
    more = row.get("additionalLocations")
    named = [row.get("location"), *(more if isinstance(more, list) else [])]
    return ParsedListing(
        external_id=external_id(_number(url.rpartition("/")[2])),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=company,
        locations=places(named),
        remote=_remote(row.get("remoteType"), named),
        employment_type=employment_type(row.get("timeType")),
        posted_at=iso_date(row.get("startDate"), context) or relative_date(row.get("postedOn"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _company(body: dict[str, Any], context: Context) -> str | None:
    """The legal entity, without the number that tenants write in front of it."""
    entity = name(inside(body, "hiringOrganization", "name"))
    return (_LEGAL_NUMBER.sub("", entity) if entity else None) or context.company or None


def _remote(model: object, named: list[Any]) -> Remote:
    """`remoteType` is the tenant's own wording: "Fully Remote", "Office - Based"."""
    said = remote_named(model)
    said = said if said != "unknown" else remote_in([model])
    return said if said != "unknown" else remote_in(named)


def _number(segment: str) -> str:
    """The requisition behind the words of the title: "Senior-Engineer_R-3500" is R-3500."""
    return segment.rpartition("_")[2] or segment


def _origin(context: Context) -> str:
    tenant, instance, _ = context.parts("tenant", "instance", "site")
    if not _HOST.fullmatch(f"{tenant.lower()}.{instance}.myworkdayjobs.com") or not _INSTANCE.fullmatch(
        instance
    ):
        return "https://www.myworkdayjobs.com"
    return f"https://{tenant.lower()}.{instance}.myworkdayjobs.com"


def _board(parts: UrlParts) -> tuple[str, str, tuple[str, ...]]:
    """Tenant, instance and the path from the site on."""
    segments = parts.segments
    if host := _HOST.fullmatch(parts.host):
        if segments[:2] == ("wday", "cxs"):
            return host["tenant"], host["instance"], segments[3:]
        return host["tenant"], host["instance"], segments
    if host := _SHARED_HOST.fullmatch(parts.host):
        if segments and _LOCALE.fullmatch(segments[0]):
            segments = segments[1:]
        if segments[:1] == ("recruiting",) and len(segments) > 2:
            return segments[1], host["instance"], segments[2:]
    return "", "", ()


def _lacks_the_posting(body: object) -> bool:
    """ "S21": something is not found; its message says if it is the site ("Job_Posting_Site_ID=…")."""
    said = body if isinstance(body, dict) else {}
    return said.get("errorCode") == "S21" and "site" not in str(said.get("message", "")).lower()
