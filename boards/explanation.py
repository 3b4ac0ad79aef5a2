"""Why a posting is on a board, or not, from the catalog to the list (E1)."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser

from boards.models import ManagedBoard, Membership, MembershipRefresh
from catalog.explanation import Step, catalog_steps
from catalog.models import Posting
from reviews.explanation import review_steps
from reviews.models import Filter


def explain_on_board(posting: Posting, board: ManagedBoard, now: datetime) -> list[Step]:
    """Catalog, then the board's review, then its list."""
    return [
        *catalog_steps(posting),
        *review_steps(posting, board.filter.current(), now),
        _publication(posting, board),
    ]


def explain_for_person(posting: Posting, person: AbstractBaseUser, now: datetime) -> list[Step]:
    """Catalog, then every enabled filter's review, then the person's membership."""
    steps = catalog_steps(posting)
    filters = list(Filter.objects.enabled().owned_by(person))
    if not filters:
        steps.append(Step("Filters", "no", "There is no enabled filter to let it in.", is_recorded=False))
    for filter_ in filters:
        steps += review_steps(posting, filter_.current(), now)
    return [*steps, _membership(posting, person)]


def _publication(posting: Posting, board: ManagedBoard) -> Step:
    member = board.members.filter(posting=posting).first()
    if member is not None:
        words = f"On the list since its revision {member.published_revision} was published."
        return Step("Publication", "yes", words, at=member.joined_at)
    if board.public_revision is None:
        return Step("Publication", "unknown", "The board's first list is not published yet.")
    behind = board.public_revision != board.revision
    words = "Not on the list as last published" + (
        f"; that was revision {board.public_revision}, and revision {board.revision} is under way."
        if behind
        else "."
    )
    return Step("Publication", "no", words, at=board.published_at)


def _membership(posting: Posting, person: AbstractBaseUser) -> Step:
    member = Membership.objects.of(person).filter(posting=posting).first()
    if member is not None:
        return Step("Your board", "yes", "Let in by every enabled filter.", at=member.joined_at)
    refresh = MembershipRefresh.objects.filter(user_id=person.pk).first()
    if refresh is None or refresh.computed_at is None:
        return Step("Your board", "unknown", "The board was not computed yet.")
    return Step("Your board", "no", "Not on the board as last computed.", at=refresh.computed_at)
