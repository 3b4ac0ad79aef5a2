"""The listings of a reading on their way to the catalog: outside memory, known by key and fingerprint."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from tempfile import SpooledTemporaryFile
from types import TracebackType

from catalog.adapters.base import ParsedListing

IN_MEMORY = 16 * 1024 * 1024  # bytes; a larger board goes to the disk
_CHUNK = 1024 * 1024
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Spool:
    """Listings one after the other. Their number is bounded by the disk, not by memory.

    What comes out again was put in by this process into a file that nobody else can open.
    """

    def __init__(self) -> None:
        self._rows = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed with the spool
        self._index = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed with the spool
        self._place = 0
        self._keys: set[int] = set()
        self.count = 0
        self.has_repeats = False

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()
        self._index.close()

    def add(self, listings: Iterable[ParsedListing]) -> None:
        for listing in listings:
            row = pickle.dumps(listing, protocol=pickle.HIGHEST_PROTOCOL)
            key = listing.external_id.translate(_ESCAPES)
            self._index.write(f"{key}\t{fingerprint(listing)}\t{self._place}\n".encode())
            self._rows.write(len(row).to_bytes(4, "big") + row)
            self._place += len(row) + 4
            self.count += 1
            mark = hash(listing.external_id)
            self.has_repeats |= mark in self._keys
            self._keys.add(mark)

    def index(self) -> Iterator[bytes]:
        """Lines of key, fingerprint and place, as COPY takes them."""
        self._index.seek(0)
        while chunk := self._index.read(_CHUNK):
            yield chunk

    def at(self, place: int) -> ParsedListing:
        self._rows.seek(place)
        size = int.from_bytes(self._rows.read(4), "big")
        listing = pickle.loads(self._rows.read(size))  # noqa: S301 - our own, written by `add`
        if not isinstance(listing, ParsedListing):
            raise TypeError(f"the spool holds no listing at {place}")
        return listing


def fingerprint(listing: ParsedListing) -> str:
    """Identity of all that a listing says, 32 hexadecimal digits.

    `updated_at` is left out: platforms move it on every mass edit, and nothing of ours shows it.
    """
    said = (
        listing.url,
        listing.title,
        listing.apply_url or "",
        listing.company or "",
        "\x1e".join(listing.locations),
        listing.remote,
        listing.employment_type or "",
        listing.department or "",
        listing.posted_at or "",
        repr(listing.compensation) if listing.compensation else "",
        listing.description_html or listing.description_text,
        "\x1e".join(listing.flags),
    )
    return blake2b("\x1f".join(said).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
