"""BambooHR: `{tenant}.bamboohr.com/careers/list`, the whole board, and `/careers/{id}/detail` for text and
date.

Facts: recorded responses of 2024 and 2026. An unknown tenant redirects to the vendor's home page, which
answers 200: redirects off the host are not followed.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import (
    Context,
    Detection,
    Judgement,
    ParsedListing,
    Reading,
    Remote,
    Request,
    UnreadableResponse,
    Verdict,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    inside,
    iso_date,
    joined,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost, path_segment
from catalog.adapters.location import places
from catalog.adapters.payload import count_in, load, load_object, read_rows, rows_of

_REMOTE: dict[str, Remote] = {"0": "no", "1": "yes", "2": "hybrid"}
# A status on hold, in another language or of the employer's making says neither.
_STATUSES: dict[str, Verdict] = {
    "open": "open",
    "published": "open",
    "filled": "closed",
    "closed": "closed",
    "canceled": "closed",
    "cancelled": "closed",
}
_IN_LINK = re.compile(r"https://[^/]+/careers/(\d{1,12})")


class BambooHR(BoardHost):
    kind = "bamboohr"
    name = "BambooHR"
    domains = ("bamboohr.com",)
    board_path = "/careers"
    posting_path = re.compile(r"/careers/(?P<id>\d{1,12})")

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/careers/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/careers/list"

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        posting = path_segment(listing.external_id)
        return Request(f"{self.origin(context)}/careers/{posting}/detail", headers=self.headers())

    def state_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return self.detail_request(context, listing)

    def judge(self, status: int, payload: bytes) -> Judgement:
        """The opening's own status: its page answers 200 for years after it was filled."""
        try:
            said = (
                inside(load(payload), "result", "jobOpening", "jobOpeningStatus") if status == 200 else None
            )
        except UnreadableResponse:
            said = None
        if not isinstance(said, str) or not said.strip():
            return Judgement("unknown", f"BambooHR answers with status {status}")
        said = said.strip()[:40]
        verdict = _STATUSES.get(said.lower(), "unknown")
        return Judgement(verdict, f"BambooHR says that the opening is {said}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a list, `{"meta": {"totalCount": n}, "result": […]}`, or one opening."""
        body = load_object(payload, of=self.name)
        origin = self.origin(context)
        opening = inside(body, "result", "jobOpening")
        if isinstance(opening, dict):
            return read_rows([opening], lambda row: _listing(row, context, origin)).detail()
        rows = read_rows(rows_of(body, "result"), lambda row: _listing(row, context, origin))
        return rows.board(total=count_in(inside(body, "meta", "totalCount")))


def _listing(row: dict[str, Any], context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    shared = _IN_LINK.match(str(row.get("jobOpeningShareUrl")))  # a detail names its id nowhere else
    number = external_id(row.get("id") or (shared[1] if shared else context.names.get("posting_id")))
    url, _ = page_link(f"{origin}/careers/{path_segment(number)}", origin)
    html, text = description([headed("", row.get("description"))], flags)
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(row.get("jobOpeningName"), flags),
        company=context.company or None,
        locations=places([_place(row)]),
        remote=_REMOTE.get(str(row.get("locationType")), "unknown"),
        employment_type=employment_type(row.get("employmentStatusLabel")),
        department=name(row.get("departmentLabel")),
        posted_at=iso_date(row.get("datePosted"), context),
        compensation=pay_in_field(row.get("compensation"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _place(row: dict[str, Any]) -> str:
    """The location; remote rows have theirs in `atsLocation`. A "state" may be a country."""
    location, own = row.get("location"), row.get("atsLocation")
    said = joined(inside(location, "city"), inside(location, "state"), inside(location, "addressCountry"))
    if said:
        return said
    region = inside(own, "state") or inside(own, "province")
    return joined(inside(own, "city"), region, inside(own, "country"))
