"""iCIMS: `{tenant}.icims.com/jobs/search`, pages of links, and the JSON of career sites on own domains
(Jibe).

Facts: recorded pages of 2026, trimmed or sanitised by whoever recorded them. The token is the host's first
label with its prefix ("careers-acme"), or the whole host of a career site. Some tenants serve the last page
again for every page behind it. `in_iframe=1` leaves out the employer's own frame and is no part of public
links.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay
from catalog.adapters.base import (
    Context,
    Detection,
    ParsedListing,
    Progress,
    Reading,
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
    link,
    name,
    one_line,
    page_link,
    title,
)
from catalog.adapters.hosts import BoardHost, path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import gap_of, is_markup, job_postings, page, spaced_text, visible_text
from catalog.adapters.payload import (
    Rows,
    RowUnreadable,
    count_in,
    load_object,
    read_elements,
    read_rows,
    rows_of,
)

_PER_PAGE = 100
_LINK = re.compile(r"(?:https://[\w.-]+)?/jobs/(?P<id>\d{1,12})/[^/?#]+/job")
_PAGE_OF = re.compile(r"\bPage (?P<page>\d{1,4}) of (?P<pages>\d{1,4})\b")
_CODED_PLACE = re.compile(r"(?P<country>[A-Z]{2})-(?P<state>[A-Z]{2})-(?P<city>.+)")
_LAST = "last"


class ICIMS(BoardHost):
    kind = "icims"
    serves_own_domains = True
    name = "iCIMS"
    domains = ("icims.com",)
    board_path = "/jobs/search?ss=1"
    posting_path = re.compile(r"/jobs/(?P<id>\d{1,12})(?:/|\Z)")

    def posting_url(self, found: Detection) -> str:
        return f"{self.origin(Context(token=found.token))}/jobs/{found.posting_id}/job"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}{'/api/jobs' if '.' in context.token else '/jobs/search?ss=1'}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        if so_far.cursor == _LAST:
            return None
        if "." in context.token:
            window = f"?page={so_far.pages + 1}&limit={_PER_PAGE}"
            return Request(self.list_url(context) + window, headers=self.headers())
        return page_request(f"{self.list_url(context)}&in_iframe=1&pr={so_far.pages}")

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        if "." in context.token:
            return None  # the list has the texts
        return page_request(
            f"{self.origin(context)}/jobs/{path_segment(listing.external_id)}/job?in_iframe=1"
        )

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the portal, a page of the JSON, or a posting's page."""
        if not is_markup(payload):
            body = load_object(payload, of=self.name)
            rows = read_rows(rows_of(body, "jobs"), lambda row: _site_listing(row, context))
            return rows.page(total=count_in(body.get("totalCount")))
        root = page(payload)
        if job_postings(root):
            return read_posting_page(self, payload, context)
        anchors = [each for each in root.iter("a") if "iCIMS_Anchor" in (each.get("class") or "").split()]
        links = [each for each in anchors if _LINK.match(each.get("href") or "")]
        if not links and "iCIMS" not in payload.decode("utf-8", "replace"):
            raise UnreadableResponse("wrong_shape", "the page is no iCIMS portal")
        origin = self.origin(context)
        rows = read_elements(links, lambda each: _listing(each, context, origin))
        text = spaced_text(root)
        return _judged(rows, text, gap_of(payload, rows.rows, text))


def _judged(rows: Rows, text: str, gap: str) -> Reading:
    """A page that says that it is the last one ends the board; one that is the only one is the whole."""
    said = _PAGE_OF.search(text)
    if not said:
        return rows.page(gap=gap)
    pages = int(said["pages"])
    cursor = _LAST if int(said["page"]) == pages and not gap else ""
    return rows.page(total=rows.count if pages == 1 else ..., cursor=cursor, gap=gap, pages=pages)


def _listing(anchor: Any, context: Context, origin: str) -> ParsedListing:
    flags: list[str] = []
    found = _LINK.match(anchor.get("href"))
    if not found:
        raise RowUnreadable("the link leads to no posting")
    url, raw_url = page_link(anchor.get("href").partition("?")[0], origin)
    row = next(anchor.iterancestors("li", "tr"), None)
    where = _location(row) if row is not None else ""
    return ParsedListing(
        external_id=external_id(found["id"]),
        url=url,
        raw_url=raw_url,
        title=title(_shown(anchor), flags),
        company=context.company or None,
        locations=places(
            [_CODED_PLACE.sub(r"\g<city>, \g<state>, \g<country>", each) for each in where.split("|")]
        ),
        remote=remote_in([where]),
        flags=tuple(flags),
    )


def _shown(element: Any) -> str:
    """The text that people see: labels for screen readers ("Job Title") are no part of it."""
    if "sr-only" in (element.get("class") or "").split():
        return ""
    parts = [element.text or ""]
    for child in element:
        parts += [_shown(child) if isinstance(child.tag, str) else "", child.tail or ""]
    return " ".join(" ".join(parts).split())


def _location(row: Any) -> str:
    for label in row.iter("span"):
        if "sr-only" in (label.get("class") or "") and "Location" in visible_text(label):
            return _shown(label.getparent())
    return ""


def _site_listing(row: dict[str, Any], context: Context) -> ParsedListing:
    """A row of a career site. `apply_url` ends at a sign-in; the posting's page stands beside it."""
    flags: list[str] = []
    data = row.get("data")
    if not isinstance(data, dict):
        raise RowUnreadable("the row has no data")
    number = external_id(data.get("slug") or data.get("req_id"))
    host = context.token if "." in context.token else "www.icims.com"
    own = f"https://{host}/jobs/{path_segment(number)}"
    url, raw_url = page_link(inside(data, "meta_data", "canonical_url") or own, own)
    apply_link = one_line(data.get("apply_url"), limit=2_000)
    sections = [
        ("", "description"),
        ("Responsibilities", "responsibilities"),
        ("Qualifications", "qualifications"),
    ]
    html, text = description([headed(heading, data.get(key)) for heading, key in sections], flags)
    where = data.get("full_location") or data.get("short_location")
    return ParsedListing(
        external_id=number,
        url=url,
        raw_url=raw_url,
        apply_url=link(apply_link.removesuffix("/login") + "/job", own)
        if apply_link.endswith("/login")
        else None,
        title=title(data.get("title"), flags),
        company=name(data.get("hiring_organization")) or context.company or None,
        locations=places([where]),
        remote=remote_in([where]),
        employment_type=employment_type(data.get("employment_type")),
        department=name(data.get("department")),
        posted_at=iso_date(data.get("posted_date"), context),
        compensation=pay(
            data.get("salary_min_value"),
            data.get("salary_max_value"),
            currency=data.get("salary_currency"),
            period=None,
            flags=flags,
        ),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )
