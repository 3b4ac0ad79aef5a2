"""Fetching at the pace that the whole fleet keeps towards a host (A6)."""

from __future__ import annotations

import time
from collections.abc import Mapping

from catalog.adapters.address import parse
from catalog.adapters.http import FetchFailed, Response, fetch
from taskqueue.models import HostBudget


def paced(host: str) -> None:
    """Take the host's next slot and wait for it, a few seconds at most.

    Raises HostBusy, having taken and sent nothing, when the slot is farther off than that.
    """
    if wait := HostBudget.objects.take(host):
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

    Raises HostBusy as `paced` does, FetchFailed as `fetch` does.
    """
    try:
        response = fetch(
            url,
            accept=accept,
            headers=headers,
            body=body,
            max_bytes=max_bytes,
            etag=etag,
            last_modified=last_modified,
            pace=paced,
        )
    except FetchFailed as failed:
        if failed.outcome == "rate_limited" or failed.retry_after:  # 503 too may name a time to come back
            HostBudget.objects.refuse(failed.host, failed.retry_after)
        raise
    HostBudget.objects.accept(parse(response.final_url).host)
    return response
