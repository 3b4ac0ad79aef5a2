"""Personio: `{tenant}.jobs.personio.de/xml` (or .com), the whole board in one XML document.

Facts: https://developer.personio.de/docs/retrieving-open-job-positions and recorded responses of 2024.
Without a language the tenant's own texts come; with one, some lack theirs. The date is the position's
creation.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay, period
from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    EmploymentType,
    ParsedListing,
    Pay,
    Reading,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    iso_date,
    name,
    page_link,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import MENDED, child_text, children, feed
from catalog.adapters.payload import read_elements, wrong_shape
from catalog.links import UrlParts

_HOST = re.compile(r"(?P<tenant>[a-z0-9][a-z0-9-]{0,62})\.jobs\.personio\.(?P<tld>de|com)")
_POSTING = re.compile(r"/job/(?P<id>\d{1,12})")


class Personio(Adapter):
    kind = "personio"
    name = "Personio"
    domains = ("personio.de", "personio.com")
    closes_by_absence = True

    def found(self, parts: UrlParts) -> Detection | None:
        host = _HOST.fullmatch(parts.host)
        if not host:
            return None
        posting = _POSTING.match(parts.path)
        return Detection(
            kind=self.kind,
            token=host["tenant"],
            region="com" if host["tld"] == "com" else "",
            posting_id=posting["id"] if posting else None,
            reason="the address of a Personio board",
        )

    def posting_url(self, found: Detection) -> str:
        return f"{_origin(found.token, found.region)}/job/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return _origin(context.token, context.region)

    def list_url(self, context: Context) -> str:
        return f"{_origin(context.token, context.region)}/xml"

    def headers(self) -> dict[str, str]:
        return {"Accept": "application/xml, text/xml"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read `<workzag-jobs>`, which is the whole board; an empty one is a healthy feed.

        A document that is not well-formed may lack positions after it was mended, so it is partial.
        """
        root, is_whole = feed(payload)
        if root.tag != "workzag-jobs":
            wrong_shape("the document is no Personio feed")
        rows = read_elements(children(root, "position"), lambda row: _listing(row, context))
        note = "" if is_whole else MENDED
        return rows.board(total=rows.count if is_whole else None, note=note)


def _listing(row: Any, context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(child_text(row, "id"))
    origin = _origin(context.token, context.region)
    url, _ = page_link(f"{origin}/job/{path_segment(number)}", origin)
    offices = [child_text(row, "office")]
    offices += [each.text for more in children(row, "additionalOffices") for each in children(more, "office")]
    html, text = description(_sections(row), flags)
    return ParsedListing(
        external_id=number,
        url=url,
        title=title(child_text(row, "name"), flags),
        company=name(child_text(row, "subcompany")) or context.company or None,
        locations=places(offices),
        remote=remote_in(offices),
        employment_type=_employment(row),
        department=name(child_text(row, "department")),
        posted_at=iso_date(child_text(row, "createdAt"), context),
        compensation=_pay(row, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _sections(row: Any) -> list[str]:
    """Sections under the tenant's own headings ("Deine Aufgaben")."""
    sections = (
        each for part in children(row, "jobDescriptions") for each in children(part, "jobDescription")
    )
    return [headed(child_text(each, "name"), child_text(each, "value")) for each in sections]


def _employment(row: Any) -> EmploymentType | None:
    """What somebody is counts before the hours; "permanent" names neither."""
    kind = employment_type(child_text(row, "employmentType"))
    if kind:
        return kind
    schedule = child_text(row, "schedule")
    return "other" if schedule == "full-or-part-time" else employment_type(schedule)


def _pay(row: Any, flags: list[str]) -> Pay | None:
    for salary in children(row, "salaryInformation"):
        return pay(
            child_text(salary, "min"),
            child_text(salary, "max"),
            currency=child_text(salary, "currencyCode"),
            period=period(child_text(salary, "type")),
            flags=flags,
        )
    return None


def _origin(token: str, region: str) -> str:
    tenant = token.lower() if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}", token) else "www"
    return f"https://{tenant}.jobs.personio.{'com' if region == 'com' else 'de'}"
