"""Goldman Sachs: `POST api-higher.gs.com/gateway/api/v1/graphql`, fifty a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the site say of the query
that its pages use.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    joined,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://higher.gs.com"
_PER_PAGE = 50
_QUERY = (
    "query GetRoles($searchQueryInput: RoleSearchQueryInput!)"
    " { roleSearch(searchQueryInput: $searchQueryInput) { totalCount items {"
    " roleId corporateTitle jobTitle jobFunction locations { primary state country city } status division"
    " jobType { code description } externalSource { sourceId } } } }"
)


class GoldmanSachs(OneBoard):
    kind = "goldman_sachs"
    name = "Goldman Sachs"
    domains = ("gs.com",)
    page = f"{_SITE}/results"
    address = "https://api-higher.gs.com/gateway/api/v1/graphql"
    hosts = ("higher.gs.com",)
    board_paths = frozenset({"/", "/results"})
    posting_path = re.compile(r"/roles/(?P<id>\d{3,12})(?:/|\Z)")
    is_experimental = True

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/roles/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        search = {
            "page": {"pageSize": _PER_PAGE, "pageNumber": so_far.pages},
            "sort": {"sortStrategy": "POSTED_DATE", "sortOrder": "DESC"},
            "filters": [],
            "experiences": ["EARLY_CAREER", "PROFESSIONAL"],
            "searchTerm": "",
        }
        body = {"operationName": "GetRoles", "variables": {"searchQueryInput": search}, "query": _QUERY}
        return Request(self.address, headers=self.headers(), body=json.dumps(body).encode())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"data": {"roleSearch": {"totalCount": n, "items": […]}}}`."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "data", "roleSearch", "items"), _listing)
        return rows.page(total=count_in(inside(body, "data", "roleSearch", "totalCount")))


def _listing(row: dict[str, Any]) -> ParsedListing:
    flags: list[str] = []
    number = external_id(inside(row, "externalSource", "sourceId") or row.get("roleId"))
    url, _ = page_link(f"{_SITE}/roles/{path_segment(number)}", _SITE)
    spots = objects(row, "locations")
    where = [joined(each.get("city"), each.get("state"), each.get("country")) for each in spots]
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("jobTitle"), flags),
        company="Goldman Sachs",
        locations=places(where),
        remote=remote_in(where),
        employment_type=employment_type(inside(row, "jobType", "description")),
        department=name(row.get("division")),
        flags=tuple(flags),
    )
