"""`manage.py parse_listings KIND FILE`: a saved response through its adapter, one listing a line."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, UnreadableResponse
from catalog.listing_json import normalised

YEARS = range(1970, 3000)  # dates near the ends of the calendar have no day after them, and no other zone


class Command(BaseCommand):
    help = "Read a saved response (list or detail) of a hiring platform and print its listings as JSON lines."
    requires_system_checks = []  # it reads a file; a database that is down must not stop it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=sorted(ADAPTERS), help="the platform")
        parser.add_argument("file", help="the saved response, or - for standard input")
        parser.add_argument(
            "--context",
            type=_context,
            default=Context(),
            metavar="JSON",
            help='known besides the payload: {"token": …, "company": …, "fetched_at": …, "site": …}',
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            saved = _read(options["file"])
        except OSError as fault:
            raise CommandError(f"cannot read {options['file']}: {fault.strerror}") from None
        except ValueError:
            raise CommandError("a file's name has no NUL: name the saved response, or -") from None
        try:
            reading = ADAPTERS[options["kind"]].parse(saved, options["context"])
        except UnreadableResponse as fault:
            raise CommandError(f"{fault.outcome}: {fault}") from None
        for listing in reading.listings:
            self.stdout.write(_line(normalised(listing)))
        for rejected in reading.rejected:
            self.stderr.write(f"not read: {rejected.external_id or 'a row without id'}: {rejected.reason}")
        end = {"complete": reading.complete, "reason": reading.reason, "count": len(reading.listings)}
        self.stdout.write(_line(end))


def _line(value: dict[str, Any]) -> str:
    """One line of ASCII: no separator inside a text can break it, whatever the terminal's encoding."""
    return json.dumps(value, allow_nan=False)


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _context(text: str) -> Context:
    """Further keys are words that some platform's boards are named by: host, tenant, site."""
    try:
        given = json.loads(text)
        json.dumps(given, ensure_ascii=False).encode()  # half characters are in no address
    except (ValueError, RecursionError):
        raise ArgumentTypeError("not JSON in UTF-8") from None
    if not isinstance(given, dict):
        raise ArgumentTypeError("not a JSON object")
    words = {key: given.get(key) or "" for key in ("token", "region", "company")}
    if not all(isinstance(word, str) for word in words.values()):
        raise ArgumentTypeError("token, region and company are text")
    names = {key: value for key, value in given.items() if isinstance(value, str)}
    return Context(**words, fetched_at=_moment(given.get("fetched_at")), names=names)


def _moment(text: object) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise ArgumentTypeError("fetched_at is not an ISO date and time") from None
    if moment.year not in YEARS:
        raise ArgumentTypeError(f"fetched_at is a time from {YEARS[0]} to {YEARS[-1]}")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
