"""A saved response as JSON, or the reason why it is none; and rows of it as a reading."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, NoReturn
from urllib.parse import quote

from catalog.adapters.base import ParsedListing, Reading, Rejected, UnreadableResponse
from catalog.html import clean
from catalog.links import canonical, is_web_url

# UTF-32 before UTF-16: its little-endian mark begins with the other's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class RowUnreadable(Exception):
    """One row of a response cannot be a listing; the rest of the board is not touched by it."""


def load(payload: bytes) -> Any:
    """The JSON value of a response body. Raises UnreadableResponse, and nothing else.

    Decoding order: a byte order mark, else UTF-8, as JSON requires; bytes that do not fit become U+FFFD,
    so that one damaged description does not lose the board. NaN and Infinity, integers beyond the
    interpreter's limit, repeated keys and nesting beyond the interpreter's stack are refused: two readers
    would disagree about such a document.
    """
    text = _decode(payload).strip()
    if not text:
        raise UnreadableResponse("empty", "the response is empty")
    if text[0] == "<":
        raise UnreadableResponse("html_page", "the response is a web page, not JSON")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        outcome = "truncated" if _was_cut(text, fault) else "not_json"
        raise UnreadableResponse(outcome, f"not JSON: {fault.msg} at character {fault.pos}") from None
    except RecursionError:
        raise UnreadableResponse("too_deep", "nested too deeply") from None
    except ValueError:  # the interpreter's limit on the digits of an integer
        raise UnreadableResponse("bad_number", "a number with thousands of digits") from None


def load_object(payload: bytes, *, of: str) -> dict[str, Any]:
    """The JSON object of a response; `of` names the platform. Raises UnreadableResponse, for errors too."""
    body = load(payload)
    if not isinstance(body, dict):
        wrong_shape(f"a response of {of} is an object")
    refuse_error_body(body)
    return body


def rows_of(body: dict[str, Any], *keys: str) -> list[Any]:
    """The list under the keys, one in the other. Raises UnreadableResponse where there is none."""
    value: Any = body
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, list):
        wrong_shape(f"the response holds no list of {keys[-1]}")
    return value


def count_in(value: object) -> int | None:
    """A count that a platform states, also where it is written as text; None for all else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return value if is_count and isinstance(value, int) else None


def refuse_error_body(body: dict[str, Any]) -> None:
    """Raise for an error that arrives as JSON, with status 200 too: it is not an empty board (A2).

    Most platforms say "not found" for a board that does not exist.
    """
    error = body.get("error") or body.get("errors")
    if not error and body.get("ok") is not False:
        error = body.get("detail") if body.keys() <= {"detail", "code", "status"} else None
    if not error and body.get("ok") is not False:
        return
    detail = clean(error)[:200] if isinstance(error, str) else "no words with it"
    outcome = "unknown_board" if "not found" in detail.lower() else "error_body"
    raise UnreadableResponse(outcome, f"the platform answered with an error: {detail}")


