"""Solid.Jobs: `solid.jobs/public-api/offers`, the whole Polish board in one response.

Facts: a recorded response of 2026.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Context, Detection, ParsedListing, Pay, Reading, Remote
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    name,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import load_object, read_rows, rows_of

_SITE = "https://solid.jobs"


class SolidJobs(OneBoard):
    kind = "solidjobs"
    name = "Solid.Jobs"
    domains = ("solid.jobs",)
    page = f"{_SITE}/offers/it"
    address = f"{_SITE}/public-api/offers"
    hosts = ("solid.jobs", "www.solid.jobs")
    board_paths = frozenset({"/", "/offers/it", "/public-api/offers"})
    posting_path = re.compile(r"/o/(?P<id>[a-z0-9]{6,12})(?:/|\Z)")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/o/{found.posting_id}"

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "jobs"), lambda row: _listing(row, context))
        return rows.board(total=rows.count)


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    html, text = description([headed("", row.get("description"))], flags)
    where = row.get("locations")
    hired = "contract" if inside(row, "salary", "employmentType") == "B2B" else row.get("contractTime")
    return ParsedListing(
        external_id=external_id(row.get("jobOfferKey")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("company")),
        locations=places(where if isinstance(where, list) else []),
        remote=_remote(row),
        employment_type=employment_type(hired),
        department=name(row.get("category")),
        posted_at=iso_date(row.get("validFrom"), context),
        updated_at=iso_date(row.get("updatedAt"), context),
        compensation=_pay(row.get("salary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _remote(row: dict[str, Any]) -> Remote:
    if row.get("isHybrid") is True:
        return "hybrid"
    if row.get("isRemote") is True:
        return "yes"
    return "no" if row.get("isRemote") is False and row.get("isHybrid") is False else "unknown"


def _pay(salary: object, flags: list[str]) -> Pay | None:
    if not isinstance(salary, dict):
        return None
    return pay(
        salary.get("from"),
        salary.get("to"),
        currency=salary.get("currency"),
        period=period(salary.get("period")),
        flags=flags,
    )
