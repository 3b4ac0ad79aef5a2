"""Apple: `jobs.apple.com/en-us/search?page=N`, pages whose data is JSON inside a text inside a script.

Facts: recorded pages of 2026, sanitised by whoever recorded them. Rows of type PIPE are talent pools. Pay
stands only in the prose of a posting's footers.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import (
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
    external_id,
    headed,
    inside,
    iso_date,
    joined,
    name,
    objects,
    one_line,
    page_link,
    teaser,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request
from catalog.adapters.location import places
from catalog.adapters.markup import json_in, page, scripts
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, read_rows, rows_of
from catalog.html import as_paragraphs

_SITE = "https://jobs.apple.com"
_DATA = r"__staticRouterHydrationData\s*=\s*JSON\.parse\("


class Apple(OneBoard):
    kind = "apple"
    name = "Apple"
    domains = ("jobs.apple.com",)
    page = f"{_SITE}/en-us/search"
    address = f"{_SITE}/en-us/search"
    hosts = ("jobs.apple.com",)
    board_paths = frozenset({"/", "/en-us", "/en-us/search"})
    posting_path = re.compile(r"/[a-z]{2}-[a-z]{2}/details/(?P<id>\d{4,12}(?:-\d{1,6})?)(?:/|\Z)")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/en-us/details/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return page_request(f"{self.address}?page={so_far.pages + 1}")

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{_SITE}/en-us/details/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the search, or of a posting."""
        data = inside(_hydration(payload), "loaderData")
        detail = inside(data, "jobDetails", "jobsData")
        if isinstance(detail, dict):
            return read_rows([detail], lambda row: _listing(row, context)).detail()
        search = inside(data, "search")
        if not isinstance(search, dict):
            raise UnreadableResponse("wrong_shape", "the page carries no search and no posting")
        rows = read_rows(rows_of(search, "searchResults"), lambda row: _listing(row, context))
        return rows.page(total=count_in(search.get("totalRecords")))


def _hydration(payload: bytes) -> Any:
    for script in scripts(page(payload)):
        text = json_in(script, _DATA)
        try:
            return json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            continue
    raise UnreadableResponse("no_data", "the page carries no data")


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("positionId"))
    slug = one_line(row.get("transformedPostingTitle"), limit=200)
    ending = f"/{path_segment(slug)}" if slug else ""
    url, _ = page_link(f"{_SITE}/en-us/details/{path_segment(number)}{ending}", _SITE)
    if row.get("type") == "PIPE":
        flags.append("prospect_post")
    html, text = _text(row, flags)
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("postingTitle"), flags),
        company="Apple",
        locations=places([_place(each) for each in objects(row, "locations")]),
        remote="yes" if row.get("homeOffice") is True else "unknown",
        department=name(inside(row, "team", "teamName")),
        posted_at=iso_date(row.get("postDateInGMT"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _text(row: dict[str, Any], flags: list[str]) -> tuple[str, str]:
    """The posting's sections; in a search only its summary, which is no description."""
    if not row.get("description"):
        return teaser(row.get("jobSummary"), flags)
    sections = [
        headed("Summary", _html(row.get("jobSummary"))),
        headed("Description", _html(row.get("description"))),
        headed("Minimum qualifications", _html(row.get("minimumQualifications"))),
        headed("Preferred qualifications", _html(row.get("preferredQualifications"))),
    ]
    footers = [
        headed(each.get("label"), _html(each.get("content")))
        for footer in objects(row, "postingFooters")[:1]
        for each in objects(inside(footer, "localizations") or {}, "en_US")
    ]
    return description([*sections, *footers], flags)


def _html(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return value if "<" in value else as_paragraphs(value)


def _place(location: dict[str, Any]) -> str:
    city = location.get("city") or location.get("name")
    return joined(city, location.get("stateProvince"), location.get("countryName"))
