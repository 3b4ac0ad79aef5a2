"""Torre: `POST search.torre.co/opportunities/_search`, the newest opportunities.

Facts: https://torre.ai and a recorded response of 2026. Many rows come from employers' own boards: the link
behind `externalApplicationUrl` is the original.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Context, Detection, ParsedListing, Pay, Progress, Reading, Request
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    iso_date,
    link,
    name,
    objects,
    one_line,
    page_link,
    teaser,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_SITE = "https://torre.ai"


class Torre(OneBoard):
    kind = "torre"
    name = "Torre"
    domains = ("torre.ai", "torre.co")
    page = f"{_SITE}/search/jobs"
    address = "https://search.torre.co/opportunities/_search"
    hosts = ("torre.ai", "torre.co", "search.torre.co")
    board_paths = frozenset({"/", "/search/jobs", "/opportunities/_search"})
    posting_path = re.compile(r"/(?:post|jobs)/(?P<id>[A-Za-z0-9]{6,12})(?:-|\Z)")
    reads_pages = 10

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/post/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        window = f"?size=50&offset={so_far.rows}"
        return Request(self.address + window, headers=self.headers(), body=b"{}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "results"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("total")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    slug = one_line(row.get("slug"), limit=200)
    url, _ = page_link(f"{_SITE}/post/{path_segment(f'{number}-{slug}' if slug else number)}", _SITE)
    companies = [name(each.get("name")) for each in objects(row, "organizations")]
    html, text = teaser(row.get("tagline"), flags)
    where = row.get("locations")
    return ParsedListing(
        external_id=number,
        url=url,
        apply_url=link(row.get("externalApplicationUrl"), _SITE),
        title=title(row.get("objective"), flags),
        company=next(filter(None, companies), None),
        locations=places(where if isinstance(where, list) else []),
        remote="yes" if row.get("remote") is True else "unknown",
        employment_type=employment_type(row.get("type")) or employment_type(row.get("commitment")),
        posted_at=iso_date(row.get("created"), context),
        compensation=_pay(row.get("compensation"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _pay(compensation: object, flags: list[str]) -> Pay | None:
    """The stated range, where the employer shows it; its conversion into dollars an hour is Torre's own."""
    data = inside(compensation, "data")
    if inside(compensation, "visible") is not True or not isinstance(data, dict):
        return None
    return pay(
        data.get("minAmount"),
        data.get("maxAmount"),
        currency=data.get("currency"),
        period=period(data.get("periodicity")),
        flags=flags,
    )
