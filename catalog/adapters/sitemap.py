"""A site's sitemap, and the postings that its pages carry as schema.org data. The token is the sitemap's
address.

Facts: https://www.sitemaps.org/protocol.html. Job pages stand among others, so only addresses that look
like a posting's are read; `lastmod` is no date of publication. An index leads to further sitemaps of the
same site.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from catalog.adapters.base import Context, Progress, Reading, Request, UnreadableResponse
from catalog.adapters.hosts import BoardHost
from catalog.adapters.job_posting import page_request
from catalog.adapters.jsonld import read_postings
from catalog.adapters.markup import MENDED, MOST_BYTES, child_text, children, feed
from catalog.adapters.one_board import XML_HEADERS, OneBoard, PageBoard
from catalog.links import InvalidURL, is_public_link, split

_POSTING_PATH = re.compile(
    r"/(?:jobs?|careers?|positions?|vacanc(?:y|ies)|openings?|stellen\w*|offers?|offres?-emploi|empleos?|profiles/job_details"
    r"|roles?|job-details?)/[^/]*[^/]",
    re.IGNORECASE,
)
_MOST_SITEMAPS = 50
_BEFORE_ROOT = re.compile(rb"[\s\xef\xbb\xbf]*(?P<end><\?|<!--|<!)")
_ENDS = {b"<?": b"?>", b"<!--": b"-->", b"<!": b">"}
_ROOT = re.compile(rb"[\s\xef\xbb\xbf]*<(?:\w{1,40}:)?(?P<name>\w{1,40})")


class Sitemap(PageBoard):
    kind = "sitemap"
    name = "Sitemap"
    reads_pages = 400

    def headers(self) -> Mapping[str, str]:
        return XML_HEADERS

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return sitemap_request(self.list_url(context), so_far)

    def parse(self, payload: bytes, context: Context) -> Reading:
        return read_sitemap(payload, context, self.list_url(context))


class Homerun(BoardHost):
    """Homerun's boards: their sitemap and pages.

    Experimental: no recorded response stands behind it. Facts: what public readers say of its sitemaps.
    """

    kind = "homerun"
    name = "Homerun"
    domains = ("homerun.co",)
    posting_path = re.compile(r"/(?P<id>[\w-]{3,200})(?:/[a-z]{2})?\Z")
    is_experimental = True
    reads_pages = 400

    def posting_url(self, found: Any) -> str:
        return f"{self.origin(Context(token=found.token))}/{found.posting_id}"

    def list_url(self, context: Context) -> str:
        return f"{self.origin(context)}/sitemap.xml"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return sitemap_request(self.list_url(context), so_far)

    def parse(self, payload: bytes, context: Context) -> Reading:
        return read_sitemap(payload, context, self.list_url(context), any_path=True)


class Meta(OneBoard):
    """Meta: `www.metacareers.com/jobsearch/sitemap.xml` and its pages.

    Experimental: of the sitemap there is no recorded response; a posting's page is recorded (2025). It
    repeats one address for all places, whose names differ.
    """

    kind = "meta"
    name = "Meta"
    domains = ("metacareers.com",)
    page = "https://www.metacareers.com/jobsearch"
    address = "https://www.metacareers.com/jobsearch/sitemap.xml"
    hosts = ("www.metacareers.com",)
    board_paths = frozenset({"/", "/jobs", "/jobsearch"})
    posting_path = re.compile(r"/(?:profiles/job_details|jobs)/(?P<id>\d{6,25})\Z")
    is_experimental = True
    reads_pages = 400

    def posting_url(self, found: Any) -> str:
        return f"https://www.metacareers.com/profiles/job_details/{found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        return sitemap_request(self.address, so_far)

    def parse(self, payload: bytes, context: Context) -> Reading:
        return read_sitemap(payload, context, self.address)


def sitemap_request(address: str, so_far: Progress) -> Request | None:
    """First the sitemap, then what it and its further sitemaps name."""
    if so_far.pages == 0:
        return Request(address, headers=XML_HEADERS)
    at = so_far.pages - 1
    return page_request(so_far.links[at]) if at < len(so_far.links) else None


def read_sitemap(payload: bytes, context: Context, address: str, *, any_path: bool = False) -> Reading:
    """A sitemap, whose links are still to be read, or one of the pages that it names.

    A posting without an address in its data has that of the page, which the context names.
    """
    unpacked = _unpacked(payload)
    if _root_name(unpacked) not in {b"urlset", b"sitemapindex"}:
        return read_postings(payload, context, page_url=context.names.get("page_url") or address)
    root, is_whole = feed(unpacked)
    is_index = root.tag.rpartition("}")[2] == "sitemapindex"
    entries = children(root, "sitemap" if is_index else "url")
    found = [child_text(entry, "loc") for entry in entries]
    site = urlsplit(address).hostname
    named = [url for url in found if is_public_link(url) and urlsplit(url).hostname == site]
    gaps = [] if is_whole else [MENDED]
    if is_index and len(named) < len(found):
        gaps.append("the index names sitemaps of other sites")
    if is_index and len(named) > _MOST_SITEMAPS:
        gaps.append(f"only {_MOST_SITEMAPS} of {len(named)} sitemaps are read")
        named = named[:_MOST_SITEMAPS]
    elif not is_index and not any_path:
        named = [url for url in named if _is_posting(url)]
    reason = "; ".join([f"a sitemap of {len(found)} addresses", *gaps])
    return Reading((), False, reason, links=tuple(dict.fromkeys(named)), gap="; ".join(gaps))


def _root_name(document: bytes) -> bytes:
    """The name of an XML document's first element; what stands before it is passed over once."""
    at = 0
    while found := _BEFORE_ROOT.match(document, at):
        end = _ENDS[found["end"]]
        at = document.find(end, found.end())
        if at < 0:
            return b""
        at += len(end)
    name = _ROOT.match(document, at)
    return name["name"] if name else b""


def _is_posting(url: str) -> bool:
    try:
        return _POSTING_PATH.search(split(url).path) is not None
    except InvalidURL:
        return False


def _unpacked(payload: bytes) -> bytes:
    """The document, unpacked where it is a gzip file, as sitemaps often are.

    Never more than a page may hold.
    """
    if not payload.startswith(b"\x1f\x8b"):
        return payload
    try:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        unpacked = unpacker.decompress(payload, MOST_BYTES + 1)
    except zlib.error as fault:
        raise UnreadableResponse("not_gzip", f"the file cannot be unpacked: {fault}") from None
    if len(unpacked) > MOST_BYTES or not unpacker.eof:
        raise UnreadableResponse(
            "too_large" if len(unpacked) > MOST_BYTES else "truncated", "the file is not whole"
        )
    return unpacked
