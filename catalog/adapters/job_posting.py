"""A schema.org JobPosting, as employers' pages carry it, as a listing.

Facts: https://schema.org/JobPosting,
https://developers.google.com/search/docs/appearance/structured-data/job-posting and recorded pages of 2024
to 2026: texts escaped once more, countries as objects, one address repeated for all places, types in lists,
"validThrough" years ahead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from catalog.adapters.amounts import amount, pay, period
from catalog.adapters.base import (
    Adapter,
    Context,
    EmploymentType,
    ParsedListing,
    Pay,
    Reading,
    Remote,
    Request,
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
    mail_date,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import job_postings, page
from catalog.adapters.payload import read_rows

_ESCAPED_TAG = re.compile(r"&lt;/?[a-z][a-z0-9]*(?:\s|/?&gt;)", re.IGNORECASE)
_WRITTEN_BREAK = re.compile(r"\\r?\\n|\\n|\\t")
# Most general first; "FULL_TIME" beside "INTERN" says an internship.
_TYPES = ("INTERN", "VOLUNTEER", "CONTRACTOR", "TEMPORARY", "PER_DIEM")


def page_request(url: str) -> Request:
    return Request(url, headers={"Accept": "text/html,application/xhtml+xml"})


def read_posting_page(adapter: Adapter, payload: bytes, context: Context) -> Reading:
    """The posting that a page of the platform shows as schema.org data.

    Its id is the one that the platform's own addresses carry. Raises UnreadableResponse for a page that
    shows none: it proves nothing about the posting.
    """
    root = page(payload)
    postings = job_postings(root)
    if not postings:
        raise UnreadableResponse("no_posting", "the page shows no job posting")
    address = context.names.get("url") or address_of(root) or postings[0].get("url")
    named = adapter.posting_id(address) if isinstance(address, str) else None
    number = named or context.names.get("posting_id")
    rows = read_rows(postings[:1], lambda row: listing_of(row, context, url=address, number=number))
    return rows.detail()


def address_of(root: Any) -> str | None:
    """The page's own address, as it states it for search engines and for those who share it."""
    for link in root.iter("link"):
        if (link.get("rel") or "").lower() == "canonical" and link.get("href"):
            return str(link.get("href"))
    for meta in root.iter("meta"):
        if meta.get("property") == "og:url" and meta.get("content"):
            return str(meta.get("content"))
    return None


def listing_of(
    posting: dict[str, Any],
    context: Context,
    *,
    url: object = None,
    number: object = None,
    base: str = "",
) -> ParsedListing:
    """The posting as a listing. `url` and `number` are what the page's address says of it, and go first.

    Raises RowUnreadable without a title or an address.
    """
    flags: list[str] = []
    page, raw_url = page_link(url or posting.get("url") or _text_of(posting.get("@id")), base)
    html, text = description(_sections(posting), flags)
    locations = list(_places(posting.get("jobLocation")))
    return ParsedListing(
        external_id=external_id(number or _identifier(posting.get("identifier")) or page[-200:]),
        url=page,
        raw_url=raw_url,
        title=title(posting.get("title") or posting.get("name"), flags),
        company=_company(posting.get("hiringOrganization")) or context.company or None,
        locations=places(locations or list(_applicants(posting))),
        remote=_remote(posting, locations),
        employment_type=_employment(posting.get("employmentType")),
        department=name(posting.get("industry")) if isinstance(posting.get("industry"), str) else None,
        posted_at=posted(posting.get("datePosted"), context),
        compensation=_pay(posting.get("baseSalary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def posted(value: object, context: Context) -> str | None:
    """A date in any of the ways that pages write it, or None."""
    return iso_date(value, context) or mail_date(value, context)


def _sections(posting: dict[str, Any]) -> list[str]:
    """The description, and what stands in fields of its own beside it."""
    whole = _html(posting.get("description"))
    more = [
        headed(heading, _html(posting.get(key)))
        for key, heading in (("responsibilities", "Responsibilities"), ("qualifications", "Qualifications"))
        if isinstance(posting.get(key), str) and posting[key][:200] not in whole
    ]
    return [whole, *more]


def _html(value: object) -> str:
    """The text as HTML; many employers escape it once more, or write its line breaks out."""
    if not isinstance(value, str):
        return ""
    html = unescape(value) if _ESCAPED_TAG.search(value) else value
    html = _WRITTEN_BREAK.sub("\n", html)
    if "<" in html:
        return html
    return "".join(f"<p>{part.strip()}</p>" for part in re.split(r"\n\s*\n", html) if part.strip())


def _text_of(value: object) -> str:
    return value if isinstance(value, str) and value.startswith("http") else ""


def _identifier(value: object) -> object:
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, int) or (isinstance(value, str) and value.strip()) else None


def _company(value: object) -> str | None:
    if isinstance(value, list):
        value = next(iter(value), None)
    return name(value.get("name") if isinstance(value, dict) else value)


def _places(value: object) -> Iterator[str]:
    """Each location's address from small to large; its own name where one address stands for several."""
    locations = value if isinstance(value, list) else [value]
    addresses = [_address(inside(each, "address")) for each in locations]
    for each, address in zip(locations, addresses, strict=True):
        own_name = one_line(inside(each, "name"), limit=200)
        is_repeated = len(locations) > 1 and addresses.count(address) > 1
        place = own_name if own_name and (is_repeated or not address) else address
        yield place or (one_line(each, limit=200) if isinstance(each, str) else "")


def _address(value: object) -> str:
    if isinstance(value, list):
        value = next(iter(value), None)
    if not isinstance(value, dict):
        return one_line(value, limit=200)
    country = value.get("addressCountry")
    if isinstance(country, dict):
        country = country.get("name")
    if isinstance(country, list):
        country = next(iter(country), None)
    return joined(value.get("addressLocality"), value.get("addressRegion"), country)


def _applicants(posting: dict[str, Any]) -> Iterator[str]:
    """Where a remote posting's applicants may be, where it names no place of work."""
    value = posting.get("applicantLocationRequirements")
    for each in value if isinstance(value, list) else [value]:
        yield one_line(each.get("name") if isinstance(each, dict) else each, limit=200)


def _remote(posting: dict[str, Any], locations: list[str]) -> Remote:
    kind = posting.get("jobLocationType")
    kinds = kind if isinstance(kind, list) else [kind]
    if any(isinstance(each, str) and each.strip().upper() == "TELECOMMUTE" for each in kinds):
        return "yes"
    return remote_in(locations)


def _employment(value: object) -> EmploymentType | None:
    labels = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    labels = [part for label in labels[:10] for part in label.split(",")]
    for label in labels:
        if label.strip().upper() in _TYPES:
            return employment_type(label.replace("_", " "))
    kinds = [kind for label in labels if (kind := employment_type(label))]
    if {"full_time", "part_time"} <= set(kinds):
        return "other"
    return kinds[0] if kinds else None


def _pay(value: object, flags: list[str]) -> Pay | None:
    """Amounts with the unit that stands beside them, which is not always the one that is meant: see `pay`."""
    if isinstance(value, list):
        value = next(iter(value), None)
    if not isinstance(value, dict):
        return None
    stated = value.get("value")
    said = stated if isinstance(stated, dict) else value
    single = said.get("value") if isinstance(stated, dict) else stated
    low, high = said.get("minValue"), said.get("maxValue")
    if amount(low) is None and amount(high) is None:
        low = high = single
    return pay(
        low,
        high,
        currency=value.get("currency") or said.get("currency"),
        period=period(said.get("unitText") or value.get("unitText")),
        flags=flags,
    )
