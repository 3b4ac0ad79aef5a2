"""`manage.py detect_source URL…`: which platform and board each URL names, from the URL alone."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from catalog.adapters import ADAPTERS, detect, why_undetected
from catalog.adapters.base import Context, Detection
from catalog.errors import UnknownPlatform
from catalog.services.discovery import recognise


class Command(BaseCommand):
    help = (
        "Say which hiring platform and board each URL names, as JSON lines. Reads nothing over the network"
        " without --follow."
    )
    requires_system_checks = []  # it looks at text; a database that is down must not stop it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL", help="a careers page or posting")
        parser.add_argument(
            "--follow", action="store_true", help="read the pages whose addresses alone do not tell"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for url in options["urls"]:
            said = described(url)
            if said["kind"] is None and options["follow"]:
                said = followed(url)
            self.stdout.write(json.dumps(said))


def described(url: str) -> dict[str, str | None]:
    """What is known of one URL; all of it null, with the reason, where the URL alone does not tell."""
    found = detect(url)
    if found is None:
        nothing = dict.fromkeys(("kind", "token", "list_url", "confidence"))
        return {"url": url, **nothing, "reason": why_undetected(url)}
    return _of(url, found, found.reason)


def followed(url: str) -> dict[str, str | None]:
    """The same after reading the page, or why that told nothing either."""
    try:
        found = recognise(url)
    except UnknownPlatform as unknown:
        nothing = dict.fromkeys(("kind", "token", "list_url", "confidence"))
        return {"url": url, **nothing, "reason": unknown.why}
    except DatabaseError:
        nothing = dict.fromkeys(("kind", "token", "list_url", "confidence"))
        return {"url": url, **nothing, "reason": "the database that keeps the hosts' pace cannot be reached"}
    return _of(url, found.board, found.evidence)


def _of(url: str, found: Detection, reason: str) -> dict[str, str | None]:
    context = Context(token=found.token, region=found.region)
    return {
        "url": url,
        "kind": found.kind,
        "token": found.token,
        "list_url": ADAPTERS[found.kind].list_url(context),
        "confidence": found.confidence,
        "reason": reason,
    }
