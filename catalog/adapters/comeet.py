"""Comeet (Spark Hire Recruit): `www.comeet.com/jobs/{company}/{uid}`, a page that carries all positions as
data.

Facts: https://developers.comeet.com/reference/careers-api and a recorded response of the API (2026), which
wants a token that only the employer's page has. Copies of a position for other places have ids of their
own. There is a time of the last change and no date of publication.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    ParsedListing,
    Reading,
    Remote,
    UnreadableResponse,
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
    objects,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_named
from catalog.adapters.markup import is_markup, json_in, page, scripts
from catalog.adapters.payload import load, read_rows, refuse_error_body, wrong_shape
from catalog.links import UrlParts

_PAGES = "https://www.comeet.com"
_HOSTS = frozenset({"www.comeet.com", "comeet.com"})
_API_HOSTS = frozenset({"www.comeet.co", "www.comeet.com"})
_COMPANY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_UID = re.compile(r"[0-9A-F]{2}\.[0-9A-F]{3}", re.IGNORECASE)
_POSITION = re.compile(r"[0-9A-F]{2}\.[0-9A-F]{3}(?:-[0-9A-F]{2}\.[0-9A-F]{3})?", re.IGNORECASE)
_DATA = r"COMPANY_POSITIONS_DATA\s*="


class Comeet(Adapter):
    kind = "comeet"
    name = "Comeet"
    domains = ("comeet.com", "comeet.co")
    closes_by_absence = True

    def found(self, parts: UrlParts) -> Detection | None:
        segments = (*parts.segments[:5], *[""] * 5)
        if parts.host not in _HOSTS or segments[0] != "jobs":
            return None
        company, uid, position = segments[1], segments[2], segments[4]
        if not _COMPANY.fullmatch(company) or not _UID.fullmatch(uid):
            return None
        return Detection(
            kind=self.kind,
            token=f"{company}|{uid}",
            posting_id=position if _POSITION.fullmatch(position) else None,
            reason="the address of a Comeet company",
        )

    def posting_url(self, found: Detection) -> str:
        """Any words may stand for the title in front of the id."""
        return f"{self.board_url(Context(token=found.token))}/position/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        company, uid = context.parts("company", "uid")
        return f"{_PAGES}/jobs/{path_segment(company)}/{path_segment(uid)}"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/html"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the API's array, or the company's page around the same array.

        Internal positions are left out.
        """
        body = _positions(payload) if is_markup(payload) else load(payload)
        if isinstance(body, dict):
            refuse_error_body(body)
        if not isinstance(body, list):
            wrong_shape("the response holds no list of positions")
        shown = [row for row in body if not (isinstance(row, dict) and row.get("is_internal") is True)]
        rows = read_rows(shown, lambda row: _listing(row, context))
        return rows.board(total=rows.count)


def _positions(payload: bytes) -> Any:
    for script in scripts(page(payload)):
        found = json_in(script, _DATA)
        if found is not None:
            return found
    raise UnreadableResponse("no_positions", "the page carries no positions")


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    hosted = row.get("url_comeet_hosted_page") or row.get("url_recruit_hosted_page")
    url, raw_url = page_link(hosted or row.get("url_active_page"), _PAGES)
    details = objects(row, "details") or objects(inside(row, "custom_fields") or {}, "details")
    html, text = description([_section(each) for each in details], flags)
    return ParsedListing(
        external_id=external_id(row.get("uid")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("name"), flags),
        company=name(row.get("company_name")) or context.company or None,
        locations=places([_place(row.get("location"))]),
        remote=_remote(row),
        employment_type=employment_type(row.get("employment_type")),
        department=name(row.get("department")),
        updated_at=iso_date(row.get("time_updated"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _place(location: object) -> str:
    """City, state and country; the name the employer gave the place where it has no city."""
    city = inside(location, "city") or inside(location, "name")
    return joined(city, inside(location, "state"), inside(location, "country"))


def _remote(row: dict[str, Any]) -> Remote:
    model = remote_named(row.get("workplace_type"))
    return "yes" if model == "unknown" and inside(row, "location", "is_remote") is True else model


def _section(section: dict[str, Any]) -> str:
    """A section with its heading, which the page leaves out where it is only "Description"."""
    heading = section.get("name")
    return headed("" if heading == "Description" else heading, section.get("value"))
