"""Phenom: career sites on employers' own domains, `POST {origin}/widgets`, a hundred a page.

Facts: a recorded page of 2026 (its first ten rows stand in the page as data), and how its own pages ask for
more. The token is host and path of the site ("careers.acme.com|us/en"). Lists have a teaser instead of a
text. Test postings ("TEST-DO-NOT-APPLY") are left out.
"""

from __future__ import annotations

import json
import re
from typing import Any

from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    ParsedListing,
    Progress,
    Reading,
    Request,
    UnreadableResponse,
)
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    iso_date,
    joined,
    link,
    name,
    one_line,
    page_link,
    teaser,
    title,
)
from catalog.adapters.hosts import path_segment
from catalog.adapters.job_posting import page_request, read_posting_page
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import is_markup, job_postings, json_in, page, scripts
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import InvalidURL, UrlParts, split

_PER_PAGE = 100
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,5}")
_PATH = re.compile(r"[a-z]{2,10}/[a-z]{2}(?:-[a-z]{2})?")
_TEST = re.compile(r"\bTEST\b.{0,10}\bDO\W?NOT\W?APPLY\b", re.IGNORECASE)
_DATA = r"phApp\.ddo\s*="


class Phenom(Adapter):
    kind = "phenom"
    name = "Phenom"

    def found(self, parts: UrlParts) -> Detection | None:
        """Its sites live on employers' domains, whose addresses do not say so."""
        return None

    def posting_url(self, found: Detection) -> str:
        return f"{_site(Context(token=found.token))}/job/{path_segment(found.posting_id or '')}"

    def board_url(self, context: Context) -> str:
        return f"{_site(context)}/search-results"

    def list_url(self, context: Context) -> str:
        return f"https://{_place_of(context)[0]}/widgets"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        country, _, language = _place_of(context)[1].partition("/")
        body = {
            "lang": f"{language}_{country}",
            "deviceType": "desktop",
            "country": country,
            "pageName": "search-results",
            "ddoKey": "refineSearch",
            "from": so_far.rows,
            "size": _PER_PAGE,
            "jobs": True,
            "counts": True,
            "all_fields": [],
            "clearAll": False,
            "siteType": "external",
            "keywords": "",
            "global": True,
            "selected_fields": {},
        }
        return Request(self.list_url(context), headers=self.headers(), body=json.dumps(body).encode())

    def detail_request(self, context: Context, listing: ParsedListing) -> Request | None:
        return page_request(f"{_site(context)}/job/{path_segment(listing.external_id)}")

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a page of the site, its widget's answer, or a posting's page."""
        if is_markup(payload):
            root = page(payload)
            found = next((data for text in scripts(root) if (data := json_in(text, _DATA))), None)
            search = inside(found, "eagerLoadRefineSearch")
            if search is None and job_postings(root):
                return read_posting_page(self, payload, context)
        else:
            search = load_object(payload, of=self.name).get("refineSearch")
        if not isinstance(search, dict):
            raise UnreadableResponse("wrong_shape", "the response holds no search")
        jobs = rows_of(search, "data", "jobs")
        rows = read_rows([row for row in jobs if not _is_test(row)], lambda row: _listing(row, context))
        total, tests = count_in(search.get("totalHits")), len(jobs) - rows.rows
        note = f"{tests} test postings left out" if tests else ""
        return rows.page(total=total - tests if total is not None and tests else total, note=note)


def _is_test(row: object) -> bool:
    return _TEST.search(one_line(inside(row, "title"), limit=500)) is not None


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("jobId") or row.get("reqId"))
    site = _site(context)
    url, _ = page_link(f"{site}/job/{path_segment(number)}", site)
    several = row.get("multi_location")
    where = joined(row.get("location")) or joined(row.get("city"), row.get("state"), row.get("country"))
    named = several if isinstance(several, list) and several else [where]
    html, text = teaser(row.get("descriptionTeaser"), flags)
    return ParsedListing(
        external_id=number,
        url=url,
        apply_url=link(row.get("applyUrl"), site),
        title=title(row.get("title"), flags),
        company=name(row.get("companyName")) or context.company or None,
        locations=places(named),
        remote=remote_in([*named, row.get("workLocation")]),
        employment_type=employment_type(row.get("type")),
        department=name(row.get("department")) or name(row.get("category")),
        posted_at=iso_date(row.get("postedDate"), context),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _place_of(context: Context) -> tuple[str, str]:
    """Host and path of the site, from the token or from an address of one of its pages."""
    host, path = context.parts("site_host", "site_path")
    base = context.names.get("base_url", "")
    if base:
        try:
            parts = split(base)
        except InvalidURL:
            parts = None
        if parts is not None:
            host, path = parts.host, "/".join(parts.segments[:2])
    return (host if _HOST.fullmatch(host) else "example.com"), path if _PATH.fullmatch(path) else "us/en"


def _site(context: Context) -> str:
    host, path = _place_of(context)
    return f"https://{host}/{path}"
