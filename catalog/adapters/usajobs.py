"""USAJOBS, the jobs of the United States' government: `data.usajobs.gov/api/search`, five hundred a page.

Facts: https://developer.usajobs.gov/api-reference/get-api-search and a recorded response of 2016. It wants
a key and the mail address that the key belongs to. Amounts are text, and the schedule's name is misused
("Career/Career Conditional").
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period, span
from catalog.adapters.base import Context, Detection, ParsedListing, Pay, Progress, Reading, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    link,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import RowUnreadable, count_in, load_object, read_rows, rows_of

_SITE = "https://www.usajobs.gov"
_PER_PAGE = 500


class USAJobs(OneBoard):
    kind = "usajobs"
    name = "USAJOBS"
    domains = ("usajobs.gov",)
    page = f"{_SITE}/search/results"
    address = "https://data.usajobs.gov/api/search"
    hosts = ("www.usajobs.gov", "data.usajobs.gov")
    board_paths = frozenset({"/", "/search/results", "/api/search"})
    posting_path = re.compile(r"/(?:job|GetJob/ViewDetails)/(?P<id>\d{5,12})\Z")
    shows_at_most = 10_000
    needs_keys = ("api_key", "email")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/job/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        key, email = context.names.get("api_key", ""), context.names.get("email", "")
        headers = {**self.headers(), "Authorization-Key": key, "User-Agent": email}
        window = f"?ResultsPerPage={_PER_PAGE}&Page={so_far.pages + 1}"
        return Request(self.address + window, headers=headers)

    def parse(self, payload: bytes, context: Context) -> Reading:
        result = load_object(payload, of=self.name).get("SearchResult")
        items = rows_of({"SearchResult": result}, "SearchResult", "SearchResultItems")
        rows = read_rows(items, lambda row: _listing(row, context))
        return rows.page(total=count_in(inside(result, "SearchResultCountAll")))


def _listing(item: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    row = item.get("MatchedObjectDescriptor")
    if not isinstance(row, dict):
        raise RowUnreadable("the row has no description")
    url, raw_url = page_link(row.get("PositionURI"), _SITE)
    forms = row.get("ApplyURI")
    details = inside(row, "UserArea", "Details")
    duties = inside(details, "MajorDuties")
    sections = [
        headed("", inside(details, "JobSummary")),
        headed("Duties", "\n".join(map(str, duties)) if isinstance(duties, list) else None),
        headed("Qualifications", row.get("QualificationSummary")),
    ]
    html, text = description(sections, flags)
    schedules = [each.get("Name") for each in objects(row, "PositionSchedule")]
    offers = [each.get("Name") for each in objects(row, "PositionOfferingType")]
    return ParsedListing(
        external_id=external_id(item.get("MatchedObjectId")),
        url=url,
        raw_url=raw_url,
        apply_url=link(forms[0], _SITE) if isinstance(forms, list) and forms else None,
        title=title(row.get("PositionTitle"), flags),
        company=name(row.get("OrganizationName")) or name(row.get("DepartmentName")),
        locations=places([each.get("LocationName") for each in objects(row, "PositionLocation")]),
        remote="yes" if inside(details, "RemoteIndicator") is True else "unknown",
        employment_type=next(filter(None, map(employment_type, [*schedules, *offers])), None),
        department=name(row.get("DepartmentName")),
        posted_at=iso_date(row.get("PublicationStartDate"), context),
        compensation=_pay(row, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _pay(row: dict[str, Any], flags: list[str]) -> Pay | None:
    stated = (
        pay(
            each.get("MinimumRange"),
            each.get("MaximumRange"),
            currency="USD",
            period={"PA": "year", "PH": "hour", "PD": "day"}.get(str(each.get("RateIntervalCode")))  # type: ignore[arg-type]
            or period(each.get("RateIntervalCode")),
            flags=flags,
        )
        for each in objects(row, "PositionRemuneration")
    )
    return span(filter(None, stated))
