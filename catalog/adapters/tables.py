"""Lists of jobs as tables: CSV files, and tables in Markdown as community boards keep them. The token is
the address.

A column counts by its heading. In Markdown "↳" in the employer's cell means the one above, a lock means
closed, and links stand in cells as Markdown or HTML. A day without a year ("Nov 25") is no date.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from catalog.adapters.amounts import pay_in_field
from catalog.adapters.base import Context, ParsedListing, Reading, UnreadableResponse
from catalog.adapters.fields import (
    description,
    employer_line,
    employment_type,
    external_id,
    headed,
    iso_date,
    name,
    page_link,
    title,
)
from catalog.adapters.job_posting import posted
from catalog.adapters.location import places, remote_in, remote_named
from catalog.adapters.one_board import PageBoard
from catalog.adapters.payload import read_elements
from catalog.charset import decode
from catalog.html import as_paragraphs, to_text
from catalog.links import canonical

_COLUMNS = {
    "title": r"(?:job )?(?:title|role|position)s?|job|name of (?:the )?position",
    "company": r"company(?: name)?|employer|organi[sz]ation",
    "location": r"locations?|city|place|where",
    "url": r"(?:job |posting )?(?:url|link)|(?:application|apply)(?: ?/ ?link| link| url)?|posting",
    "posted_at": r"(?:date|posted|published)(?: (?:at|on|posted|published))?|posted[_ ]?(?:at|on|date)",
    "remote": r"remote|work ?model|work ?place(?: type)?",
    "type": r"(?:employment|job|contract)[_ ]?type|type",
    "salary": r"salary|pay|compensation",
    "department": r"department|team|category",
    "id": r"(?:job |external )?id|requisition(?: id)?",
    "description": r"(?:job )?description|text",
}
_HEADINGS = {key: re.compile(pattern, re.IGNORECASE) for key, pattern in _COLUMNS.items()}
_LINK = re.compile(r"\]\((?P<markdown>https?://[^)\s]+)\)|href=[\"'](?P<html>https?://[^\"']+)[\"']")
_MARKDOWN_LINK = re.compile(
    r"!?\[(?P<text>[^\[\]]{0,500})\]\([^()]{0,3000}(?:\([^()]{0,500}\)[^()]{0,500})?\)"
)
_RULE = re.compile(r"\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?")
_CELL = re.compile(r"(?<!\\)\|")
_CLOSED = "\U0001f512"
_SAME_AS_ABOVE = "\u21b3"


class CsvFile(PageBoard):
    kind = "csv"
    name = "CSV file"

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/csv, text/plain"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the file. Its first row names the columns, and nothing says how many rows there should be."""
        text = decode(payload, "").lstrip("\ufeff")
        if text.lstrip()[:1] == "<":
            raise UnreadableResponse("html_page", "the response is a web page, not CSV")
        rows = _csv_rows(text)
        columns = _columns(next(rows, []))
        table = [dict(zip(columns, row, strict=False)) for row in rows if any(cell.strip() for cell in row)]
        read = read_elements(table, lambda row: _listing(row, context), shares_links=True)
        return read.page()


class MarkdownTable(PageBoard):
    kind = "markdown"
    name = "Table in Markdown"

    def headers(self) -> dict[str, str]:
        return {"Accept": "text/markdown, text/plain"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read all tables of the file that have a column of roles and one of links."""
        text = decode(payload, "")
        rows = list(_markdown_rows(text))
        if not rows:
            raise UnreadableResponse("wrong_shape", "the file holds no table of jobs")
        shown = [row for row in rows if not _is_closed(row)]
        read = read_elements(shown, lambda row: _listing(row, context), shares_links=True)
        closed = len(rows) - len(shown)
        note = f"{closed} rows marked as closed left out" if closed else ""
        return read.page(note=note)


def _is_closed(row: dict[str, str]) -> bool:
    """Boards take the link away and put a lock in its place."""
    return _CLOSED in row.get("url", "") and not _LINK.search(row["url"])


def _csv_rows(text: str) -> Iterator[list[str]]:
    """Raises UnreadableResponse where the text is no CSV."""
    sample = text[:8_192]
    delimiter = max(",;\t", key=sample.partition("\n")[0].count)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as fault:
        raise UnreadableResponse("not_csv", f"not CSV: {fault}") from None


def _columns(header: list[str]) -> list[str]:
    columns = [_column(cell) for cell in header]
    if "title" not in columns or "url" not in columns:
        raise UnreadableResponse("wrong_shape", "no column of titles, or none of links")
    return columns


def _column(heading: str) -> str:
    words = (
        re.sub(r"[^\w/ ]+", "", to_text(_MARKDOWN_LINK.sub(r"\g<text>", heading))).replace("_", " ").strip()
    )
    return next((key for key, pattern in _HEADINGS.items() if pattern.fullmatch(words)), words)


def _markdown_rows(text: str) -> Iterator[dict[str, str]]:
    columns: list[str] = []
    before: list[str] = []
    company = ""
    for line in text.splitlines():
        cells = _cells(line)
        if not cells:
            columns, before = [], []
        elif not columns and _RULE.fullmatch(line.strip()):
            named = [_column(cell) for cell in before]
            columns = named if {"title", "url"} <= set(named) else []
        elif not columns:
            before = cells
        else:
            row = dict(zip(columns, cells, strict=False))
            if _SAME_AS_ABOVE in row.get("company", ""):
                row["company"] = company
            company = row.get("company", company)
            yield row


def _cells(line: str) -> list[str]:
    stripped = line.strip()
    if not stripped.startswith("|") or len(stripped) > 20_000:
        return []
    return [cell.strip() for cell in _CELL.split(stripped.strip("|"))]


def _listing(row: dict[str, str], context: Context) -> ParsedListing:
    flags: list[str] = []
    linked = _LINK.search(row.get("url", "")) or _LINK.search(row.get("title", ""))
    address = (linked["markdown"] or linked["html"]) if linked else row.get("url", "")
    url, raw_url = page_link(address, context.token)
    employer, place = employer_line(_plain(row.get("company", "")))
    where = re.split(r"<br\s*/?>|</br>|\n", row.get("location", "") or place)
    named = [_plain(place) for place in where]
    model = remote_named(row.get("remote"))
    is_remote = row.get("remote", "").strip().lower() in {"yes", "true", "1"}
    html, text = description([headed("", as_paragraphs(row.get("description", "")))], flags)
    return ParsedListing(
        external_id=external_id((row.get("id") or canonical(url))[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(_plain(row.get("title", "")), flags),
        company=name(employer) or context.company or None,
        locations=places(named),
        remote="yes" if is_remote else model if model != "unknown" else remote_in(named),
        employment_type=employment_type(row.get("type")),
        department=name(row.get("department")),
        posted_at=iso_date(row.get("posted_at"), context) or posted(row.get("posted_at"), context),
        compensation=pay_in_field(row.get("salary"), flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _plain(cell: str) -> str:
    """A cell's text: links by their words, without emphasis and symbols of the table's own."""
    text = to_text(_MARKDOWN_LINK.sub(r"\g<text>", cell))
    return " ".join(text.replace("**", "").replace("\\|", "|").replace(_CLOSED, "").split())
