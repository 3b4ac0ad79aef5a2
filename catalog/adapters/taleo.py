"""Taleo Enterprise: `POST {host}/careersection/rest/jobboard/searchjobs`, twenty-five a page.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of the
interface that its pages use. The portal's number stands only in the page, so the token is
"{tenant}|{section}|{portal}".
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Progress, Reading, Request
from catalog.adapters.fields import external_id, inside, one_line, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_NUMBER = re.compile(r"\d{1,15}")


class Taleo(Adapter):
    kind = "taleo"
    name = "Taleo"
    domains = ("taleo.net",)
    is_experimental = True

    def found(self, parts: UrlParts) -> Detection | None:
        """An address names the tenant and the section, and never the portal that the interface wants."""
        return None

    def posting_url(self, found: Detection) -> str:
        return f"{_section(Context(token=found.token))}/jobdetail.ftl?job={found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_section(context)}/jobsearch.ftl"

    def list_url(self, context: Context) -> str:
        portal = context.parts("tenant", "section", "portal")[2]
        number = portal if _NUMBER.fullmatch(portal) else "0"
        return f"{_origin(context)}/careersection/rest/jobboard/searchjobs?lang=en&portal={number}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        body = {
            "multilineEnabled": False,
            "sortingSelection": {"sortBySelectionParam": "3", "ascendingSortingOrder": "false"},
            "fieldData": {"fields": {"KEYWORD": "", "LOCATION": ""}, "valid": True},
            "filterSelectionParam": {"searchFilterSelections": []},
            "advancedSearchFiltersSelectionParam": {"searchFilterSelections": []},
            "pageNo": so_far.pages + 1,
        }
        headers = {**self.headers(), "tz": "GMT+00:00"}
        return Request(self.list_url(context), headers=headers, body=json.dumps(body).encode())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page: rows have columns in the tenant's order, of which the first is the title."""
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "requisitionList"), lambda row: _listing(row, context))
        return rows.page(total=count_in(inside(body, "pagingData", "totalCount")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("contestNo") or row.get("jobId"))
    section = _section(context)
    url, _ = page_link(f"{section}/jobdetail.ftl?job={path_segment(number)}", section)
    columns = row.get("column")
    said = [one_line(each, limit=1_000) for each in columns] if isinstance(columns, list) else []
    where = next((_place_list(each) for each in said[1:] if each.startswith("[")), [])
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(said[0] if said else "", flags),
        company=context.company or None,
        locations=places(where),
        remote=remote_in(where),
        flags=tuple(flags),
    )


def _place_list(text: str) -> list[str]:
    """Places are a JSON list in a text, each from large to small: "US-Illinois-Chicago"."""
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return []
    named = names if isinstance(names, list) else []
    return [", ".join(reversed(each.split("-"))) for each in named if isinstance(each, str)]


def _origin(context: Context) -> str:
    tenant = context.parts("tenant", "section", "portal")[0].lower()
    return f"https://{tenant if _TENANT.fullmatch(tenant) else 'www'}.taleo.net"


def _section(context: Context) -> str:
    return f"{_origin(context)}/careersection/{path_segment(context.parts('tenant', 'section', 'portal')[1])}"
