"""Every platform reads its sample as expected, and nothing else than a reading or a named failure leaves
it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from catalog.adapters import ADAPTERS, detect
from catalog.adapters.base import Adapter, Context, Detection, Progress, Reading, UnreadableResponse
from catalog.listing_json import normalised
from tests.catalog.mutation import RAW, assert_reads_or_refuses, spoilt

SAMPLES = Path(__file__).parent / "samples"
EXPECTED: dict[str, Any] = json.loads((SAMPLES / "expected.json").read_text())
HAVE_TESTS_OF_THEIR_OWN = {"greenhouse", "lever", "ashby"}
FETCHED_AT = datetime(2026, 3, 5, 12, tzinfo=UTC)

each_kind = pytest.mark.parametrize("kind", sorted(EXPECTED))


def sample(kind: str) -> bytes:
    [file] = SAMPLES.glob(f"{kind}.*")
    return file.read_bytes()


def context(kind: str) -> Context:
    return Context(token=EXPECTED[kind]["token"], fetched_at=FETCHED_AT)


def read(kind: str) -> Reading:
    return ADAPTERS[kind].parse(sample(kind), context(kind))


def said(reading: Reading) -> list[dict[str, Any]]:
    """What the listings say, without what is empty or unknown; the HTML is that of the text."""
    rows = [{**normalised(listing), "flags": list(listing.flags)} for listing in reading.listings]
    empty: tuple[Any, ...] = (None, [], "", "unknown")
    return [
        {key: value for key, value in row.items() if value not in empty and key != "description_html"}
        for row in rows
    ]


def test_every_platform_has_a_sample() -> None:
    assert set(EXPECTED) | HAVE_TESTS_OF_THEIR_OWN == set(ADAPTERS)


@each_kind
def test_a_platform_reads_its_sample(kind: str) -> None:
    """Contracts A2 and A9: what is stated, and nothing else; whole only where the response proves it."""
    reading = read(kind)
    expected = EXPECTED[kind]
    assert said(reading) == expected["listings"]
    assert (reading.complete, reading.reason) == (expected["complete"], expected["reason"])


@each_kind
def test_a_cut_response_is_never_taken_for_whole(kind: str) -> None:
    """Contract A2, for a cut at every byte."""
    adapter, whole, payload = ADAPTERS[kind], read(kind), sample(kind).rstrip()
    step = 1 if payload[:1] in b"[{" or len(payload) < 1_500 else 5
    for end in range(1, len(payload), step):
        try:
            reading = adapter.parse(payload[:end], context(kind))
        except UnreadableResponse:
            continue
        assert not reading.complete or reading == replace(whole, complete=True), payload[:end][-60:]


@each_kind
def test_a_spoilt_response_is_read_or_refused(kind: str) -> None:
    """A named failure or a reading whose rows can be stored; nothing else leaves the parser."""
    adapter, payload = ADAPTERS[kind], sample(kind)
    is_json = payload[:1] in b"[{"
    spoiled = spoilt(json.loads(payload), seed=7, count=150) if is_json else spoilt_text(payload)
    for each in spoiled:
        assert_reads_or_refuses(adapter, each)


def spoilt_text(payload: bytes) -> Iterator[bytes]:
    """Pages and documents with pieces taken out, doubled, and put in from elsewhere."""
    chance = random.Random(7)
    yield from RAW
    strange = [
        b"<",
        b">",
        b'"',
        b"&",
        b"\x00",
        b"\xff",
        b"]]>",
        b"<!--",
        b"&#xD800;",
        b"<a href='javascript:x'>",
    ]
    for _ in range(150):
        start, end = sorted(chance.randrange(len(payload) + 1) for _ in range(2))
        middle = chance.choice([b"", payload[start:end] * 2, chance.choice(strange), b"9" * 500])
        yield payload[:start] + middle + payload[end:]


@each_kind
def test_a_request_goes_where_the_platform_lives(kind: str) -> None:
    """Whatever stands in a token, it leads to no other host than one that the token itself names."""
    adapter = ADAPTERS[kind]
    hostile = [
        "",
        "..",
        "../../admin",
        "a/b",
        "evil.example/x?",
        "a@evil.example",
        "a|b|c/../..",
        "\x00",
        "%2e%2e",
    ]
    for token in hostile:
        asked = adapter.request(Context(token=token), Progress())
        assert asked is not None
        host = asked.url.partition("//")[2].partition("/")[0]
        assert "@" not in host
        assert "evil" not in host, asked.url
        assert "/../" not in asked.url
        assert "\x00" not in asked.url


@each_kind
def test_an_address_of_a_posting_names_it_again(kind: str) -> None:
    """Contract A4: the platform's one spelling of a posting's address is recognised as that posting."""
    adapter = ADAPTERS[kind]
    for listing in read(kind).listings:
        found = detect(listing.url)
        if found is None or found.kind != kind or found.posting_id is None:
            continue
        again = detect(adapter.posting_url(found))
        if again is not None:
            assert (again.kind, again.posting_id) == (kind, found.posting_id)


def test_no_two_platforms_claim_one_address() -> None:
    for kind, adapter in ADAPTERS.items():
        board = adapter.board_url(context(kind) if kind in EXPECTED else Context(token="acme"))
        claims = [other for other in ADAPTERS.values() if other.detect(board)]
        assert len(claims) <= 1, (board, claims)


def test_what_is_detected_leads_back_to_the_board() -> None:
    for kind in EXPECTED:
        adapter: Adapter = ADAPTERS[kind]
        found: Detection | None = adapter.detect(adapter.board_url(context(kind)))
        if found is not None and found.token != kind:
            expected = EXPECTED[kind]["token"]
            assert found.token.casefold() == expected.casefold()
