"""Copies of one role: found by rule each time they are asked for, and by what people said, which goes first
(A4).

Two postings show one role where employer, role and places are the same, as keys know them, or where role
and text are. Copies by agencies have other employers and the same text. All of them stay; nothing is
merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from django.db import transaction
from django.db.models import Q

from catalog.models import GroupDecision, Posting

MOST_COPIES = 50  # of one role; what has more is a habit of a board and no role


@dataclass(frozen=True, slots=True)
class Copy:
    """Another posting of the same role, and why it is taken for one."""

    posting: Posting
    why: str


def copies_of(posting: Posting) -> list[Copy]:
    """Other postings of the role, the oldest first.

    A person's word, for or against, goes before the rules.
    """
    decided = _decided(posting.pk)
    joined = {pk for pk, decision in decided.items() if decision.is_same}
    parted = set(decided) - joined
    same_text = Q(near_copy_key=posting.near_copy_key) if posting.near_copy_key else Q(pk__in=[])
    same_place = Q(company_key=posting.company_key, locations=posting.locations)
    alike = same_text | (same_place if posting.company_key else Q(pk__in=[]))
    by_rule = alike & Q(role_key=posting.role_key) if posting.role_key else Q(pk__in=[])
    found = Posting.objects.filter(by_rule | Q(pk__in=joined)).exclude(pk__in={posting.pk, *parted})
    rows = list(found.order_by("first_seen_at", "pk")[: MOST_COPIES + 1])
    if len(rows) > MOST_COPIES:
        rows = [row for row in rows if row.pk in joined]
    return [Copy(row, _why(posting, row, decided.get(row.pk))) for row in rows]


def _why(posting: Posting, other: Posting, decision: GroupDecision | None) -> str:
    if decision is not None:
        return f"{decision.decided_by} says so" + (f": {decision.reason}" if decision.reason else "")
    if posting.near_copy_key and other.near_copy_key == posting.near_copy_key:
        return "the same text"
    return "the same role of the same employer in the same place"


def _decided(posting_id: int) -> dict[int, GroupDecision]:
    said = GroupDecision.objects.filter(Q(first_id=posting_id) | Q(second_id=posting_id))
    return {
        decision.second_id if decision.first_id == posting_id else decision.first_id: decision
        for decision in said
    }


@transaction.atomic
def decide_copies(postings: Iterable[Posting], *, is_same: bool, by: str, reason: str = "") -> int:
    """A person says that these postings are one role, or that none is another's. It stays; how many pairs."""
    pairs = list(combinations(sorted({posting.pk for posting in postings}), 2))
    for first, second in pairs:
        said = {"is_same": is_same, "decided_by": by, "reason": reason}
        GroupDecision.objects.update_or_create(first_id=first, second_id=second, defaults=said)
    return len(pairs)
