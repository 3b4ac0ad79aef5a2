"""Amazon: `www.amazon.jobs/en/search.json`, a hundred a page.

Facts: recorded rows of 2026. More than a hundred a page, or an offset above 10,000, answers without rows.
`id_icims` is the public number; locations are JSON in text; pay stands only in prose, as the last lines of
the qualifications.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Remote, Request
from catalog.adapters.fields import (
    day,
    description,
    employment_type,
    external_id,
    headed,
    link,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import count_in, load, read_rows, refuse_error_body, rows_of, wrong_shape

_SITE = "https://www.amazon.jobs"
_PER_PAGE = 100
_MODELS: dict[str, Remote] = {"ONSITE": "no", "VIRTUAL": "yes", "HYBRID": "hybrid"}
_SECTIONS = (
    ("", "description"),
    ("Basic qualifications", "basic_qualifications"),
    ("Preferred qualifications", "preferred_qualifications"),
)


class Amazon(OneBoard):
    kind = "amazon"
    name = "Amazon"
    domains = ("amazon.jobs",)
    page = f"{_SITE}/en/search"
    address = f"{_SITE}/en/search.json"
    hosts = ("www.amazon.jobs", "amazon.jobs")
    board_paths = frozenset({"/", "/en", "/en/search", "/en/search.json"})
    posting_path = re.compile(
        r"/[a-z]{2}(?:-[a-z]{2})?/jobs/(?P<id>[A-Z]{0,3}\d{4,12})(?:/|\Z)", re.IGNORECASE
    )
    shows_at_most = 10_000

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/en/jobs/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        window = f"?offset={so_far.rows}&result_limit={_PER_PAGE}&sort=recent"
        return Request(self.address + window, headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"hits": n, "jobs": […]}`, or the bare array of its jobs."""
        body = load(payload)
        if isinstance(body, list):
            return read_rows(body, lambda row: _listing(row, context)).page()
        if not isinstance(body, dict):
            wrong_shape("a response of Amazon is an object")
        refuse_error_body(body)
        rows = read_rows(rows_of(body, "jobs"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("hits")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("job_path"), _SITE)
    html, text = description([headed(heading, row.get(key)) for heading, key in _SECTIONS], flags)
    spots = _spots(row)
    named = [each.get("normalizedLocation") for each in spots] or [row.get("normalized_location")]
    models = {_MODELS.get(str(each.get("type")), "unknown") for each in spots}
    return ParsedListing(
        external_id=external_id(row.get("id_icims") or row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("url_next_step"), _SITE),
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")),
        locations=places(named),
        remote=models.pop() if len(models) == 1 else "unknown",
        employment_type=employment_type(row.get("job_schedule_type")),
        department=name(row.get("job_category")),
        posted_at=day(one_line(row.get("posted_date"), limit=40), "%B %d, %Y", context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _spots(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The places, each of which is JSON in a text."""
    spots = []
    several = row.get("locations")
    for each in several[:100] if isinstance(several, list) else []:
        try:
            spot = json.loads(each) if isinstance(each, str) and len(each) < 10_000 else None
        except (ValueError, RecursionError):
            spot = None
        if isinstance(spot, dict):
            spots.append(spot)
    return spots
