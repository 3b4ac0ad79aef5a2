"""Boards that are read page by page: when the pages are the whole of it (A2)."""

from __future__ import annotations

import pytest

from catalog.adapters.base import ParsedListing, Progress, Reading, Rejected, UnreadableResponse
from catalog.paging import MOST_PAGES, Board


def listing(number: int) -> ParsedListing:
    return ParsedListing(
        external_id=str(number), url=f"https://jobs.example.com/{number}", title=f"Engineer {number}"
    )


def page(*numbers: int, total: int | None = None, cursor: str = "", rejected: int = 0) -> Reading:
    """A page with these postings; whole by itself if it holds as many as the total it states."""
    listings = tuple(map(listing, numbers))
    faults = tuple(Rejected(f"bad {number}", "no title") for number in range(rejected))
    rows = len(numbers) + rejected
    return Reading(listings, total == rows, "a page", faults, rows=rows, total=total, cursor=cursor)


def read(*pages: Reading, shows_at_most: int | None = None) -> tuple[Reading, int]:
    """What the pages are together, and how many of them were asked for."""
    board = Board(shows_at_most=shows_at_most)
    asked = 0
    for one in pages:
        asked += 1
        if not board.add(one):
            break
    return board.reading(), asked


def test_as_many_distinct_postings_as_stated_are_the_whole_board() -> None:
    reading, asked = read(page(1, 2, total=5), page(3, 4, total=5), page(5, total=5), page())

    assert (len(reading.listings), reading.complete, asked) == (5, True, 3)
    assert reading.reason == "the whole board: 5 postings on 3 pages"


def test_a_total_that_only_the_first_page_states_counts() -> None:
    """Workday says 0 from the second page on."""
    reading, asked = read(page(1, 2, total=4), page(3, 4, total=0))

    assert (reading.complete, asked) == (True, 2)


def test_a_last_page_that_comes_again_and_again_ends_the_reading_and_proves_nothing() -> None:
    """iCIMS: a page out of range is the last one."""
    reading, asked = read(page(1, 2), page(3, 4), page(3, 4), page(3, 4))

    assert (len(reading.listings), reading.complete, asked) == (4, False, 3)
    assert "came again" in reading.reason


def test_rows_that_moved_between_pages_leave_the_board_partial() -> None:
    """Tied sorts: one posting is on two pages, another on none."""
    reading, asked = read(page(1, 2, total=4), page(2, 3, total=4), page())

    assert (len(reading.listings), reading.complete, asked) == (3, False, 3)
    assert "3 of 4" in reading.reason


def test_postings_that_are_stated_and_not_shown_are_a_refusal_and_no_empty_board() -> None:
    with pytest.raises(UnreadableResponse) as refused:
        read(page(total=1_963))

    assert refused.value.outcome == "refused"


def test_a_page_without_rows_ends_a_board_that_states_no_total() -> None:
    reading, asked = read(page(1), page(2), page())

    assert (reading.complete, asked) == (True, 3)


def test_a_page_that_ends_too_early_leaves_the_board_partial() -> None:
    reading, _ = read(page(1, 2, total=5), page())

    assert not reading.complete


def test_a_row_that_could_not_be_read_leaves_the_board_partial() -> None:
    reading, asked = read(page(1, total=3), page(2, total=3, rejected=1))

    assert (reading.complete, len(reading.rejected), asked) == (False, 1, 2)


@pytest.mark.parametrize("total", [2, 3, None])
def test_as_many_as_the_platform_ever_shows_are_no_proof_of_all(total: int | None) -> None:
    """Workday's 2,000, Amazon's 10,000."""
    shown = page(1, 2, total=total)

    assert not read(shown, page(), shows_at_most=2)[0].complete
    assert read(page(1, total=1), shows_at_most=2)[0].complete


def test_a_board_of_one_page_is_as_complete_as_the_page() -> None:
    assert read(page(1, 2, total=2))[0] == page(1, 2, total=2)
    assert not read(page(1))[0].complete


def test_pages_without_end_come_to_one() -> None:
    board = Board()
    count = 0
    while board.add(page(count)):
        count += 1

    assert count == MOST_PAGES - 1
    assert not board.reading().complete


def test_the_next_request_is_made_from_what_was_seen() -> None:
    board = Board()
    assert board.progress == Progress()

    board.add(page(1, 2, total=9, cursor="a"))
    board.add(page(3, total=0, cursor="b", rejected=1))

    assert board.progress == Progress(pages=2, rows=4, total=9, cursor="b")
