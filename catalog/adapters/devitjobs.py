"""DevITjobs: `{host}/api/jobsLight`, the whole board of a country in one array.

Facts: https://devitjobs.uk and a recorded response of 2024. The token is the host ("devitjobs.uk",
"devitjobs.com", "swissdevjobs.ch", "germantechjobs.de"). Amounts are a year's, in the country's currency.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay
from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading, Remote
from catalog.adapters.fields import (
    employment_type,
    external_id,
    iso_date,
    joined,
    link,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_named
from catalog.adapters.payload import load, read_rows, wrong_shape
from catalog.links import UrlParts

_CURRENCIES = {
    "devitjobs.uk": "GBP",
    "devitjobs.com": "USD",
    "devitjobs.nl": "EUR",
    "germantechjobs.de": "EUR",
    "swissdevjobs.ch": "CHF",
}
_SLUG = re.compile(r"[\w.-]{3,200}")


class DevITJobs(Adapter):
    kind = "devitjobs"
    name = "DevITjobs"
    domains = tuple(_CURRENCIES)

    def found(self, parts: UrlParts) -> Detection | None:
        host = parts.host.removeprefix("www.")
        if host not in _CURRENCIES:
            return None
        section, slug = (*parts.segments[:2], "", "")[:2]
        is_posting = section == "jobs" and _SLUG.fullmatch(slug) is not None
        return Detection(
            kind=self.kind,
            token=host,
            posting_id=slug if is_posting else None,
            reason="an address of DevITjobs",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{self.board_url(Context(token=found.token))}/jobs/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"https://{context.token if context.token in _CURRENCIES else 'devitjobs.uk'}"

    def list_url(self, context: Context) -> str:
        return f"{self.board_url(context)}/api/jobsLight"

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load(payload)
        if not isinstance(body, list):
            wrong_shape("a response of DevITjobs is an array")
        shown = [row for row in body if not (isinstance(row, dict) and row.get("isPaused") is True)]
        rows = read_rows(shown, lambda row: _listing(row, context, self.board_url(context)))
        hidden = len(body) - len(shown)
        return rows.board(total=rows.count, note=f"{hidden} paused rows left out" if hidden else "")


def _listing(row: dict[str, Any], context: Context, site: str) -> ParsedListing:
    flags: list[str] = []
    slug = external_id(row.get("jobUrl"))
    url, _ = page_link(f"{site}/jobs/{path_segment(slug)}", site)
    return ParsedListing(
        external_id=slug,
        url=url,
        apply_url=link(row.get("redirectJobUrl"), site),
        title=title(row.get("name"), flags),
        company=name(row.get("company")),
        locations=places([joined(row.get("actualCity") or row.get("cityCategory"))]),
        remote=_remote(row),
        employment_type=employment_type(row.get("jobType")),
        department=name(row.get("techCategory")),
        posted_at=iso_date(row.get("activeFrom"), context),
        compensation=pay(
            row.get("annualSalaryFrom"),
            row.get("annualSalaryTo"),
            currency=_CURRENCIES.get(context.token, "GBP"),
            period="year",
            flags=flags,
        ),
        flags=tuple(flags),
    )


def _remote(row: dict[str, Any]) -> Remote:
    if row.get("isFullRemote") is True:
        return "yes"
    return remote_named(row.get("workplace"))
