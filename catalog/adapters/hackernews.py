"""Hacker News, "Ask HN: Who is hiring?": one thread a month, through `hn.algolia.com/api/v1`.

Facts: https://hn.algolia.com/api and a recorded thread of September 2026. The thread is the newest one of
the account "whoishiring". Only its own answers are postings; deleted ones have no text. The first line is
by custom "Company | Role | Place | Remote | Pay", and not always.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import (
    Context,
    Detection,
    EmploymentType,
    ParsedListing,
    Progress,
    Reading,
    Request,
)
from catalog.adapters.fields import (
    description,
    employment_type,
    external_id,
    headed,
    iso_date,
    name,
    objects,
    one_line,
    page_link,
    title,
)
from catalog.adapters.location import names_a_place, places, remote_in
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import load_object, read_rows, rows_of
from catalog.html import to_text
from catalog.links import UrlParts

_SITE = "https://news.ycombinator.com"
_API = "https://hn.algolia.com/api/v1"
_NEWEST = f"{_API}/search_by_date?tags=story,author_whoishiring&hitsPerPage=10"
_THREAD = re.compile(r"\bwho is hiring\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p>|\n", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s[^<>]{0,3000}>.{0,3000}?</a>", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(r"https?://\S+|\b[\w.-]+\.(?:com|io|ai|co|org|net|dev)\b")
_AMOUNT = re.compile(r"[$€£¥]\s?\d|\d\s?(?:k\b|[$€£])|\b(?:USD|EUR|GBP|CHF)\b", re.IGNORECASE)
_VISA = re.compile(r"\bvisa\b|\bsponsor|\brequired\b|\bequity\b|\binterns?\b", re.IGNORECASE)
_ROLE = re.compile(
    r"engineer|develop|design|manager|scientist|lead\b|architect|analyst|swe\b|sre\b|devops|full.?stack|researcher"
    r"|founding|head of|director|product\b|marketing|sales|roles?\b|multiple|various|positions|programmer"
    r"|recruiter",
    re.IGNORECASE,
)


class HackerNews(OneBoard):
    kind = "hackernews"
    name = "Hacker News: Who is hiring?"
    page = f"{_SITE}/submitted?id=whoishiring"
    address = _NEWEST

    def found(self, parts: UrlParts) -> Detection | None:
        """A thread or comment is no board; the board is added by its name."""
        return None

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/item?id={found.posting_id}"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        """First the account's newest threads, then the whole tree of the newest that asks who is hiring."""
        if so_far.pages == 0:
            return Request(_NEWEST, headers=self.headers())
        if so_far.pages == 1 and so_far.cursor.isdigit():
            return Request(f"{_API}/items/{so_far.cursor}", headers=self.headers())
        return None

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read a search for threads, which has no rows and names the thread, or a thread."""
        body = load_object(payload, of=self.name)
        if "hits" in body:
            hits = (
                hit for hit in objects(body, "hits") if _THREAD.search(one_line(hit.get("title"), limit=300))
            )
            newest = next((one_line(hit.get("objectID"), limit=20) for hit in hits), "")
            return Reading((), False, "a search, no thread", cursor=newest)
        answers = rows_of(body, "children")
        kept = [row for row in answers if not (isinstance(row, dict) and row.get("text", "") in (None, ""))]
        rows = read_rows(kept, lambda row: _listing(row, context))
        deleted = len(answers) - len(kept)
        return rows.board(total=rows.count, note=f"{deleted} deleted answers left out" if deleted else "")


def _newest_thread(search: dict[str, Any]) -> str:
    for hit in objects(search, "hits"):
        if _THREAD.search(one_line(hit.get("title"), limit=300)):
            return one_line(hit.get("objectID"), limit=20)
    return ""


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    number = external_id(row.get("id"))
    url, _ = page_link(f"{_SITE}/item?id={number}", _SITE)
    html, text = description([headed("", row.get("text"))], flags)
    first = to_text(_ANCHOR.sub("", _PARAGRAPH.split(str(row.get("text")), maxsplit=1)[0]))
    parts = [part.strip() for part in first.split("|") if part.strip()]
    is_customary = len(parts) > 1
    role, where = _role_and_places(parts[1:])
    return ParsedListing(
        external_id=number,
        url=url,
        title=title((role or parts[0]) if is_customary else first[:120], flags),
        company=name(_LINK.sub("", parts[0]).strip(" ()")) or name(parts[0]) if is_customary else None,
        locations=places(where),
        remote=remote_in(parts[1:]),
        employment_type=_employment(parts[1:]),
        posted_at=iso_date(row.get("created_at"), context),
        compensation=pay_in_field(" | ".join(part for part in parts[1:] if _AMOUNT.search(part)), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _role_and_places(parts: list[str]) -> tuple[str, list[str]]:
    """The role in the first line, and its places: the rest, less links, pay, hours and models."""
    others = [part for part in parts if not _AMOUNT.search(part) and not _LINK.fullmatch(part)]
    others = [part for part in others if not employment_type(part) or _ROLE.search(part)]
    role = next((part for part in others if _ROLE.search(part)), "")
    if not role:
        role = next((part for part in others if names_a_place(part) and not _VISA.search(part)), "")
    where = [part for part in others if part != role and not _ROLE.search(part) and not _VISA.search(part)]
    return role, where


def _employment(parts: list[str]) -> EmploymentType | None:
    return next(filter(None, (employment_type(part) for part in parts if not _ROLE.search(part))), None)
