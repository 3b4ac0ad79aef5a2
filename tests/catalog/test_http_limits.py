"""Servers that mean harm or are broken: what a fetch takes from them, in bytes and in time."""

from __future__ import annotations

import gzip
import threading
import tracemalloc
import zlib

import pytest

from catalog.adapters.body import read_body
from catalog.adapters.errors import FetchOutcome
from catalog.adapters.http import FetchFailed, fetch
from catalog.adapters.wire import Internet
from tests.catalog.servers import Exchange, LocalServers, Reply, answer, dripping, endless, raw, silent

MEGABYTE = 1024 * 1024
SOCKET_BUFFERS = 32 * MEGABYTE  # what may be under way when the reader hangs up


def outcome_of(url: str, *, max_bytes: int = MEGABYTE, deadline_seconds: float = 30) -> FetchOutcome | None:
    try:
        fetch(url, max_bytes=max_bytes, deadline_seconds=deadline_seconds)
    except FetchFailed as failed:
        return failed.outcome
    return None


def gzipped(content: bytes) -> bytes:
    """Without the time of day in it, so that it is the same bytes each time."""
    return gzip.compress(content, mtime=0)


def zeros_packed(megabytes: int) -> bytes:
    """A gzip file of zeros, a hundredth of a percent of its content: one packed block, repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = packer.compress(bytes(10)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(10 * MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (megabytes // 10)


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n", bytes(65536)),
        (b"HTTP/1.1 200 OK\r\n\r\n", bytes(65536)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + bytes(65536) + b"\r\n"),
    ],
    ids=["announced", "until close", "chunked"],
)
def test_a_body_of_two_gigabytes_is_left_at_the_limit(local: LocalServers, head: bytes, piece: bytes) -> None:
    server = local(endless(head, piece, times=32768))
    assert outcome_of(server.base) == "too_large"
    assert server.exchanges[0].sent < SOCKET_BUFFERS


def test_a_body_of_exactly_the_limit_is_read(local: LocalServers) -> None:
    server = local(answer(200, bytes(MEGABYTE)))
    assert len(fetch(server.base, max_bytes=MEGABYTE).content) == MEGABYTE
    assert outcome_of(server.base, max_bytes=MEGABYTE - 1) == "too_large"


@pytest.mark.parametrize("max_bytes", [5 * MEGABYTE, 100_000 * MEGABYTE], ids=["by size", "by ratio"])
def test_ten_megabytes_that_unpack_to_ten_gigabytes_are_refused(local: LocalServers, max_bytes: int) -> None:
    bomb = zeros_packed(10_000)
    assert 9 * MEGABYTE < len(bomb) < 11 * MEGABYTE
    server = local(answer(200, bomb, {"Content-Encoding": "gzip"}))
    assert outcome_of(server.base, max_bytes=max_bytes) == "too_large"


def test_unpacking_a_bomb_takes_little_memory() -> None:
    bomb = zeros_packed(1000)
    tracemalloc.start()
    with pytest.raises(FetchFailed, match="100 times"):
        read_body([bomb], coding="gzip", max_bytes=100_000 * MEGABYTE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # `bomb` is one chunk here, so its unpacked hundredfold is the most that is ever held
    assert peak < 120 * len(bomb) + MEGABYTE


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzipped(b"jobs" * 1000)),
        ("X-GZIP", gzipped(b"jobs" * 400) + gzipped(b"jobs" * 600)),
        ("deflate", zlib.compress(b"jobs" * 1000)),
        ("deflate", zlib.compress(b"jobs" * 1000)[2:-4]),
        ("identity", b"jobs" * 1000),
        ("", b"jobs" * 1000),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_packed_body_is_unpacked_however_it_is_cut_into_chunks(coding: str, body: bytes, step: int) -> None:
    chunks = [body[at : at + step] for at in range(0, len(body), step)]
    assert read_body(chunks, coding=coding, max_bytes=4000) == b"jobs" * 1000


def test_a_small_page_may_be_packed_as_tightly_as_it_likes() -> None:
    page = b"<td></td>" * 60_000
    packed = gzipped(page)
    assert len(page) > 100 * len(packed)
    assert read_body([packed], coding="gzip", max_bytes=MEGABYTE) == page


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", b"..."),
        ("zstd", b"..."),
        ("gzip, gzip", gzipped(gzipped(b"a"))),
        ("gzip, identity", gzipped(b"a")),
        ("nonsense", b"a"),
        ("gzip", b"plain"),
        ("gzip", gzipped(b"a" * 1000)[:-1]),
        ("gzip", gzipped(b"a" * 1000)[:20]),
        ("gzip", gzipped(b"a") + b"rest"),
        ("gzip", gzipped(b"a")[:-8] + bytes(8)),
        ("deflate", zlib.compress(b"a" * 1000)[:-5]),
        ("deflate", zlib.compress(b"a") + b"rest"),
        ("deflate", b"x"),
    ],
)
def test_a_damaged_or_unasked_packing_is_not_taken_for_a_body(
    local: LocalServers, coding: str, body: bytes
) -> None:
    """A2: a body that was cut inside its packing is never a whole one."""
    assert outcome_of(local(answer(200, body, {"Content-Encoding": coding})).base) == "protocol"


@pytest.mark.parametrize(
    "reply",
    [
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", bytes(60)),
        dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 8 + b"\r\n"),
        dripping(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 OK\r\n\r\n"),
        silent,
    ],
    ids=["body", "headers", "status", "informational", "nothing"],
)
def test_a_server_that_drips_is_cut_off_when_the_time_is_up(local: LocalServers, reply: Reply) -> None:
    """Every single byte is in time and the response is complete in the end: only the whole is too slow."""
    server = local(reply)
    assert outcome_of(server.base, deadline_seconds=0.5) == "timeout"


def test_redirects_share_one_deadline(local: LocalServers) -> None:
    """Each hop is well within the time, and the fifth would answer."""

    def reply(exchange: Exchange) -> None:
        count = len(server.exchanges)
        onward = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /"
        dripping(onward, b"%d........\r\n\r\n" % count)(exchange) if count < 5 else answer()(exchange)

    server = local(reply)
    assert outcome_of(server.base, deadline_seconds=1) == "timeout"


def test_a_lookup_that_never_ends_is_given_up() -> None:
    released = threading.Event()

    def hang(name: str, port: int) -> list[str]:
        released.wait(30)
        return []

    with pytest.raises(FetchFailed) as failed:
        fetch("http://example.com/", deadline_seconds=0.1, internet=Internet(look_up=hang))
    released.set()
    assert failed.value.outcome == "timeout"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 10", b"short"),
        (b"Content-Length: 5\r\nContent-Length: 6", b"short"),
        (b"Content-Length: -1", b"short"),
        (b"Content-Length: 5x", b"short"),
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"5\r\nshort\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: chunked", b"5\r\nshort\r\n"),
        (b"Transfer-Encoding: chunked", b"5\r\nsho"),
        (b"Transfer-Encoding: chunked", b"zz\r\nshort\r\n0\r\n\r\n"),
        (b"Transfer-Encoding: gzip", b"short"),
        (b"X: a\r\n b\x00c", b""),
        (b": nameless", b""),
    ],
)
def test_a_body_of_unclear_or_unreached_length_is_a_failure(
    local: LocalServers, head: bytes, body: bytes
) -> None:
    """A2: what was cut on the way proves nothing about what is missing."""
    reply = raw(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + body)
    assert outcome_of(local(reply).base) == "protocol"


def test_bytes_after_the_announced_length_are_ignored(local: LocalServers) -> None:
    server = local(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\njobsHTTP/1.1 200 OK\r\n\r\nmore"))
    assert fetch(server.base).content == b"jobs"


@pytest.mark.parametrize(
    "flood",
    [
        raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 15_000 + b"Content-Length: 0\r\n\r\n"),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: a\r\n" * 1000, times=300_000),
        endless(b"HTTP/1.1 200 OK\r\nX: ", b"a" * 65536, times=30_000),
    ],
    ids=["one large", "many small", "endless lines", "endless line"],
)
def test_a_flood_of_headers_is_refused(local: LocalServers, flood: Reply) -> None:
    server = local(flood)
    assert outcome_of(server.base) == "protocol"
    assert server.exchanges[0].sent < SOCKET_BUFFERS


@pytest.mark.parametrize(
    "said",
    [
        *(b"", b"\r\n", b"hello\r\n", b"<html>0.9</html>", b"SSH-2.0-OpenSSH_9\r\n", bytes(1000)),
        *(b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200", b"HTTP/1.1 2000 OK\r\n\r\n"),
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_an_answer_that_is_not_http_is_a_failure(local: LocalServers, said: bytes) -> None:
    assert outcome_of(local(raw(said)).base) == "protocol"
