"""Eightfold: `{host}/api/apply/v2/jobs?domain={domain}`, ten a page however many are asked for.

Facts: a recorded response of 2026. The token is a name under eightfold.ai, or a whole host and the domain
that its API wants ("explore.jobs.netflix.net|netflix.com"). The stated count may be the one before filters,
and offsets above 2,000 answer empty, so a larger board is never taken for whole. Lists have no texts.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Context, Detection, ParsedListing, Progress, Reading, Remote, Request
from catalog.adapters.fields import (
    description,
    employment_type,
    epoch_date,
    external_id,
    headed,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost, path_segment
from catalog.adapters.location import places, remote_in, remote_named
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of

_PER_PAGE = 10
_DOMAIN = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4}")


class Eightfold(BoardHost):
    kind = "eightfold"
    serves_own_domains = True
    name = "Eightfold"
    domains = ("eightfold.ai",)
    board_path = "/careers"
    posting_path = re.compile(r"/careers/job/(?P<id>\d{1,20})")
    shows_at_most = 2_000

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/careers/job/{found.posting_id}"

    def origin(self, context: Context) -> str:
        return super().origin(Context(token=context.parts("host", "domain")[0]))

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/api/apply/v2/jobs?domain={_domain(context)}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        window = f"&start={so_far.rows}&num={_PER_PAGE}&sort_by=timestamp"
        return Request(self.list_url(context) + window, headers=self.headers())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        url = f"{self.origin(context)}/api/apply/v2/jobs/{posting}?domain={_domain(context)}"
        return Request(url, headers=self.headers())

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page, `{"positions": […], "count": n}`, or one position."""
        body = load_object(payload, of=self.name)
        origin = self.origin(context)
        if "positions" not in body and "name" in body:
            return read_rows([body], lambda row: _listing(row, context, origin)).detail()
        rows = read_rows(rows_of(body, "positions"), lambda row: _listing(row, context, origin))
        return rows.page(total=count_in(body.get("count")))


def _listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, raw_url = page_link(
        row.get("canonicalPositionUrl") or f"{origin}/careers/job/{path_segment(number)}", origin
    )
    html, text = description([headed("", row.get("job_description"))], flags)
    several = row.get("locations")
    named = several if isinstance(several, list) and several else [row.get("location")]
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        title=title(row.get("posting_name") or row.get("name"), flags),
        company=context.company or None,
        locations=places(named),
        remote=_remote(row.get("work_location_option"), named),
        employment_type=employment_type(row.get("type")),
        department=name(row.get("department")),
        posted_at=epoch_date(row.get("t_create"), context),
        updated_at=epoch_date(row.get("t_update"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _remote(option: object, named: list[Any]) -> Remote:
    said = remote_named(option)
    return said if said != "unknown" else remote_in(named)


def _domain(context: Context) -> str:
    """The employer's domain. Most are the name under eightfold.ai with ".com"."""
    host, domain = context.parts("host", "domain")
    domain = domain.lower() or f"{host.lower()}.com"
    return domain if _DOMAIN.fullmatch(domain) else ""
