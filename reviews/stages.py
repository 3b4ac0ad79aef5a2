"""Eligibility: named stages, cheapest first, before anything is asked or paid (R2).

A stage narrows a set of postings. The same code, put to a set of one, answers "why not?".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from catalog.models import Posting, PostingQuerySet
from reviews.criteria import Criteria

Narrow = Callable[[PostingQuerySet, Criteria, datetime], PostingQuerySet]


@dataclass(frozen=True, slots=True)
class Stage:
    """`holds` and `fails` are the stage's answers in words."""

    name: str
    holds: str
    fails: str
    narrow: Narrow


def _listed(postings: PostingQuerySet, criteria: Criteria, now: datetime) -> PostingQuerySet:
    return postings.listed()


def _fresh(postings: PostingQuerySet, criteria: Criteria, now: datetime) -> PostingQuerySet:
    if criteria.max_age_days is None:
        return postings
    oldest = now - timedelta(days=criteria.max_age_days)
    return postings.posted_since(oldest.date(), oldest)


def _available(postings: PostingQuerySet, criteria: Criteria, now: datetime) -> PostingQuerySet:
    return postings.not_closed()


def _described(postings: PostingQuerySet, criteria: Criteria, now: datetime) -> PostingQuerySet:
    return postings.described()


STAGES = (
    Stage("source", "a source shows it now", "no source shows and admits it now", _listed),
    Stage("freshness", "it is recent enough", "it is older than the criteria allow", _fresh),
    Stage("availability", "nothing says it is closed", "it is closed", _available),
    Stage("text", "its description is known", "its description is not known yet", _described),
)


def eligible(criteria: Criteria, now: datetime) -> PostingQuerySet:
    """Postings that pass every stage."""
    postings = Posting.objects.all()
    for stage in STAGES:
        postings = stage.narrow(postings, criteria, now)
    return postings


def funnel(criteria: Criteria, now: datetime) -> dict[str, int]:
    """How many postings are left after each stage, in order, starting from all."""
    postings = Posting.objects.all()
    counts = {"catalog": postings.count()}
    for stage in STAGES:
        postings = stage.narrow(postings, criteria, now)
        counts[stage.name] = postings.count()
    return counts


def answers(criteria: Criteria, now: datetime, posting: Posting) -> list[tuple[Stage, bool]]:
    """Each stage and whether the posting passes it, up to the first that it does not."""
    told: list[tuple[Stage, bool]] = []
    for stage in STAGES:
        passes = stage.narrow(Posting.objects.filter(pk=posting.pk), criteria, now).exists()
        told.append((stage, passes))
        if not passes:
            break
    return told
