from __future__ import annotations


class StaleRevision(Exception):
    """The board has moved on from the revision that a run started from."""


class Unanswered(Exception):
    """A run's questions were not answered, so it has no selection to publish."""
