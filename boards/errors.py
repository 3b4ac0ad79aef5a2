from __future__ import annotations


class StaleRevision(Exception):
    """The board has moved on from the revision that a run started from."""
