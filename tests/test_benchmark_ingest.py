"""The catalog's benchmark: one board at every call, a limit that compares everything, honest verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.ingest import limit
from benchmarks.ingest.listings import listings
from benchmarks.ingest.suite import _table


def test_the_board_is_the_same_at_every_call() -> None:
    assert list(listings(50)) == list(listings(50))
    assert len({one.external_id for one in listings(50)}) == 50


@pytest.mark.django_db
def test_the_limit_finds_nothing_in_an_unchanged_board() -> None:
    limit.prepare(listings(20))

    assert limit.seconds(listings(20)) > 0


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["url", "title", "company", "department", "description_text", "posted_at"])
def test_the_limit_compares_every_column(field: str) -> None:
    limit.prepare(listings(20))

    first, *others = listings(20)
    change: dict[str, Any] = {field: "another"}
    with pytest.raises(AssertionError, match="1 listings differ"):
        limit.seconds([replace(first, **change), *others])


def test_what_is_missed_is_called_missed() -> None:
    figures = {"listings": 10, "limit_seconds": 1.0, "facts_per_second": 9.0, "bytes_per_listing": 1_000.0}
    figures |= {"again": 0.51, "again_seconds": 2.0, "first": 0.29, "first_seconds": 3.4}

    said = _table(figures)

    assert "re-pull, nothing changed    0.51 of the limit's speed, 0.50 wanted: holds" in said
    assert "first ingest                0.29 of the limit's speed, 0.30 wanted: MISSED" in said
    assert "1000 bytes a further listing, 300 allowed: MISSED" in said
