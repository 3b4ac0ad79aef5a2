"""Lines that public and personal pages have in common."""

from __future__ import annotations

from boards.serializers import SourceLine
from catalog.models import Posting


def source_lines(posting: Posting) -> list[SourceLine]:
    """Where the posting is, or was, shown."""
    return [
        SourceLine(
            name=listing.source.name,
            url=listing.url,
            first_seen_at=listing.first_seen_at,
            last_seen_at=listing.last_seen_at,
            is_listed=listing.unlisted_at is None,
        )
        for listing in posting.listings.select_related("source").order_by("first_seen_at")
    ]
