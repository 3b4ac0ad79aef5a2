from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from boards.explanation import explain_for_person, explain_on_board
from boards.models import ManagedBoard
from catalog.adapters import canonical_posting_url
from catalog.explanation import Step, catalog_steps
from catalog.links import InvalidURL
from catalog.models import Listing, Posting

OWN_PAGE = re.compile(r"/jobs/(\d{1,15})/?$")  # /b/<slug>/jobs/<id>/ and /jobs/<id>/ of this server
MARKS = {"yes": "✓", "no": "✗", "unknown": "?"}


class Command(BaseCommand):
    help = "Why a posting is on a board, or not, step by step."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="the posting's address, as a source or a board shows it")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--board", metavar="SLUG")
        where.add_argument("--user", metavar="EMAIL", help="a person's e-mail address or user name")
        parser.add_argument("--json", action="store_true")

    def handle(self, **options: Any) -> None:
        posting = _posting(options["url"])
        steps = _steps(posting, options["board"], options["user"])
        if options["json"]:
            told = {
                "posting": posting.canonical_url,
                "title": posting.title,
                "steps": [asdict(s) for s in steps],
            }
            self.stdout.write(json.dumps(told, ensure_ascii=False, default=str))
            return
        self.stdout.write(f"{posting}\n{posting.canonical_url}\n")
        for step in steps:
            self.stdout.write(_line(step))


def _posting(url: str) -> Posting:
    if ours := OWN_PAGE.search(url):
        posting = Posting.objects.filter(pk=int(ours[1])).first()
        if posting is not None:
            return posting
    try:
        spelling = canonical_posting_url(url)
    except InvalidURL as refused:
        raise CommandError(str(refused)) from refused
    posting = Posting.objects.filter(canonical_url=spelling).first()
    if posting is not None:
        return posting
    listing = Listing.objects.filter(url__in=[url, spelling]).select_related("posting", "source").first()
    if listing is None:
        raise CommandError(f"no source has shown {spelling}")
    if listing.posting is None:
        ruling = Listing.Ruling(listing.ruling).label
        raise CommandError(f"{listing.source} shows it, but it was not admitted: {ruling}")
    return listing.posting


def _steps(posting: Posting, slug: str | None, person: str | None) -> list[Step]:
    now = timezone.now()
    if slug is not None:
        board = ManagedBoard.objects.filter(slug=slug).first()
        if board is None:
            raise CommandError(f"there is no board {slug!r}")
        return explain_on_board(posting, board, now)
    if person is not None:
        return explain_for_person(posting, _person(person), now)
    return catalog_steps(posting)


def _person(wanted: str) -> AbstractBaseUser:
    """The account with this e-mail address, which is nobody's when it is empty, or this user name."""
    found = (
        list(get_user_model().objects.filter(Q(email__iexact=wanted) | Q(username=wanted))[:2])
        if wanted
        else []
    )
    if not found:
        raise CommandError(f"there is no account {wanted!r}")
    if len(found) > 1:
        raise CommandError(f"{wanted!r} is one account's address and another's name")
    return found[0]


def _line(step: Step) -> str:
    when = f"recorded {step.at:%Y-%m-%d %H:%M} UTC" if step.is_recorded and step.at else ""
    told = when or ("recorded" if step.is_recorded else "evaluated now")
    quote = f"\n      “{step.quote}”" if step.quote else ""
    return f"  {MARKS[step.outcome]} {step.name}: {step.words} [{told}]{quote}"
