from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import Error as DatabaseError

from catalog.adapters.http import FetchFailed
from catalog.pacing import fetch_at_pace
from catalog.page_text import PAGE_ACCEPT, PAGE_MAX_BYTES, Page, read_page
from taskqueue.errors import HostBusy


class Command(BaseCommand):
    help = (
        "Fetch one page as the product does (policy, limits, politeness) and print what came of it as JSON."
    )
    # A refused URL needs nothing that the checks look at: not even the database.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url")

    def handle(self, *args: Any, url: str, **options: Any) -> None:
        page, final_url = _fetch(url)
        said = {
            "url": url,
            "final_url": final_url,
            "outcome": page.outcome,
            "reason": page.reason,
            "text_chars": len(page.text),
            "title": page.title,
        }
        self.stdout.write(json.dumps(said))


def _fetch(url: str) -> tuple[Page, str | None]:
    """The page and the URL that answered; None where nothing did."""
    try:
        response = fetch_at_pace(url, accept=PAGE_ACCEPT, max_bytes=PAGE_MAX_BYTES)
    except FetchFailed as failed:
        refused = failed.outcome in {"blocked", "rate_limited"}  # by our policy or by the host's
        return Page("blocked" if refused else "failed", f"{failed.outcome}: {failed}"), None
    except HostBusy as busy:
        return Page("failed", f"busy: {busy}"), None
    except DatabaseError:
        return Page("failed", "the database that keeps the hosts' pace cannot be reached"), None
    return read_page(response), response.final_url
