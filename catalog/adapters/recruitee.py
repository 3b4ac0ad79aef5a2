"""Recruitee (Tellent): `{origin}/api/offers/`, the whole board in one response.

Facts: https://docs.recruitee.com/reference/offers and recorded responses of 2023 to 2026. The same paths
work on an employer's own domain. An unknown company is an error body; its page redirects to the vendor's.
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
    iso_date,
    joined,
    link,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost
from catalog.adapters.location import places
from catalog.adapters.payload import load_object, read_rows, rows_of

# What the platform calls an offer that nobody is shown; any other word hides none.
_UNPUBLISHED = ("draft", "internal", "closed", "archived", "unpublished")
_UTC = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC")


class Recruitee(BoardHost):
    kind = "recruitee"
    serves_own_domains = True
    name = "Recruitee"
    domains = ("recruitee.com",)
    closes_by_absence = True
    posting_path = re.compile(r"/o/(?P<id>[^/]{1,200})")

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/o/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/api/offers/"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read `{"offers": […]}`. Offers that are not published are shown to nobody: left out and counted."""
        offers = rows_of(load_object(payload, of=self.name), "offers")
        shown = [row for row in offers if not (isinstance(row, dict) and row.get("status") in _UNPUBLISHED)]
        origin = self.origin(context)
        rows = read_rows(shown, lambda row: _listing(row, context, origin))
        hidden = len(offers) - len(shown)
        return rows.board(total=rows.count, note=f"{hidden} unpublished rows left out" if hidden else "")


def _listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("careers_url"), origin)
    html, text = description([headed("", row.get(each)) for each in ("description", "requirements")], flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("careers_apply_url"), origin),
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")) or context.company or None,
        locations=places(_places(row)),
        remote=_remote(row),
        employment_type=employment_type(row.get("employment_type_code")),
        department=name(row.get("department")),
        posted_at=_date(row.get("published_at"), context),
        updated_at=_date(row.get("updated_at"), context),
        compensation=_pay(row.get("salary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _places(row: dict[str, Any]) -> list[str]:
    """The places behind the row. `location` hides them where it reads "Remote job"."""
    named = [
        joined(each.get("city") or each.get("name"), each.get("state"), each.get("country"))
        for each in objects(row, "locations")
    ]
    return [place for place in named if place] or [joined(row.get("location"))]


def _remote(row: dict[str, Any]) -> Remote:
    """Three flags, of which two can be true: hybrid says most, then remote. Only "on site" alone says no."""
    if row.get("hybrid") is True:
        return "hybrid"
    if row.get("remote") is True:
        return "yes"
    return "no" if row.get("on_site") is True else "unknown"


def _date(value: object, context: Context) -> str | None:
    """The platform writes "2023-06-21 22:14:02 UTC"."""
    text = value.strip() if isinstance(value, str) else ""
    return iso_date(_UTC.sub(r"\1T\2+00:00", text), context)


def _pay(salary: object, flags: list[str]) -> Pay | None:
    if not isinstance(salary, dict):
        return None
    return pay(
        salary.get("min"),
        salary.get("max"),
        currency=salary.get("currency"),
        period=period(salary.get("period")),
        flags=flags,
    )
