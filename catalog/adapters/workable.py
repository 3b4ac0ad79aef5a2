"""Workable: `apply.workable.com/api/v1/widget/accounts/{account}?details=true`, one response an account.

Facts: https://help.workable.com (careers page widget) and recorded responses of 2024 and 2026. A posting in
two places is two rows with one shortcode. The market place (jobs.workable.com) writes its rows in its own
way.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading, UnreadableResponse
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    joined,
    link,
    name,
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_named
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_PAGE_HOST = "apply.workable.com"
_PAGES = f"https://{_PAGE_HOST}"
_ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_SHORTCODE = re.compile(r"[0-9A-F]{6,12}")
_SHORTCODE_IN_LINK = re.compile(
    r"https://apply\.workable\.com/(?:[\w-]+/)?j/(?P<code>[0-9A-F]{6,12})(?:/|\Z)"
)
_RESERVED = frozenset({"j", "api", "static", "assets", "p", "view", "company", "search"})
_VENDORS_OWN = frozenset(
    {"www", "apply", "jobs", "help", "resources", "careers", "app", "api", "status", "id"}
)


class Workable(Adapter):
    kind = "workable"
    name = "Workable"
    domains = ("workable.com",)
    closes_by_absence = True

    def found(self, parts: UrlParts) -> Detection | None:
        account, posting = _named(parts)
        if not _ACCOUNT.fullmatch(account) or account.lower() in _RESERVED:
            return None
        return Detection(
            kind=self.kind,
            token=account,
            posting_id=posting.upper() if _SHORTCODE.fullmatch(posting.upper()) else None,
            reason="the address of a Workable account",
        )

    def posting_url(self, found: Detection) -> str:
        """The short link: the account in front of it says nothing more."""
        return f"{_PAGES}/j/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"{_PAGES}/{path_segment(context.token)}"

    def list_url(self, context: Context) -> str:
        return f"{_PAGES}/api/v1/widget/accounts/{path_segment(context.token)}?details=true"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read an account, `{"name": …, "jobs": […]}`, which is the whole of it, or a company's market
        page.
        """
        if payload.strip() == b"Not Found":
            raise UnreadableResponse("unknown_board", "the platform knows no such account")
        body = load_object(payload, of=self.name)
        jobs = rows_of(body, "jobs")
        if "totalSize" in body:
            company = name(body.get("title")) or context.company or None
            market = read_rows(jobs, lambda row: _market_listing(row, company, context))
            return market.board(total=count_in(body["totalSize"]))
        company = name(body.get("name")) or context.company or None
        rows = read_rows(jobs, lambda row: _listing(row, company, context), is_row_per_place=True)
        return rows.board(total=rows.count)


def _listing(row: dict[str, Any], company: str | None, context: Context) -> ParsedListing:
    flags: list[str] = []
    code = external_id(row.get("shortcode"))
    url, raw_url = page_link(row.get("url") or f"{_PAGES}/j/{path_segment(code)}", _PAGES)
    html, text = description([headed("", row.get("description"))], flags)
    return ParsedListing(
        external_id=code,
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("application_url"), _PAGES),
        title=title(row.get("title"), flags),
        company=company,
        locations=places(_places(row)),
        remote="yes" if row.get("telecommuting") is True else "unknown",  # false is on site or hybrid
        employment_type=employment_type(row.get("employment_type")),
        department=name(row.get("department")),
        posted_at=iso_date(row.get("published_on"), context),  # created_at may be years older
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _places(row: dict[str, Any]) -> list[str]:
    """The places that are shown; a hidden one leaves what the row itself says."""
    shown = [each for each in objects(row, "locations") if each.get("hidden") is not True]
    named = [joined(each.get("city"), each.get("region"), each.get("country")) for each in shown]
    return named or [joined(row.get("city"), row.get("state"), row.get("country"))]


def _market_listing(row: dict[str, Any], company: str | None, context: Context) -> ParsedListing:
    flags: list[str] = []
    code = _SHORTCODE_IN_LINK.match(str(row.get("applyUrl")))
    url, raw_url = page_link(row.get("url"), _PAGES)
    sections = ("description", "requirementsSection", "benefitsSection")
    html, text = description([headed("", row.get(each)) for each in sections], flags)
    said = row.get("locations")
    return ParsedListing(
        external_id=code["code"] if code else external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("applyUrl"), _PAGES),
        title=title(row.get("title"), flags),
        company=name(inside(row, "company", "title")) or company,
        locations=places(said if isinstance(said, list) else []),
        remote=remote_named(row.get("workplace")),
        employment_type=employment_type(row.get("employmentType")),
        department=name(row.get("department")),
        posted_at=iso_date(row.get("created"), context),
        updated_at=iso_date(row.get("updated"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _named(parts: UrlParts) -> tuple[str, str]:
    """Account and posting. A short link (`/j/…`) and the market place name no account."""
    segments = (*parts.segments[:6], *[""] * 6)
    if parts.host == "www.workable.com" and segments[:2] == ("api", "accounts"):
        return segments[2], ""
    if parts.host != _PAGE_HOST:
        label, _, domain = parts.host.partition(".")
        is_account = domain == "workable.com" and label not in _VENDORS_OWN
        return (label if is_account else ""), segments[1] if segments[0] in {"j", "jobs"} else ""
    if segments[0] == "api":
        at = 4 if segments[2] == "widget" else 3
        return (segments[at] if segments[at - 1] == "accounts" else ""), segments[5]
    return segments[0], segments[2] if segments[1] == "j" else ""
