"""Any RSS, Atom or JSON feed of jobs. The token is its address.

Facts: https://www.rssboard.org/rss-specification, RFC 4287, https://www.jsonfeed.org/version/1.1/. A feed
shows the newest and never says that they are all. A `guid` may be no address, and many a description is
only a beginning.
"""

from __future__ import annotations

from typing import Any

from catalog.adapters.base import Context, ParsedListing, Reading
from catalog.adapters.fields import (
    description,
    employer_line,
    external_id,
    headed,
    iso_date,
    mail_date,
    name,
    objects,
    one_line,
    page_link,
    teaser,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.markup import MENDED, child_text, children, feed, inner_html
from catalog.adapters.one_board import PageBoard
from catalog.adapters.payload import load_object, read_elements, read_rows, rows_of, wrong_shape
from catalog.html import to_text

_WHOLE_TEXT = 600  # characters; what is shorter is taken for the beginning of a text


class Feed(PageBoard):
    kind = "feed"
    name = "RSS, Atom or JSON feed"

    def headers(self) -> dict[str, str]:
        return {"Accept": "application/rss+xml, application/atom+xml, application/feed+json, application/xml"}

    def parse(self, payload: bytes, context: Context) -> Reading:
        if payload.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            items = rows_of(load_object(payload, of=self.name), "items")
            return read_rows(items, lambda row: _json_item(row, context), shares_links=True).page()
        root, is_whole = feed(payload)
        gap = "" if is_whole else MENDED
        if root.tag.rpartition("}")[2] == "feed":
            return read_elements(
                children(root, "entry"), lambda row: _entry(row, context), shares_links=True
            ).page(gap=gap)
        channels = children(root, "channel")
        if not channels:
            wrong_shape("the document is no feed")
        items = children(channels[0], "item") or children(root, "item")  # RSS 1.0 has them beside it
        return read_elements(items, lambda row: _item(row, context), shares_links=True).page(gap=gap)


def _item(row: Any, context: Context) -> ParsedListing:
    link = child_text(row, "link") or child_text(row, "guid")
    html = child_text(row, "encoded") or child_text(row, "description")
    company = child_text(row, "company") or child_text(row, "creator")
    date = child_text(row, "pubDate") or child_text(row, "date")
    return _listing(
        context,
        link=link,
        number=child_text(row, "guid"),
        heading=child_text(row, "title"),
        html=html,
        date=date,
        where=[child_text(row, "location")],
        company=company if child_text(row, "company") else "",
    )


def _entry(row: Any, context: Context) -> ParsedListing:
    links = {each.get("rel") or "alternate": each.get("href") for each in children(row, "link")}
    contents = children(row, "content") or children(row, "summary")
    html = ""
    if contents:
        is_markup = contents[0].get("type") == "xhtml"
        html = inner_html(contents[0]) if is_markup else "".join(contents[0].itertext())
    return _listing(
        context,
        link=links.get("alternate") or next(iter(links.values()), None),
        number=child_text(row, "id"),
        heading=child_text(row, "title"),
        html=html,
        date=child_text(row, "published") or child_text(row, "updated"),
        where=[child_text(row, "location")],
        company="",
    )


def _json_item(row: dict[str, Any], context: Context) -> ParsedListing:
    authors = [one_line(each.get("name"), limit=200) for each in objects(row, "authors")]
    return _listing(
        context,
        link=row.get("url") or row.get("external_url"),
        number=one_line(str(row.get("id") or ""), limit=200),
        heading=row.get("title"),
        html=row.get("content_html") or row.get("content_text"),
        date=row.get("date_published"),
        where=[],
        company=authors[0] if len(authors) == 1 else "",
    )


def _listing(
    context: Context,
    *,
    link: object,
    number: str,
    heading: object,
    html: object,
    date: object,
    where: list[str],
    company: str,
) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(link, context.token)
    employer, place = employer_line(company)
    where = where if any(where) else [place]
    is_whole = isinstance(html, str) and len(to_text(html)) >= _WHOLE_TEXT
    shown = description([headed("", html)], flags) if is_whole else teaser(html, flags)
    return ParsedListing(
        external_id=external_id((number or url)[-200:]),
        url=url,
        raw_url=raw_url,
        title=title(heading, flags),
        company=name(employer) or context.company or None,
        locations=places(where),
        remote=remote_in(where),
        posted_at=mail_date(date, context) or iso_date(date, context),
        description_html=shown[0],
        description_text=shown[1],
        flags=tuple(flags),
    )
