"""NEOGOV (GovernmentJobs, SchoolJobs): `{host}/SearchEngine/JobsFeed?agency={agency}`, an RSS feed of an
agency's jobs.

Facts: a recorded feed (2026), sanitised by whoever recorded it. The feed does not say how many jobs the
agency has.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    mail_date,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import MENDED, channel_items, child_text
from catalog.adapters.payload import read_elements
from catalog.links import UrlParts

_HOSTS = {"www.governmentjobs.com": "", "www.schooljobs.com": "schools"}
_AGENCY = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,12}")
_RESERVED = frozenset({"home", "search", "api", "static"})
_SECTIONS = (
    ("", "description"),
    ("Examples of duties", "examplesofduties"),
    ("Qualifications", "qualifications"),
    ("Supplemental information", "supplementalinformation"),
)


class Neogov(Adapter):
    kind = "neogov"
    name = "NEOGOV"
    domains = ("governmentjobs.com", "schooljobs.com")

    def found(self, parts: UrlParts) -> Detection | None:
        section, agency, jobs, number = (*parts.segments[:4], *[""] * 4)[:4]
        if parts.host not in _HOSTS or section != "careers" or not _AGENCY.fullmatch(agency):
            return None
        if agency.lower() in _RESERVED:
            return None
        return Detection(
            kind=self.kind,
            token=agency.lower(),
            region=_HOSTS[parts.host],
            posting_id=number if jobs == "jobs" and _NUMBER.fullmatch(number) else None,
            reason="the address of a NEOGOV agency",
        )

    def posting_url(self, found: Detection) -> str:
        board = self.board_url(Context(token=found.token, region=found.region))
        return f"{board}/jobs/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_origin(context)}/careers/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"{_origin(context)}/SearchEngine/JobsFeed?agency={path_segment(context.token)}"

    def headers(self) -> dict[str, str]:
        return {"Accept": "application/rss+xml, application/xml"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the feed. The channel's title is the agency."""
        channel, items, is_whole = channel_items(payload)
        agency = child_text(channel, "title") or context.company
        origin = _origin(context)
        rows = read_elements(items, lambda row: _listing(row, agency, context, origin))
        return rows.page(gap="" if is_whole else MENDED)


def _listing(row: Any, agency: str, context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(child_text(row, "link"), origin)
    where = child_text(row, "location")
    html, text = description([headed(heading, child_text(row, key)) for heading, key in _SECTIONS], flags)
    return ParsedListing(
        external_id=external_id(child_text(row, "jobId") or child_text(row, "guid")[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(child_text(row, "title"), flags),
        company=name(agency),
        locations=places([where]),
        remote=remote_in([where]),
        employment_type=employment_type(child_text(row, "jobType")),
        department=name(child_text(row, "department")),
        posted_at=mail_date(child_text(row, "pubDate"), context),
        compensation=pay(
            child_text(row, "minimumSalary"),
            child_text(row, "maximumSalary"),
            currency=child_text(row, "salaryCurrency"),
            period=period(child_text(row, "salaryInterval")),
            flags=flags,
        ),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _origin(context: Context) -> str:
    return f"https://www.{'schooljobs' if context.region == 'schools' else 'governmentjobs'}.com"
