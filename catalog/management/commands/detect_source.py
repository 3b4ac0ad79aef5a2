"""`manage.py detect_source URL…`: which platform and board each URL names, from the URL alone."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from catalog.adapters import ADAPTERS, detect, why_undetected
from catalog.adapters.base import Context


class Command(BaseCommand):
    help = (
        "Say which hiring platform and board each URL names, as JSON lines. Reads nothing over the network."
    )
    requires_system_checks = []  # it looks at text; a database that is down must not stop it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL", help="a careers page or posting")

    def handle(self, *args: Any, **options: Any) -> None:
        for url in options["urls"]:
            self.stdout.write(json.dumps(described(url)))


def described(url: str) -> dict[str, str | None]:
    """What is known of one URL; all of it null, with the reason, where the URL alone does not tell."""
    found = detect(url)
    if found is None:
        nothing = dict.fromkeys(("kind", "token", "list_url", "confidence"))
        return {"url": url, **nothing, "reason": why_undetected(url)}
    context = Context(token=found.token, region=found.region)
    return {
        "url": url,
        "kind": found.kind,
        "token": found.token,
        "list_url": ADAPTERS[found.kind].list_url(context),
        "confidence": found.confidence,
        "reason": found.reason,
    }
