"""Zoho Recruit: `{tenant}.zohorecruit.com/jobs/Careers`, a page that carries its jobs as data.

Experimental: no recorded response stands behind it. Facts: what public readers of the platform say of the
page's hidden field with all openings.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading, UnreadableResponse
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    iso_date,
    joined,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import page
from catalog.adapters.payload import read_rows
from catalog.links import UrlParts

_HOST = re.compile(r"(?P<tenant>[a-z0-9][a-z0-9-]{0,62})\.zohorecruit\.(?P<tld>com|eu|in|com\.au)")
_POSTING = re.compile(r"/jobs/[\w-]+/(?P<id>\d{6,25})(?:/|\Z)")


class ZohoRecruit(Adapter):
    kind = "zoho_recruit"
    name = "Zoho Recruit"
    domains = ("zohorecruit.com", "zohorecruit.eu", "zohorecruit.in", "zohorecruit.com.au")
    is_experimental = True

    def found(self, parts: UrlParts) -> Detection | None:
        host = _HOST.fullmatch(parts.host)
        if not host or host["tenant"] in {"www", "help", "static"} or parts.segments[:1] != ("jobs",):
            return None
        posting = _POSTING.match(parts.path)
        return Detection(
            kind=self.kind,
            token=host["tenant"],
            region="" if host["tld"] == "com" else host["tld"],
            posting_id=posting["id"] if posting else None,
            reason="the address of a Zoho Recruit board",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{self.board_url(Context(token=found.token, region=found.region))}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        host = f"{context.token}.zohorecruit.{context.region or 'com'}"
        return f"https://{host if _HOST.fullmatch(host) else 'www.zohorecruit.com'}/jobs/Careers"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        root = page(payload)
        jobs = next(
            (found for field in root.iter("input") if (found := _jobs(field.get("value"))) is not None), None
        )
        if jobs is None:
            raise UnreadableResponse("wrong_shape", "the page carries no jobs")
        rows = read_rows(jobs, lambda row: _listing(row, context, self.board_url(context)))
        return rows.board(total=rows.count)


def _jobs(value: str | None) -> list[Any] | None:
    """The openings in a field of the page; None where it holds something else."""
    try:
        rows = json.loads(value or "null")
    except (ValueError, RecursionError):
        return None
    is_openings = isinstance(rows, list) and all(
        isinstance(row, dict) and "Posting_Title" in row for row in rows
    )
    return rows if is_openings else None


def _listing(row: dict[str, Any], context: Context, board: str) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, _ = page_link(f"{board}/{path_segment(number)}", board)
    html, text = description([headed("", row.get("Job_Description"))], flags)
    where = joined(row.get("City"), row.get("State"), row.get("Country"))
    is_remote = row.get("Remote_Job") in (True, "true")
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("Posting_Title"), flags),
        company=context.company or None,
        locations=places([where]),
        remote="yes" if is_remote else remote_in([where]),
        employment_type=employment_type(row.get("Job_Type")),
        department=name(row.get("Industry")),
        posted_at=iso_date(row.get("Date_Opened"), context),
        compensation=pay_in_field(row.get("Salary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