def wrong_shape(detail: str) -> NoReturn:
    raise UnreadableResponse("wrong_shape", detail)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a response after reading: listings by id, rows that are none, ids that came twice."""

    listings: dict[str, ParsedListing]
    rejected: tuple[Rejected, ...]
    repeated: tuple[str, ...]
    rows: int

    @property
    def count(self) -> int:
        """Distinct postings seen, read or not."""
        return len(self.listings) + len(self.rejected)

    def board(self, *, total: int | None, note: str = "") -> Reading:
        """The reading of a whole-board response that should hold `total` postings; None: not stated.

        Partial when the count of distinct postings differs from the total, when there is no total to
        compare with, and when a row was seen but not read (A2).
        """
        gaps = []
        if total is None:
            gaps.append("the response does not state how many postings the board has")
        elif total != self.count:
            gaps.append(f"{self.count} of {total} postings are in the response")
        if self.rejected:
            gaps.append(f"{len(self.rejected)} rows could not be read")
        held = f"the whole board: {self.count} postings" if self.count else "the board is empty"
        notes = [f"{len(self.repeated)} ids came twice, the last row counts"] if self.repeated else []
        reason = "; ".join([*(gaps or [held]), *notes, *([note] if note else [])])
        return Reading(
            tuple(self.listings.values()), not gaps, reason, self.rejected, rows=self.rows, total=total
        )

    def page(
        self,
        *,
        total: int | EllipsisType | None = ...,
        cursor: str = "",
        note: str = "",
        gap: str = "",
        pages: int | None = None,
    ) -> Reading:
        """The reading of one page of a board that is read in several, or may be.

        Whole by itself only where it holds as many as the total it states; `catalog.paging` judges the rest.
        `total` is left out for a platform that states none; None is one that failed to. `gap` says why rows
        of this page may be missing.
        """
        stated = None if isinstance(total, EllipsisType) else total
        whole = self.board(total=stated, note="; ".join(filter(None, (note, gap))))
        return replace(
            whole,
            complete=whole.complete and not gap,
            cursor=cursor,
            gap=gap,
            pages=pages,
            lacks_total=total is None,
        )

    def detail(self) -> Reading:
        """The reading of a response that shows one posting and says nothing about the others."""
        return Reading(
            tuple(self.listings.values()), False, "one posting, not the whole board", self.rejected
        )


def read_rows(
    rows: Sequence[Any],
    read: Callable[[dict[str, Any]], ParsedListing],
    *,
    is_row_per_place: bool = False,
    shares_links: bool = False,
) -> Rows:
    """Rows read one by one; a row that cannot be read is rejected with its reason.

    Of two rows with one id the last counts, in the place of the first; where the platform writes a row for
    each place of a posting, its places are put together. Raises UnreadableResponse when there are rows and
    none is an object.
    """
    if rows and not any(isinstance(row, dict) for row in rows):
        wrong_shape("the rows of the response are not objects")

    def read_object(row: Any) -> ParsedListing:
        if not isinstance(row, dict):
            raise RowUnreadable("the row is not an object")
        return read(row)

    return read_elements(rows, read_object, is_row_per_place=is_row_per_place, shares_links=shares_links)


def read_elements(
    rows: Sequence[Any],
    read: Callable[[Any], ParsedListing],
    *,
    is_row_per_place: bool = False,
    shares_links: bool = False,
) -> Rows:
    """The same for rows of any kind, elements of a page or feed.

    Where people write the rows, several jobs may lead to one page (`shares_links`): they are told apart by
    their titles, and each has an address of its own there.
    """
    listings: dict[str, ParsedListing] = {}
    rejected: list[Rejected] = []
    repeated: list[str] = []
    for row in rows:
        try:
            listing = read(row)
        except RowUnreadable as fault:
            shown = row.get("id") if isinstance(row, dict) else None
            rejected.append(Rejected(_shown_id(shown), str(fault)))
            continue
        earlier = listings.get(listing.external_id)
        if earlier and shares_links and earlier.title != listing.title:
            listing = replace(listing, external_id=f"{listing.external_id}|{listing.title}"[:300])
            earlier = listings.get(listing.external_id)
        if earlier and is_row_per_place:
            places = dict.fromkeys((*earlier.locations, *listing.locations))
            listing = replace(listing, locations=tuple(places))
        elif earlier:
            repeated.append(listing.external_id)
        listings[listing.external_id] = listing
    if shares_links:
        listings = {listing.external_id: listing for listing in _with_own_addresses(listings.values())}
    return Rows(listings, tuple(rejected), tuple(repeated), len(rows))


def _with_own_addresses(listings: Collection[ParsedListing]) -> Iterator[ParsedListing]:
    """Listings of which no two have one address (A4): a fragment names what the page does not."""
    pages = Counter(canonical(listing.url) for listing in listings)
    for listing in listings:
        page = canonical(listing.url)
        own = f"{page}#id={quote(listing.external_id[-200:], safe='')}"
        is_shared = pages[page] > 1 and "#" not in page and is_web_url(own)
        yield replace(listing, url=own, raw_url=listing.raw_url or listing.url) if is_shared else listing


def _shown_id(value: object) -> str:
    return clean(str(value))[:200] if isinstance(value, str | int) else ""


def _decode(payload: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if payload.startswith(mark):
            return payload[len(mark) :].decode(encoding, errors="replace")
    return payload.decode("utf-8", errors="replace")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise UnreadableResponse("duplicate_key", "a key occurs twice in one object")
    return built


def _refuse_constant(name: str) -> NoReturn:
    raise UnreadableResponse("bad_number", f"{name} is not JSON")


def _was_cut(text: str, fault: json.JSONDecodeError) -> bool:
    """Whether the document only lacks its end: it began as JSON, and the fault is where the text stops."""
    return text[0] in "{[" and (fault.pos >= len(text) or fault.msg.startswith("Unterminated string"))
