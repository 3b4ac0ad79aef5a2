"""The recorded responses of all platforms, spoilt: a named failure or a reading, whatever is done to them."""

from __future__ import annotations

import json
import random
from pathlib import Path

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, UnreadableResponse
from tests.catalog.mutation import assert_reads_or_refuses, spoilt


def recordings(shared: Path) -> list[Path]:
    files = [file for file in sorted((shared / "payloads").glob("*/*")) if file.parent.name in ADAPTERS]
    assert len(files) > 100
    return files


def test_recordings_cut_anywhere_are_never_taken_for_whole(shared: Path) -> None:
    """Contract A2."""
    chance = random.Random(4)
    for file in recordings(shared):
        adapter, payload = ADAPTERS[file.parent.name], file.read_bytes().rstrip()
        context = Context(token="acme")
        try:
            whole = adapter.parse(payload, context)
        except UnreadableResponse:
            whole = None
        for _ in range(12):
            try:
                reading = adapter.parse(payload[: chance.randrange(len(payload))], context)
            except UnreadableResponse:
                continue
            is_whole = whole is not None and reading.listings == whole.listings
            assert not reading.complete or is_whole, file


def test_recordings_with_values_swapped_are_read_or_refused(shared: Path) -> None:
    for file in recordings(shared):
        adapter, payload = ADAPTERS[file.parent.name], file.read_bytes()
        try:
            document = json.loads(payload)
        except ValueError:
            continue
        for each in spoilt(document, seed=4, count=12):
            assert_reads_or_refuses(adapter, each)
