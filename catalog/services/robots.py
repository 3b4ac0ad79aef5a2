"""What hosts ask of robots (RFC 9309), read once a day and kept for everybody."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.utils import timezone
from protego import Protego

from catalog.adapters.http import FetchFailed
from catalog.models import RobotsFile
from catalog.pacing import fetch_at_pace

KEPT_FOR = timedelta(days=1)
FIRST_WAIT = timedelta(minutes=15)
WAITS = 4  # for a file that cannot be read, before the host counts as refusing
MAX_BYTES = 512 * 1024  # RFC 9309: at least this much is to be read
AGENT = "Rolecall"


def refusal(url: str) -> str | None:
    """Why the page is not to be read by a robot, None where it may be.

    A host without the file, or with a page in its place, forbids nothing. Where it cannot be read, what was
    read before holds; where nothing was, everything waits, and after some tries it is refused.

    Raises HostBusy where the host's pace leaves no time for the question, FetchFailed ("rate_limited") to
    wait.
    """
    parts = urlsplit(url)
    known = RobotsFile.objects.filter(host=parts.netloc).first()
    if known is None or known.fetched_at < timezone.now() - _kept_for(known):
        known = _read(f"{parts.scheme}://{parts.netloc}/robots.txt", parts.netloc, known)
    if known.outcome == "unreachable":
        why = f"robots.txt of {parts.netloc} cannot be read: {known.text[:200]}"
        if known.failures > WAITS:
            return why
        wait = _kept_for(known) - (timezone.now() - known.fetched_at)
        raise FetchFailed("rate_limited", why, retry_after=max(1, int(wait.total_seconds())))
    if Protego.parse(known.text).can_fetch(url, AGENT):
        return None
    return f"robots.txt of {parts.netloc} asks robots not to read {parts.path or '/'}"


def _kept_for(known: RobotsFile) -> timedelta:
    """How long it is believed: a day; after a failure a quarter of an hour, doubled with each further one."""
    return min(KEPT_FOR, FIRST_WAIT * 2 ** (known.failures - 1)) if known.failures else KEPT_FOR


def _read(url: str, host: str, known: RobotsFile | None) -> RobotsFile:
    text, outcome, failures = "", "none", 0
    try:
        response = fetch_at_pace(url, accept="text/plain", max_bytes=MAX_BYTES)
        if 200 <= response.status < 300:
            text, outcome = response.content.decode("utf-8", "replace").replace("\x00", ""), "fetched"
    except FetchFailed as failed:
        text, outcome, failures = str(failed)[:500], "unreachable", 1
        if known is not None:
            failures = min(known.failures + 1, 20)
            if known.outcome != "unreachable":
                text, outcome = known.text, known.outcome
    said = {"text": text, "outcome": outcome, "failures": failures, "fetched_at": timezone.now()}
    row, _ = RobotsFile.objects.update_or_create(host=host, defaults=said)
    return row
