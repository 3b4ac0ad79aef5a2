"""Remote OK: `remoteok.com/api`, the newest hundred or so.

Facts: https://remoteok.com/api (its first element states the terms: link back and name the source) and
recorded responses of 2026. Zero pay is none. Texts end with a sentence that traps automatic applications.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay
from catalog.adapters.base import Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import description, external_id, headed, iso_date, link, name, page_link, title
from catalog.adapters.location import places
from catalog.adapters.one_board import OneBoard
from catalog.adapters.payload import load, read_rows, wrong_shape

_SITE = "https://remoteok.com"
_TRAP = re.compile(r"Please mention the word \*\*.{1,60}?\*\*.{0,400}\Z", re.DOTALL)
_TRAP_WITHIN = 600  # characters at the end of a text


class RemoteOK(OneBoard):
    kind = "remoteok"
    name = "Remote OK"
    domains = ("remoteok.com", "remoteok.io")
    page = _SITE
    address = f"{_SITE}/api"
    hosts = ("remoteok.com", "www.remoteok.com", "remoteok.io")
    board_paths = frozenset({"/", "/api"})
    posting_path = re.compile(r"/remote-jobs/(?:[\w-]*-)?(?P<id>\d{4,12})\Z")

    def posting_url(self, found: Detection) -> str:
        return f"{_SITE}/remote-jobs/{found.posting_id}"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the array. Its first element is the notice, and the rest a window on the newest."""
        body = load(payload)
        if not isinstance(body, list):
            wrong_shape("a response of Remote OK is an array")
        rows = [row for row in body if not (isinstance(row, dict) and "legal" in row)]
        return read_rows(rows, lambda row: _listing(row, context)).page()


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("url"), _SITE)
    text_html = row.get("description")
    shown = _without_trap(text_html) if isinstance(text_html, str) else None
    html, text = description([headed("", shown)], flags)
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        apply_url=link(row.get("apply_url"), _SITE),
        title=title(row.get("position"), flags),
        company=name(row.get("company")),
        locations=places([row.get("location")]),
        remote="yes",
        posted_at=iso_date(row.get("date"), context),
        compensation=pay(
            row.get("salary_min"), row.get("salary_max"), currency="USD", period="year", flags=flags
        ),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _without_trap(text: str) -> str:
    """The text without the sentence at its end that catches robots which apply."""
    start = max(0, len(text) - _TRAP_WITHIN)
    trap = _TRAP.search(text, start)
    if trap is None:
        return text
    shown = text[: trap.start()].rstrip()
    while shown != (
        shorter := shown.removesuffix("<br>").removesuffix("<br/>").removesuffix("<br />").rstrip()
    ):
        shown = shorter
    return shown
