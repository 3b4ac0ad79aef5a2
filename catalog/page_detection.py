"""Which board stands behind an employer's own page, by what the page links to, embeds and loads.

A page is asked only where its address does not tell. Nothing is guessed from the employer's name: other
companies have it too. Where a page leads to several boards, the answer is the one that it embeds, or none.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlsplit

from catalog.adapters import detect
from catalog.adapters.base import Detection, UnreadableResponse
from catalog.adapters.markup import job_postings, page
from catalog.charset import decode

_ADDRESS = re.compile(r"""https?:\\?/\\?/[^\s"'<>()\\]+(?:\\?/[^\s"'<>()\\]*)*""")
_MOST_ADDRESSES = 5_000
# What a page says of the board that it embeds, besides an address: the parameter of a script, a setting.
_EMBEDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "greenhouse",
        re.compile(r"greenhouse\.io/embed/job_board(?:/js)?\?for=(?P<token>[A-Za-z0-9_-]{2,100})"),
    ),
    ("greenhouse", re.compile(r"""Grnhse\.Settings\.boardToken\s*=\s*["'](?P<token>[A-Za-z0-9_-]{2,100})""")),
    ("greenhouse", re.compile(r"""data-board-token=["'](?P<token>[A-Za-z0-9_-]{2,100})["']""")),
    (
        "greenhouse",
        re.compile(r"""["']?(?:board|url)Token["']?\s*:\s*["'](?P<token>[A-Za-z0-9_-]{2,100})["']"""),
    ),
    ("ashby", re.compile(r"jobs\.ashbyhq\.com/(?P<token>[A-Za-z0-9%._-]{2,100})/embed")),
)
# Platforms that serve an employer's own domain: the page's host is the board's.
_HOSTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("teamtailor", re.compile(r"teamtailor-cdn\.com|assets\.teamtailor")),
    ("recruitee", re.compile(r"recruiteecdn\.com|window\.recruitee")),
    ("successfactors", re.compile(r"rmkcdn\.successfactors\.com|jobs2web\.com")),
)
_PHENOM = re.compile(r"phApp\.ddo\s*=")
_PHENOM_PATH = re.compile(r"/(?P<path>[a-z]{2,10}/[a-z]{2}(?:-[a-z]{2})?)(?:/|\Z)")
_EIGHTFOLD = re.compile(r"""_EF_GROUP_ID\s*=\s*["'](?P<domain>[a-z0-9.-]{4,100})["']""")


@dataclass(frozen=True, slots=True)
class Found:
    """A board, and what on the page says so."""

    board: Detection
    evidence: str


def board_in_page(payload: bytes, url: str) -> Found | None:
    """The board behind the page at `url`; None where it names none, or several without embedding one."""
    html = decode(payload[:5_000_000], "")
    return _embedded(html) or _hosted(html, url) or _linked(html) or _carried(payload, url)


def _embedded(html: str) -> Found | None:
    named = {
        (kind, match["token"]): match[0]
        for kind, pattern in _EMBEDS
        for match in pattern.finditer(unescape(html))
    }
    if len(named) != 1:
        return None
    [((kind, token), text)] = named.items()
    board = Detection(kind=kind, token=token, reason="the page embeds the board")
    return Found(board, f"the page says: {text[:200]}")


def _hosted(html: str, url: str) -> Found | None:
    host = urlsplit(url).hostname or ""
    for kind, pattern in _HOSTED:
        if match := pattern.search(html):
            board = Detection(kind=kind, token=host, reason="the page is served by the platform")
            return Found(board, f"the page loads {match[0]}")
    if domain := _EIGHTFOLD.search(html):
        token = f"{host}|{domain['domain']}"
        board = Detection(kind="eightfold", token=token, reason="the page is Eightfold's")
        return Found(board, f"the page says: {domain[0]}")
    if _PHENOM.search(html):
        path = _PHENOM_PATH.match(urlsplit(url).path)
        token = f"{host}|{path['path']}" if path else host
        return Found(
            Detection(kind="phenom", token=token, reason="the page is Phenom's"), "the page carries phApp.ddo"
        )
    return None


def _linked(html: str) -> Found | None:
    """The board that the page's links lead to: the only one, or the one of most links by far."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for match in list(_ADDRESS.finditer(unescape(html)))[:_MOST_ADDRESSES]:
        found = detect(match[0].replace("\\/", "/").rstrip(".,;"))
        if found is not None and found.token != found.kind:
            counted[found.kind, found.region, found.token] += 1
    if not counted:
        return None
    ranked = counted.most_common(2)
    (kind, region, token), links = ranked[0]
    if len(ranked) > 1 and ranked[1][1] * 3 > links:
        return None
    board = Detection(
        kind=kind, token=token, region=region, confidence="likely", reason="the page links to the board"
    )
    return Found(board, f"{links} links of the page lead there")


def _carried(payload: bytes, url: str) -> Found | None:
    """The page itself, where it carries postings as data."""
    try:
        postings = job_postings(page(payload))
    except UnreadableResponse:
        return None
    if not postings:
        return None
    board = Detection(kind="jsonld", token=url, confidence="likely", reason="the page carries job postings")
    return Found(board, f"{len(postings)} postings stand in the page as schema.org data")
