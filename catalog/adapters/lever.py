"""Lever postings: `api.lever.co/v0/postings/{site}`, a bare array of the whole board.

Facts: https://github.com/lever/postings-api and recorded responses of 2024 and 2026.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from catalog.adapters.amounts import pay
from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    Judgement,
    ParsedListing,
    Pay,
    Period,
    Reading,
    Remote,
    Request,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    epoch_date,
    external_id,
    html_or_plain,
    link,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape
from catalog.links import UrlParts

_PAGE_HOSTS = {"jobs.lever.co": "", "jobs.eu.lever.co": "eu"}
_API_HOSTS = {"api.lever.co": "", "api.eu.lever.co": "eu"}
_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # case matters
_FILE = re.compile(r".*\.(?:txt|xml|ico|js|css|json|html?|png|svg)", re.IGNORECASE)
_POSTING_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_DOCUMENT = b"Document not found"
_RESERVED = frozenset({"api", "v0", "v1", "postings", "jobs", "search", "apply", "static", "assets"})
_RESERVED |= {"parseresume"}

# The documentation spells it "on-site", the platform sends "onsite".
_REMOTE: dict[str, Remote] = {"onsite": "no", "on-site": "no", "hybrid": "hybrid", "remote": "yes"}
# Half-monthly and two-weekly pay exist too; no period of ours says them, so it stays unknown.
_PERIODS: dict[str, Period] = {
    "per-year-salary": "year",
    "per-month-salary": "month",
    "per-week-salary": "week",
    "per-day-wage": "day",
    "per-hour-wage": "hour",
    "one-time": "one_time",
}


class Lever(Adapter):
    kind = "lever"
    name = "Lever"
    domains = ("lever.co",)

    def found(self, parts: UrlParts) -> Detection | None:
        if parts.host in _PAGE_HOSTS:
            return _found(parts.segments, _PAGE_HOSTS[parts.host])
        if parts.host in _API_HOSTS and parts.segments[:2] == ("v0", "postings"):
            return _found(parts.segments[2:], _API_HOSTS[parts.host])
        return None

    def posting_url(self, found: Detection) -> str:
        return f"{_board(found.token, found.region)}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return _board(context.token, context.region)

    def list_url(self, context: Context) -> str:
        """Without `mode=json` a browser-like Accept header gets an HTML widget."""
        return f"https://api.{_region(context.region)}lever.co/v0/postings/{context.token}?mode=json"

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        """The page and not the interface, which hides confidential postings as if they were gone."""
        if not _SITE.fullmatch(context.token) or not _POSTING_ID.fullmatch(listing.external_id):
            return None
        url = f"{_board(context.token, context.region)}/{listing.external_id}"
        return Request(url, headers={"Accept": "text/html"})

    def judge(self, status: int, payload: bytes) -> Judgement:
        """Gone where Lever itself says so: a bare 404 may be a proxy's. It says the same of a site that is
        gone, so that the board has to answer besides.
        """
        if status in {404, 410} and (b"lever" in payload[:200_000].lower() or _NO_DOCUMENT in payload[:500]):
            return Judgement("closed", f"the posting's page on Lever is gone (status {status})")
        return Judgement("unknown", f"Lever answers with status {status}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a board, a bare array that is the whole of it, or one posting. It never names the employer."""
        body = load(payload)
        if isinstance(body, list):
            rows = read_rows(body, lambda row: _listing(row, context))
            return rows.board(total=rows.count)
        if not isinstance(body, dict):
            wrong_shape("a Lever response is an array or an object")
        refuse_error_body(body)
        if "text" not in body or "id" not in body:
            wrong_shape("the object is not a posting")
        return read_rows([body], lambda row: _listing(row, context)).detail()


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    board = _board(context.token, context.region)
    categories = row.get("categories")
    said = categories if isinstance(categories, dict) else {}
    others = said.get("allLocations")
    locations = [said.get("location"), *(others if isinstance(others, list) else [])]
    url, raw_url = page_link(row.get("hostedUrl"), board)
    html, text = description(_parts(row), flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("applyUrl"), board),
        title=title(row.get("text"), flags),
        company=context.company or None,
        locations=places(locations),
        remote=_REMOTE.get(one_line(row.get("workplaceType"), limit=50).lower()) or remote_in(locations),
        employment_type=employment_type(said.get("commitment")),
        department=_named(said.get("department")) or _named(said.get("team")),
        posted_at=epoch_date(row.get("createdAt"), context),  # the platform sends no other date
        compensation=_pay(row.get("salaryRange"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _parts(row: dict[str, Any]) -> list[str]:
    """The text in the order of the hosted page: description, lists with headings, closing, pay statement.

    `description` is opening and body in one; some postings have nothing but their lists.
    """
    lists = row.get("lists")
    return [
        html_or_plain(row.get("description"), row.get("descriptionPlain")),
        *map(_list, lists if isinstance(lists, list) else []),
        html_or_plain(row.get("additional"), row.get("additionalPlain")),
        html_or_plain(row.get("salaryDescription"), row.get("salaryDescriptionPlain")),
    ]


def _list(section: object) -> str:
    if not isinstance(section, dict):
        return ""
    heading, items = one_line(section.get("text"), limit=500), section.get("content")
    shown = f"<h3>{escape(heading)}</h3>" if heading else ""
    return shown + (f"<ul>{items}</ul>" if isinstance(items, str) else "")


def _pay(salary: object, flags: list[str]) -> Pay | None:
    if not isinstance(salary, dict):
        return None
    interval = one_line(salary.get("interval"), limit=50).lower()
    return pay(
        salary.get("min"),
        salary.get("max"),
        currency=salary.get("currency"),
        period=_PERIODS.get(interval),
        flags=flags,
    )


def _named(value: object) -> str | None:
    """A name, unless it is the dash that stands for none."""
    text = name(value)
    return text if text and any(map(str.isalnum, text)) else None


def _region(region: str) -> str:
    return "eu." if region == "eu" else ""


def _board(token: str, region: str) -> str:
    return f"https://jobs.{_region(region)}lever.co/{token}"


def _found(segments: tuple[str, ...], region: str) -> Detection | None:
    token, posting = (*segments[:2], "", "")[:2]
    if not _SITE.fullmatch(token) or _FILE.fullmatch(token) or token.lower() in _RESERVED:
        return None
    posting = posting.lower()
    return Detection(
        kind=Lever.kind,
        token=token,
        region=region,
        posting_id=posting if _POSTING_ID.fullmatch(posting) else None,
        reason="the address of a Lever board",
    )
