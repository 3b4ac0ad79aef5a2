"""Ashby job boards: `api.ashbyhq.com/posting-api/job-board/{organisation}`, one response a board.

Facts: https://developers.ashbyhq.com/docs/public-job-posting-api and recorded responses of 2024 to 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from catalog.adapters.amounts import pay, span
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
    UnreadableResponse,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    html_or_plain,
    inside,
    iso_date,
    link,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape
from catalog.links import UrlParts

_PAGE_HOST = "jobs.ashbyhq.com"
_API_HOST = "api.ashbyhq.com"
# Organisations may hold spaces ("Flock Safety") and letters of any script.
_ORGANISATION = re.compile(r"[^\W_](?:[\w .,&'\u2019()+-]{0,98}[\w.)+])?")
_FILE = re.compile(r".*\.(?:txt|xml|ico|js|css|json|html?|png|svg)", re.IGNORECASE)
_POSTING_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RESERVED = frozenset({"api", "embed", "static", "assets", "jobs", "job-board", "posting-api", "meeting"})

_REMOTE: dict[str, Remote] = {"onsite": "no", "hybrid": "hybrid", "remote": "yes"}
_PERIODS: dict[str, Period] = {
    "1 YEAR": "year",
    "1 MONTH": "month",
    "1 WEEK": "week",
    "1 DAY": "day",
    "1 HOUR": "hour",
    "1 TIME": "one_time",
}


class Ashby(Adapter):
    kind = "ashby"
    name = "Ashby"
    domains = ("ashbyhq.com",)
    closes_by_absence = True
    own_page_marks = ("ashby_jid",)

    def found(self, parts: UrlParts) -> Detection | None:
        if parts.host == _PAGE_HOST:
            return _found(parts.segments)
        if parts.host == _API_HOST and parts.segments[:2] == ("posting-api", "job-board"):
            return _found(parts.segments[2:3])
        return None

    def posting_url(self, found: Detection) -> str:
        """Lower case, because the platform answers to an organisation's name in any case."""
        return f"{_board(found.token.lower())}/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return _board(context.token)

    def list_url(self, context: Context) -> str:
        organisation = quote(context.token, safe="")
        return f"https://{_API_HOST}/posting-api/job-board/{organisation}?includeCompensation=true"

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        """The board: there is no answer for one posting, and an unlisted row is open to who has its link."""
        return Request(self.list_url(context), headers=self.headers())

    def judge_listing(self, listing: ParsedListing, status: int, payload: bytes) -> Judgement:
        try:
            jobs = inside(load(payload), "jobs") if status == 200 else None
        except UnreadableResponse:
            jobs = None
        if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
            return Judgement("unknown", f"Ashby answers with status {status} and no list of jobs")
        for job in jobs:
            if listing.external_id in (job.get("id"), str(job.get("jobUrl")).rpartition("/")[2]):
                shown = "only to who has its link" if job.get("isListed") is False else "in its list"
                return Judgement("open", f"Ashby shows the posting {shown}")
        return Judgement("closed", "Ashby leaves the posting out of the whole list, unlisted rows and all")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a board, `{"jobs": […]}`, which is the whole of it, or one posting out of it.

        Unlisted rows are not shown to anybody: they are left out and counted. An organisation that does
        not exist is "Not Found" in plain text, or null in the platform's other interface.
        """
        if payload.strip() == b"Not Found":
            raise UnreadableResponse("unknown_board", "the platform knows no such board")
        body = load(payload)
        if not isinstance(body, dict):
            wrong_shape("an Ashby response is an object")
        refuse_error_body(body)
        if body.get("data") == {"organization": None}:
            raise UnreadableResponse("unknown_board", "the platform knows no such organisation")
        if "jobs" not in body and "jobUrl" in body:
            return read_rows([body], lambda row: _listing(row, context)).detail()
        jobs = body.get("jobs")
        if not isinstance(jobs, list):
            wrong_shape("the response holds no list of jobs")
        listed = [job for job in jobs if not (isinstance(job, dict) and job.get("isListed") is False)]
        rows = read_rows(listed, lambda row: _listing(row, context))
        unlisted = len(jobs) - len(listed)
        return rows.board(total=rows.count, note=f"{unlisted} unlisted rows left out" if unlisted else "")


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    board = _board(context.token)
    locations = [row.get("location"), *(each.get("location") for each in objects(row, "secondaryLocations"))]
    url, raw_url = page_link(row.get("jobUrl"), board)
    html, text = description([html_or_plain(row.get("descriptionHtml"), row.get("descriptionPlain"))], flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("applyUrl"), board),
        title=title(row.get("title"), flags),
        company=context.company or None,
        locations=places(locations),
        remote=_remote(row, locations),
        employment_type=employment_type(row.get("employmentType")),
        department=name(row.get("department")) or name(row.get("team")),
        posted_at=iso_date(row.get("publishedAt"), context),
        compensation=_pay(row, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _remote(row: dict[str, Any], locations: list[Any]) -> Remote:
    """`workplaceType` decides. Older rows have only `isRemote`, which is true for hybrid places too."""
    if known := _REMOTE.get(one_line(row.get("workplaceType"), limit=50).lower()):
        return known
    said = remote_in(locations)
    if said == "hybrid" or not isinstance(row.get("isRemote"), bool):
        return said
    return "yes" if row["isRemote"] else "no"


def _pay(row: dict[str, Any], flags: list[str]) -> Pay | None:
    """The salary of the summary, else the first tier's currency over all tiers.

    Equity, bonus and commission stand beside it as components of other types. Tiers may be in different
    currencies; the summary keeps one. An employer can keep pay off its postings.
    """
    compensation = row.get("compensation")
    if not isinstance(compensation, dict) or row.get("shouldDisplayCompensationOnJobPostings") is False:
        return None
    tiers = (
        part for tier in objects(compensation, "compensationTiers") for part in objects(tier, "components")
    )
    summary = span(_salaries(objects(compensation, "summaryComponents"), flags))
    return summary or span(_salaries(tiers, flags))


def _salaries(components: Iterable[dict[str, Any]], flags: list[str]) -> Iterator[Pay]:
    for part in components:
        if part.get("compensationType") != "Salary":
            continue
        stated = pay(
            part.get("minValue"),
            part.get("maxValue"),
            currency=part.get("currencyCode"),
            period=_PERIODS.get(one_line(part.get("interval"), limit=50).upper()),
            flags=flags,
        )
        if stated:
            yield stated


def _board(organisation: str) -> str:
    return f"https://{_PAGE_HOST}/{quote(organisation, safe='')}"


def _found(segments: tuple[str, ...]) -> Detection | None:
    token, posting = (*segments[:2], "", "")[:2]
    if not _ORGANISATION.fullmatch(token) or _FILE.fullmatch(token) or token.lower() in _RESERVED:
        return None
    posting = posting.lower()
    return Detection(
        kind=Ashby.kind,
        token=token,
        posting_id=posting if _POSTING_ID.fullmatch(posting) else None,
        reason="the address of an Ashby board",
    )
