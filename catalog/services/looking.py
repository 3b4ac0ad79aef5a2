"""A person's look at an address: what board is there and what it would bring, in the time a page may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing
from django.db.models.functions import Now

from catalog.adapters.base import Detection
from catalog.models import LookPlace
from catalog.pacing import within
from catalog.services.discovery import Preview, Recognised, preview, recognise
from catalog.services.sources import check_board

LOOK_SECONDS = 20.0  # over all pages that a look reads; somebody waits, and a web thread with them
LOOK_ENDS_AFTER = timedelta(seconds=60)  # a look whose process died holds up its person no longer than this
BOARD_KEPT_FOR = timedelta(hours=1)
_SALT = "catalog.board"


class LookUnderWay(Exception):
    """The person looks at another address just now."""


class BoardNotFound(Exception):
    """The text is no board that a look of the last hour has found."""


@dataclass(frozen=True, slots=True)
class Look:
    found: Recognised
    preview: Preview
    signed_board: str  # what `found_board` takes


def look(
    *, user_id: int, url: str, company: str = "", title_pattern: str = "", seconds: float = LOOK_SECONDS
) -> Look:
    """The board behind `url` and its first listings, read within `seconds`. Nothing of it is recorded.

    One look at a time per person, whichever process serves it. A board that answers too slowly is found all
    the same; its preview says so.

    Raises UnknownPlatform, InvalidPattern, and LookUnderWay, having asked nothing.
    """
    with _only_look_of(user_id), within(seconds):
        found = recognise(url)
        check_board(found.board)
        seen = preview(found.board, company=company, title_pattern=title_pattern)
    return Look(found, seen, signed_board(found.board))


def signed_board(board: Detection) -> str:
    """The board as a form carries it: nobody else can make one, and it is good for an hour."""
    named = {"kind": board.kind, "token": board.token, "region": board.region}
    return signing.dumps(named, salt=_SALT)


def found_board(signed: str) -> Detection:
    """The board that a look has found and signed. Raises BoardNotFound."""
    try:
        named: dict[str, Any] = signing.loads(signed, salt=_SALT, max_age=BOARD_KEPT_FOR)
    except signing.BadSignature as refused:
        raise BoardNotFound(str(refused)) from refused
    return Detection(**named)


@contextmanager
def _only_look_of(user_id: int) -> Iterator[None]:
    """Hold the person's one place for a look. Raises LookUnderWay where it is taken.

    A place is a row, not a session's lock: behind a pooler a session belongs to nobody.
    """
    LookPlace.objects.get_or_create(user_id=user_id)
    place = LookPlace.objects.filter(user=user_id)
    if not place.filter(taken_until__lte=Now()).update(taken_until=Now() + LOOK_ENDS_AFTER):
        raise LookUnderWay
    taken_until = place.get().taken_until
    try:
        yield
    finally:
        place.filter(taken_until=taken_until).update(taken_until=Now())
