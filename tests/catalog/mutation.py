"""Spoils a platform's response in the ways that responses are spoilt, reproducibly."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from catalog.adapters.base import Adapter, Context, Reading, UnreadableResponse

CONTEXT = Context(token="acme")
STRANGE: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", " ", "\x00", "\ud800", "javascript:alert(1)"),
    *(
        "//evil.example/x",
        "http://127.0.0.1/",
        "x" * 5_000,
        "\u202e\u200b",
        "9999-99-99",
        "0001-01-01T00:00:00Z",
    ),
    *([], {}, [None], [[]], [{}], {"name": {}}, ["a", 1], {"location": ["x"]}),
]
DEEP = b"[" * 950 + b"]" * 950  # just within the parser's stack
RAW = [
    *(
        b"",
        b"null",
        b"[]",
        b"{}",
        b"0",
        b'"x"',
        b"NaN",
        b"<html>",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"9" * 5_000,
    ),
    *(DEEP, b'{"error": ' + DEEP + b"}", b'{"data": ' + DEEP + b"}", b'{"jobs": ' + DEEP + b"}"),
]


def spoilt(document: Any, *, seed: int, count: int) -> Iterator[bytes]:
    """`count` responses made from `document`: keys dropped, values swapped, rows repeated, bytes cut."""
    chance = random.Random(seed)
    yield from RAW
    for _ in range(count):
        changed = copy.deepcopy(document)
        for _ in range(chance.randint(1, 4)):
            changed = _spoil(changed, chance)
        payload = json.dumps(changed).encode()
        if chance.random() < 0.2:
            payload = payload[: chance.randrange(len(payload) + 1)]
        if chance.random() < 0.1:
            place = chance.randrange(len(payload) + 1)
            payload = payload[:place] + bytes([chance.randrange(256)]) + payload[place:]
        yield payload


def assert_reads_or_refuses(adapter: Adapter, payload: bytes) -> None:
    """A35: a reading whose rows can be stored, or UnreadableResponse; nothing else leaves the parser."""
    reading = read_or_refused(adapter, payload)
    if reading is None:
        return
    assert reading.reason
    assert not (reading.complete and reading.rejected)
    for listing in reading.listings:
        assert listing.external_id
        assert 0 < len(listing.title) <= 512
        assert listing.url.startswith(("http://", "https://", "HTTP"))
        assert "\x00" not in repr(listing)
        json.dumps([listing.title, listing.locations, listing.description_text]).encode()
        assert all(len(place) <= 200 for place in listing.locations)


def read_or_refused(adapter: Adapter, payload: bytes) -> Reading | None:
    try:
        return adapter.parse(payload, CONTEXT)
    except UnreadableResponse:
        return None


def _spoil(document: Any, chance: random.Random) -> Any:
    places = list(_places(document))
    if not places:
        return chance.choice(STRANGE)
    holder, key = chance.choice(places)
    action = chance.choice(["drop", "swap", "swap", "repeat", "shuffle"])
    if action == "drop":
        del holder[key]
    elif action == "repeat" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif action == "shuffle" and isinstance(holder, list):
        chance.shuffle(holder)
    else:
        holder[key] = copy.deepcopy(chance.choice(STRANGE))
    return document


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])
