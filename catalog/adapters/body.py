"""A response's body, decoded within limits: neither an endless body nor a small one that unpacks to much."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from catalog.adapters.errors import FetchFailed

# Text compresses tenfold, repetitive JSON perhaps thirtyfold; deflate ends at about a thousandfold.
MAX_RATIO = 100
# Below this a ratio says nothing: an empty table of a few kilobytes can be compressed as far.
RATIO_COUNTS_FROM = 1024 * 1024
PIECE_BYTES = 64 * 1024  # what is unpacked at once, before the limits are looked at again

_IDENTITY = {"", "identity"}
_GZIP = {"gzip", "x-gzip"}
_GZIP_WINDOW = zlib.MAX_WBITS | 16


def read_body(chunks: Iterable[bytes], *, coding: str, max_bytes: int) -> bytes:
    """The decoded body. `coding` is the Content-Encoding header, "" when there is none.

    Raises FetchFailed: too_large beyond `max_bytes` (received or decoded) or MAX_RATIO; protocol for a coding
    that was not asked for, for one inside another, and for compressed data that is damaged or cut short.
    """
    coding = coding.strip().lower()
    unpacker = None if coding in _IDENTITY else _Unpacker(coding)
    body = bytearray()
    received = 0
    for chunk in chunks:
        received += len(chunk)
        for piece in unpacker.unpack(chunk) if unpacker else (chunk,):
            body += piece
            _check_size(len(body), received, max_bytes)
        _check_size(len(body), received, max_bytes)
    if unpacker and received and not unpacker.is_complete:
        raise FetchFailed("protocol", f"the {coding} body is cut short")
    return bytes(body)


def _check_size(decoded: int, received: int, max_bytes: int) -> None:
    if max(decoded, received) > max_bytes:
        raise FetchFailed("too_large", f"more than {max_bytes:,} bytes")
    if decoded > RATIO_COUNTS_FROM and decoded > received * MAX_RATIO:
        raise FetchFailed("too_large", f"unpacks to more than {MAX_RATIO} times its size")


class _Unpacker:
    """gzip or deflate, a bounded piece at a time."""

    def __init__(self, coding: str) -> None:
        if coding not in _GZIP | {"deflate"}:
            raise FetchFailed("protocol", f"content encoding {coding[:60]!r} was not asked for")
        self._coding = coding
        self._stream = zlib.decompressobj(_GZIP_WINDOW) if coding in _GZIP else None
        self._head = b""

    @property
    def is_complete(self) -> bool:
        return self._stream is not None and self._stream.eof

    def unpack(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._stream = self._head, zlib.decompressobj(_deflate_window(self._head))
        while True:
            try:
                piece = self._stream.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise FetchFailed("protocol", f"the body is not {self._coding}") from error
            yield piece
            if self._stream.eof:
                data = self._stream.unused_data
                if not data:
                    return
                self._stream = self._next_member()
            else:
                data = self._stream.unconsumed_tail
                if not data and len(piece) < PIECE_BYTES:
                    return

    def _next_member(self) -> zlib._Decompress:
        """A gzip body may be several files in a row; reading only the first would pass a part off as all."""
        if self._coding not in _GZIP:
            raise FetchFailed("protocol", f"data after the end of the {self._coding} body")
        return zlib.decompressobj(_GZIP_WINDOW)


def _deflate_window(head: bytes) -> int:
    """ "deflate" is zlib's format by the standard (RFC 9110) and often bare deflate in practice."""
    is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
