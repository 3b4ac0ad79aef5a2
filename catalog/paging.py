"""A board that is read page by page: what belongs together, and whether it is the whole of it (A2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from catalog.adapters.base import ParsedListing, Progress, Reading, Rejected, UnreadableResponse

MOST_PAGES = 1_000


class Board:
    """The pages of one board as they arrive.

    Platforms cap their lists, repeat the last page for ever, state a total on the first page alone, or sort
    by what is equal for many, so that a row is on two pages and another on none. So only as many distinct
    postings as the platform states, read, are the whole board; without a stated total, an end that the
    platform itself shows: a page with nothing on it, or one that names no next. The largest total that any
    page states counts, and what is missing from one page is missing from the board.
    """

    def __init__(
        self,
        *,
        shows_at_most: int | None = None,
        reads_pages: int | None = None,
        keep: Callable[[Iterable[ParsedListing]], None] | None = None,
    ) -> None:
        """`keep` takes each page's listings away, so that a board of any size costs the memory of a page."""
        self._keep = keep
        self._keys: set[int] = set()
        self._shows_at_most = shows_at_most
        self._reads_pages = reads_pages
        self._listings: dict[str, ParsedListing] = {}
        self._rejected: list[Rejected] = []
        self._faults: set[Rejected] = set()
        self._pages = 0
        self._rows = 0
        self._total: int | None = None
        self._stated_pages = 0
        self._lacks_total = False
        self._links: dict[str, None] = {}
        self._gaps: dict[str, None] = {}
        self._last = Reading((), False, "nothing is read yet")

    @property
    def progress(self) -> Progress:
        return Progress(self._pages, self._rows, self._total, self._last.cursor, tuple(self._links))

    def add(self, page: Reading) -> bool:
        """Take the next page in; whether there may be another one.

        Raises UnreadableResponse for a first page without a row where the platform states postings: that is
        a refusal, and no empty board.
        """
        is_first = not self._pages
        if is_first and page.total and not page.rows:
            raise UnreadableResponse("refused", f"{page.total} postings are stated, and none is shown")
        self._take_statements(page)
        before = len(self._keys)
        self._keys |= {hash(listing.external_id) for listing in page.listings}
        if self._keep is None:
            self._listings |= {listing.external_id: listing for listing in page.listings}
        else:
            self._keep(page.listings)
            page = replace(page, listings=())
        self._last = page
        self._pages += 1
        self._rows += page.rows
        is_repeated = page.rows and len(self._keys) == before and self._faults.issuperset(page.rejected)
        self._faults |= set(page.rejected)
        self._rejected += page.rejected
        self._links |= dict.fromkeys(page.links)
        if is_repeated and not is_first and not self._links:
            self._rejected = self._rejected[: len(self._rejected) - len(page.rejected)]
            self._gaps["a page came again instead of the next one"] = None
            return False
        if self._pages >= MOST_PAGES:
            self._gaps[f"more than {MOST_PAGES} pages"] = None
            return False
        if self._reads_pages and self._pages >= self._reads_pages:
            self._gaps[f"only the newest {self._reads_pages} pages are read"] = None
            return False
        if self._links:
            return self._pages <= len(self._links)
        names_more = bool(page.rows or page.cursor)
        return names_more and (self._total is None or self._count < self._total)

    def _take_statements(self, page: Reading) -> None:
        """What the page says of the whole board and of itself."""
        if page.total is not None:
            self._total = max(page.total, self._total or 0)
        self._stated_pages = max(self._stated_pages, page.pages or 0)
        self._lacks_total |= page.lacks_total
        if page.gap:
            self._gaps[page.gap] = None

    @property
    def _count(self) -> int:
        return len(self._keys) + len(self._rejected)

    def reading(self) -> Reading:
        """All of it as one. A board of one page is as complete as that page says."""
        if self._pages == 1:
            only = replace(self._last, listings=tuple(self._listings.values()))
            if gaps := list(self._gaps):
                only = replace(only, complete=False, reason="; ".join(gaps))
            return self._capped(only)
        gaps = list(self._gaps)
        if self._stated_pages > self._pages:
            gaps.append(f"the platform states {self._stated_pages} pages, and {self._pages} were read")
        if self._total is None and self._lacks_total:
            gaps.append("the response does not state how many postings the board has")
        if self._total is not None and self._total != self._count:
            gaps.append(f"{self._count} of {self._total} postings are on the {self._pages} pages")
        if self._rejected:
            gaps.append(f"{len(self._rejected)} rows could not be read")
        reason = "; ".join(gaps) or f"the whole board: {self._count} postings on {self._pages} pages"
        whole = Reading(
            tuple(self._listings.values()),
            not gaps,
            reason,
            tuple(self._rejected),
            rows=self._rows,
            total=self._total,
        )
        return self._capped(whole)

    def _capped(self, reading: Reading) -> Reading:
        cap = self._shows_at_most
        if cap is None or max(self._count, reading.total or 0) < cap:
            return reading
        reason = f"the platform shows at most {cap:,} postings, and this board may have more"
        return Reading(
            reading.listings, False, reason, reading.rejected, rows=reading.rows, total=reading.total
        )
