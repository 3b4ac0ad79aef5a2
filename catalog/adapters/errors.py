"""What fetching can end in other than a response."""

from __future__ import annotations

from typing import Literal

FetchOutcome = Literal[
    "blocked",  # our own policy refused the URL or the address
    "unreachable",  # no such name, connection refused or reset
    "timeout",
    "tls",
    "protocol",  # not HTTP, a cut body, a status that answers nothing
    "too_large",
    "redirect_loop",
    "rate_limited",
    "server_error",
]


class Refused(Exception):
    """The policy does not let this URL or address be read; the text says why."""


class FetchFailed(Exception):
    """A fetch ended without a response that may be read.

    `retry_after` is the wait in seconds that the server asked for, within sane bounds, or None.
    `host` is the host of the URL asked for in the hop that failed ("" when the URL has none).
    """

    def __init__(
        self, outcome: FetchOutcome, detail: str, *, retry_after: int | None = None, host: str = ""
    ) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.retry_after = retry_after
        self.host = host
