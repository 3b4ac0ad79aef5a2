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
from catalog.adapters.markup import is_markup
from catalog.errors import PullFailed
from catalog.html import to_text
from catalog.links import canonical
from catalog.pacing import fetch_at_pace
from catalog.page_text import blocked_reason
from catalog.paging import Board
from catalog.services.robots import refusal

WALL_BYTES = 200_000  # of a page, in which a wall against robots says so


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
            page = _read_page(adapter, context, request, ask, show, is_linked=bool(so_far.links))
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
    *,
    is_linked: bool,
) -> Reading:
    response = ask(request)
    if is_linked and (why := _is_other_page(response)):
        raise PullFailed("other_page", why)
    if response.status in {404, 410}:
        raise PullFailed("unknown_board", f"{adapter.name} knows no board {context.token!r}")
    if response.status != 200:
        raise PullFailed("status", f"the platform answered {response.status}")
    named = replace(context, names={**context.names, "page_url": request.url})
    reading = adapter.parse(response.content, named)
    show(Page(request.url, response.status, len(response.content), reading.rows, reading.reason))
    return reading


def _is_other_page(response: Response) -> str | None:
    """Why a page that a board names is not the one that came: a login, a wall, some other page (A2)."""
    if canonical(response.final_url) != canonical(response.url):
        return f"it leads to {response.final_url[:200]}"
    if response.status != 200 or not is_markup(response.content):
        return None
    text = to_text(response.content[:WALL_BYTES].decode("utf-8", "replace"))
    return blocked_reason(response.status, response.headers, text)


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
    if obeys_robots and not _is_interface(request) and (why := refusal(url)):
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


def _is_interface(request: Request) -> bool:
    """Whether nothing but JSON is asked for: made for programs, as feeds and pages are for readers."""
    accepted = [each.partition(";")[0].strip() for each in request.headers.get("Accept", "").split(",")]
    return accepted in ([""], ["application/json"])


def context_of(
    *, kind: str, token: str, region: str = "", company: str = "", keys: dict[str, str]
) -> Context:
    """What the adapter of a source knows.

    Raises PullFailed where its platform wants keys that are not set, or is one of another release.
    """
    if kind not in ADAPTERS:
        raise PullFailed("unknown_kind", f"this release reads no boards of the kind {kind!r}")
    adapter = ADAPTERS[kind]
    if missing := [name for name in adapter.needs_keys if not keys.get(name)]:
        names = ", ".join(f"{kind}_{name}".upper() for name in missing)
        raise PullFailed("no_key", f"{adapter.name} wants a key: set {names}")
    return Context(
        token=token, region=region, company=company, names={n: keys[n] for n in adapter.needs_keys}
    )
