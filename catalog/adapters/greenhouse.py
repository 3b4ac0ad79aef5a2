"""Greenhouse job boards: `boards-api.greenhouse.io`, one response a board.

Facts: https://developers.greenhouse.io/job-board.html and recorded responses of 2024 and 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from catalog.adapters.amounts import amount, pay, span
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
    external_id,
    iso_date,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import names_a_place, places, remote_in
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape
from catalog.links import UrlParts

_PAGE_HOSTS = {
    "boards.greenhouse.io": "",
    "job-boards.greenhouse.io": "",
    "boards.eu.greenhouse.io": "eu",
    "job-boards.eu.greenhouse.io": "eu",
}
_API_HOSTS = {"boards-api.greenhouse.io": "", "api.greenhouse.io": ""}  # boards of both regions
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_POSTING_ID = re.compile(r"[0-9]{1,20}")
_RESERVED = frozenset({"embed", "v1", "jobs", "job", "api", "assets", "packs", "users", "static", "internal"})

# Tenants' own fields; a few say what the platform has no field for.
_EMPLOYMENT_FIELD = re.compile(
    r"employment|commitment|(?:job|time|contract|position|worker) type", re.IGNORECASE
)
_WORK_MODEL_FIELD = re.compile(r"work\s?place type|work (?:model|arrangement)|location type", re.IGNORECASE)

_PERIOD_WORDS: tuple[tuple[Period, re.Pattern[str]], ...] = (
    ("hour", re.compile(r"\bhour|/\s?hr?\b", re.IGNORECASE)),
    ("month", re.compile(r"\bmonth", re.IGNORECASE)),
    ("year", re.compile(r"\bannual|\byear|\bper annum|/\s?yr?\b", re.IGNORECASE)),
)


class Greenhouse(Adapter):
    kind = "greenhouse"
    name = "Greenhouse"
    domains = ("greenhouse.io",)
    own_page_marks = ("gh_jid",)

    def found(self, parts: UrlParts) -> Detection | None:
        if parts.host in _API_HOSTS:
            return _found(_api_path(parts), region="")
        if parts.host in _PAGE_HOSTS:
            return _found(_page_path(parts), region=_PAGE_HOSTS[parts.host])
        return None

    def posting_url(self, found: Detection) -> str:
        return f"{_board(found.token, found.region)}/jobs/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return _board(context.token, context.region)

    def list_url(self, context: Context) -> str:
        """Without `content` there are no texts, departments and offices; without the other no pay."""
        return f"https://boards-api.greenhouse.io/v1/boards/{context.token}/jobs?content=true&pay_transparency=true"

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        if not _TOKEN.fullmatch(context.token) or not _POSTING_ID.fullmatch(listing.external_id):
            return None
        url = f"https://boards-api.greenhouse.io/v1/boards/{context.token}/jobs/{listing.external_id}"
        return Request(url, headers=self.headers())

    def judge(self, status: int, payload: bytes) -> Judgement:
        """A posting that is over is 404 with the platform's own words; a board that is gone says others."""
        if status == 404 and b"Job not found" in payload[:500]:
            return Judgement("closed", "Greenhouse answers: Job not found")
        if status == 200 and b'"absolute_url"' in payload:
            return Judgement("open", "Greenhouse shows the posting")
        return Judgement("unknown", f"Greenhouse answers with status {status}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a board (`{"jobs": […], "meta": {"total": n}}`) or one posting.

        A board is complete when its distinct postings, read, are as many as `meta.total` says.
        """
        body = load(payload)
        if not isinstance(body, dict):
            wrong_shape("a Greenhouse response is an object")
        refuse_error_body(body)
        if "jobs" not in body and "title" in body:
            return read_rows([body], lambda row: _listing(row, context)).detail()
        jobs, meta = body.get("jobs"), body.get("meta")
        if not isinstance(jobs, list):
            wrong_shape("the response holds no list of jobs")
        total = meta.get("total") if isinstance(meta, dict) else None
        stated = total if isinstance(total, int) and not isinstance(total, bool) else None
        return read_rows(jobs, lambda row: _listing(row, context)).board(total=stated)


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("absolute_url"), _board(context.token, context.region))
    html, text = description(_content(row), flags)
    if "internal_job_id" in row and row["internal_job_id"] is None:
        flags.append("prospect_post")  # a talent pool: no job stands behind it
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")) or context.company or None,
        locations=_places(row),
        remote=_remote(row),
        employment_type=next(filter(None, map(employment_type, _metadata(row, _EMPLOYMENT_FIELD))), None),
        department=next(filter(None, (name(each.get("name")) for each in objects(row, "departments"))), None),
        posted_at=iso_date(row.get("first_published"), context),  # updated_at moves on every mass edit
        updated_at=iso_date(row.get("updated_at"), context),
        compensation=_pay(row, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _content(row: dict[str, Any]) -> list[str]:
    """The description, which arrives as HTML escaped once more; an escaped text has no "<" of its own."""
    content = row.get("content")
    if not isinstance(content, str):
        return []
    return [content if "<" in content else unescape(content)]


def _location(row: dict[str, Any]) -> str:
    location = row.get("location")
    return one_line(location.get("name"), limit=2_000) if isinstance(location, dict) else ""


def _places(row: dict[str, Any]) -> tuple[str, ...]:
    """The posting's own location; its offices where that says only "Hybrid", or nothing."""
    location = _location(row)
    if names_a_place(location) or remote_in([location]) == "yes":
        return places([location])
    offices = [
        office.get("location") if names_a_place(office.get("location")) else office.get("name")
        for office in objects(row, "offices")
    ]
    return places([location, *offices])


def _remote(row: dict[str, Any]) -> Remote:
    """There is no flag: the location's words, else a field of the tenant's own."""
    said = remote_in([_location(row)])
    return said if said != "unknown" else remote_in(_metadata(row, _WORK_MODEL_FIELD))


def _pay(row: dict[str, Any], flags: list[str]) -> Pay | None:
    """Ranges in cents, without a period unless the tenant's words beside them name one."""
    stated = (
        pay(
            _units(each.get("min_cents")),
            _units(each.get("max_cents")),
            currency=each.get("currency_type"),
            period=_period(
                f"{one_line(each.get('title'), limit=200)} {one_line(each.get('blurb'), limit=500)}"
            ),
            flags=flags,
        )
        for each in objects(row, "pay_input_ranges")
    )
    return span(filter(None, stated))


def _units(cents: object) -> float | None:
    value = amount(cents)
    return None if value is None else value / 100


def _period(words: str) -> Period | None:
    named = [period for period, pattern in _PERIOD_WORDS if pattern.search(words)]
    return named[0] if len(named) == 1 else None


def _metadata(row: dict[str, Any], wanted: re.Pattern[str]) -> Iterator[object]:
    """The values of the tenant's own fields whose name is wanted."""
    for field in objects(row, "metadata"):
        if wanted.search(one_line(field.get("name"), limit=200)):
            value = field.get("value")
            yield from value if isinstance(value, list) else [value]


def _board(token: str, region: str) -> str:
    return f"https://job-boards.{'eu.' if region == 'eu' else ''}greenhouse.io/{token}"


def _page_path(parts: UrlParts) -> tuple[str, str]:
    """Token and posting of a hosted page; in an embed both are parameters, and `token` is the posting."""
    if parts.segments[:1] == ("embed",):
        return parts.query.get("for", ""), parts.query.get("token", "")
    return _token_and_posting(parts.segments)


def _api_path(parts: UrlParts) -> tuple[str, str]:
    return _token_and_posting(parts.segments[2:]) if parts.segments[:2] == ("v1", "boards") else ("", "")


def _token_and_posting(segments: tuple[str, ...]) -> tuple[str, str]:
    token, section, posting = (*segments[:3], "", "", "")[:3]
    return token, posting if section == "jobs" else ""


def _found(named: tuple[str, str], *, region: str) -> Detection | None:
    token, posting = named
    if not _TOKEN.fullmatch(token) or token.lower() in _RESERVED:
        return None
    return Detection(
        kind=Greenhouse.kind,
        token=token,
        region=region,
        posting_id=posting if _POSTING_ID.fullmatch(posting) else None,
        reason="the address of a Greenhouse board",
    )
