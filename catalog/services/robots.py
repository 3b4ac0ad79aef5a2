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
MAX_BYTES = 512 * 1024  # RFC 9309: at least this much is to be read
AGENT = "Rolecall"


def refusal(url: str) -> str | None:
    """Why the page is not to be read by a robot, None where it may be.

    A host without the file, or with a page in its place, forbids nothing. A host that cannot be reached, or
    answers with a fault of its own, forbids everything until it answers.

    Raises HostBusy where the host's pace leaves no time for the question.
    """
    parts = urlsplit(url)
    known = RobotsFile.objects.filter(host=parts.netloc).first()
    if known is None or known.fetched_at < timezone.now() - KEPT_FOR:
        known = _read(f"{parts.scheme}://{parts.netloc}/robots.txt", parts.netloc)
    if known.outcome == "unreachable":
        return f"robots.txt of {parts.netloc} cannot be read: {known.text[:200]}"
    if Protego.parse(known.text).can_fetch(url, AGENT):
        return None
    return f"robots.txt of {parts.netloc} asks robots not to read {parts.path or '/'}"


def _read(url: str, host: str) -> RobotsFile:
    text, outcome = "", "none"
    try:
        response = fetch_at_pace(url, accept="text/plain", max_bytes=MAX_BYTES)
        if 200 <= response.status < 300:
            text, outcome = response.content.decode("utf-8", "replace").replace("\x00", ""), "fetched"
    except FetchFailed as failed:
        text, outcome = str(failed)[:500], "unreachable"
    row, _ = RobotsFile.objects.update_or_create(
        host=host, defaults={"text": text, "outcome": outcome, "fetched_at": timezone.now()}
    )
    return row
