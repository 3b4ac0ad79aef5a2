"""Fetching at the pace that the whole fleet keeps towards a host (A6)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings

from catalog.adapters.address import parse
from catalog.adapters.http import FetchFailed, Response, fetch
from taskqueue.models import HostBudget

# When the one who waits for the fetches gives up, on the monotonic clock; None where nobody waits.
_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)


class OutOfTime(Exception):
    """The seconds of `within` are over. It says nothing of the host, which may well answer others."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """All that is fetched inside has these seconds together; what takes longer raises OutOfTime."""
    before = _ends_at.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends_at.reset(before)


def seconds_left() -> float:
    """For one fetch: its own limit, or what is left of `within`. Raises OutOfTime when that is nothing."""
    ends_at = _ends_at.get()
    left = settings.FETCH_TIMEOUT_SECONDS if ends_at is None else ends_at - time.monotonic()
    if left <= 0:
        raise OutOfTime
    return min(left, settings.FETCH_TIMEOUT_SECONDS)


def paced(host: str) -> None:
    """Take the host's next slot and wait for it, a few seconds at most.

    Raises HostBusy, having taken and sent nothing, when the slot is farther off than that, and OutOfTime,
    having sent nothing, when it comes after the end of `within`.
    """
    if wait := HostBudget.objects.take(host):
        if wait >= seconds_left():
            raise OutOfTime
        time.sleep(wait)


def fetch_at_pace(
    url: str,
    *,
    accept: str = "*/*",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    max_bytes: int | None = None,
    etag: str | None = None,
    last_modified: str | None = None,
) -> Response:
    """`fetch`, each request in a slot of its host, whose pace learns from the answer.

    Raises HostBusy and OutOfTime as `paced` does, FetchFailed as `fetch` does.
    """
    try:
        response = fetch(
            url,
            accept=accept,
            headers=headers,
            body=body,
            max_bytes=max_bytes,
            deadline_seconds=seconds_left(),
            etag=etag,
            last_modified=last_modified,
            pace=paced,
        )
    except FetchFailed as failed:
        if failed.outcome == "timeout":
            seconds_left()  # raises where it was the waiting that ended, not the fetch's own limit
        if failed.outcome == "rate_limited" or failed.retry_after:  # 503 too may name a time to come back
            HostBudget.objects.refuse(failed.host, failed.retry_after)
        raise
    HostBudget.objects.accept(parse(response.final_url).host)
    return response
