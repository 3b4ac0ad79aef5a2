"""Reading a board: one request after the other, until the board is whole or says no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from catalog.adapters import ADAPTERS
from catalog.adapters.base import (
    Adapter,
    Context,
    ParsedListing,
    Progress,
    Reading,
    Rejected,
    Request,
    UnreadableResponse,
)
from catalog.adapters.http import Response
from catalog.errors import PullFailed
from catalog.pacing import fetch_at_pace
from catalog.paging import Board
from catalog.services.robots import refusal


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of a board and what was read in it, for those who want to see how a board was read."""

    url: str
    status: int
    size: int  # bytes
    rows: int
    said: str


def read_board(
    adapter: Adapter,
    context: Context,
    *,
    ask: Callable[[Request], Response],
    keep: Callable[[Iterable[ParsedListing]], None] | None = None,
    between: Callable[[Progress], None] = lambda so_far: None,
    show: Callable[[Page], None] = lambda page: None,
) -> Reading:
    """All pages of a board as one reading. `keep` takes the listings, page by page, else the reading has
    them.

    Raises PullFailed, UnreadableResponse, and whatever `ask` and `between` raise.
    """
    board = Board(shows_at_most=adapter.shows_at_most, reads_pages=adapter.reads_pages, keep=keep)
    while request := adapter.request(context, so_far := board.progress):
        between(so_far)
        try:
            page = _read_page(adapter, context, request, ask, show)
        except (PullFailed, UnreadableResponse) as failed:
            if not so_far.links:
                raise
            page = _unread(request, failed)
        if not board.add(page):
            break
    return board.reading()


def _read_page(
    adapter: Adapter,
    context: Context,
    request: Request,
    ask: Callable[[Request], Response],
    show: Callable[[Page], None],
) -> Reading:
    response = ask(request)
    if response.status in {404, 410}:
        raise PullFailed("unknown_board", f"{adapter.name} knows no board {context.token!r}")
    if response.status != 200:
        raise PullFailed("status", f"the platform answered {response.status}")
    named = replace(context, names={**context.names, "page_url": request.url})
    reading = adapter.parse(response.content, named)
    show(Page(request.url, response.status, len(response.content), reading.rows, reading.reason))
    return reading


def _unread(request: Request, failed: PullFailed | UnreadableResponse) -> Reading:
    """One of many linked pages that was not read: a page without a posting is none, all else is a gap."""
    if isinstance(failed, UnreadableResponse) and failed.outcome == "no_posting":
        return Reading((), False, str(failed))
    return Reading((), False, str(failed), (Rejected(request.url[-200:], str(failed)),))


def fetch_request(
    request: Request,
    url: str,
    *,
    max_bytes: int | None = None,
    etag: str | None = None,
    last_modified: str | None = None,
    obeys_robots: bool = True,
) -> Response:
    """Send a request at the pace of its host; `url` is where it really goes.

    What a host asks of robots holds for pages and feeds, not for interfaces made for programs.

    Raises PullFailed where the host's robots.txt forbids it, FetchFailed and HostBusy as `fetch_at_pace`.
    """
    if obeys_robots and "json" not in request.headers.get("Accept", "json") and (why := refusal(url)):
        raise PullFailed("robots", why)
    query = "&".join(f"{name}={value}" for name, value in request.secrets.items())
    asked = f"{url}{'&' if '?' in url else '?'}{query}" if query else url
    return fetch_at_pace(
        asked,
        headers=request.headers,
        body=request.body,
        max_bytes=max_bytes,
        etag=etag,
        last_modified=last_modified,
    )


def context_of(
    *, kind: str, token: str, region: str = "", company: str = "", keys: dict[str, str]
) -> Context:
    """What the adapter of a source knows.

    Raises PullFailed where its platform wants keys that are not set.
    """
    adapter = ADAPTERS[kind]
    if missing := [name for name in adapter.needs_keys if not keys.get(name)]:
        names = ", ".join(f"{kind}_{name}".upper() for name in missing)
        raise PullFailed("no_key", f"{adapter.name} wants a key: set {names}")
    return Context(
        token=token, region=region, company=company, names={n: keys[n] for n in adapter.needs_keys}
    )
