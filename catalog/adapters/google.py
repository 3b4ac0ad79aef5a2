"""Google: `www.google.com/about/careers/applications/jobs/results`, pages of twenty whose data are arrays
by position.

Experimental: no recorded response stands behind it. Facts: what public readers of the site say of the
arrays: id, title, form, duties, qualifications, …, company, …, places, description, …, time.
"""

from __future__ import annotations

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
    epoch_date,
    external_id,
    headed,
    link,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import json_in, page, scripts
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import RowUnreadable, count_in, read_elements

_SITE = "https://www.google.com/about/careers/applications/jobs/results"
_DATA = r"AF_initDataCallback\(\{key:\s*'ds:1'.{0,500}?data:"


class Google(OneBoard):
    kind = "google"
    name = "Google"
    domains = ("www.google.com", "careers.google.com")
    page = f"{_SITE}/"
    address = f"{_SITE}/"
    hosts = ("www.google.com", "careers.google.com")
    board_paths = frozenset({"/about/careers/applications/jobs/results", "/about/careers/applications"})
    posting_path = re.compile(r"/about/careers/applications/jobs/results/(?P<id>\d{8,25})(?:-|\Z)")
    is_experimental = True

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return page_request(f"{self.address}?sort_by=date&page={so_far.pages + 1}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        data = next((found for text in scripts(page(payload)) if (found := json_in(text, _DATA))), None)
        jobs = _at(data, 0)
        if not isinstance(jobs, list):
            raise UnreadableResponse("wrong_shape", "the page carries no jobs")
        rows = read_elements(jobs, lambda row: _listing(row, context))
        return rows.page(total=count_in(_at(data, 2)))


def _listing(row: Any, context: Context) -> ParsedListing:
    flags: list[str] = []
    if not isinstance(row, list):
        raise RowUnreadable("the row is not an array")
    number = external_id(_at(row, 0))
    url, _ = page_link(f"{_SITE}/{path_segment(number)}", _SITE)
    sections = (("", 10), ("Responsibilities", 3), ("Qualifications", 4))
    html, text = description([headed(heading, _at(row, at, 1)) for heading, at in sections], flags)
    spots = _at(row, 9)
    where = [one_line(_at(each, 0), limit=200) for each in spots] if isinstance(spots, list) else []
    return ParsedListing(
        external_id=number,
        url=url,
        apply_url=link(_at(row, 2), _SITE),
        title=title(_at(row, 1), flags),
        company=name(_at(row, 7)) or "Google",
        locations=places(where),
        remote=remote_in(where),
        posted_at=epoch_date(_at(row, 12, 0), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _at(value: Any, *positions: int) -> Any:
    for position in positions:
        value = value[position] if isinstance(value, list) and position < len(value) else None
    return value
