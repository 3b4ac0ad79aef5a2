"""Which reviewer answers for a revision."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from reviews.adapters.base import Reviewer
from reviews.adapters.openai import OpenAIReviewer
from reviews.adapters.rules import RulesReviewer
from reviews.models import FilterRevision


def reviewer_of(revision: FilterRevision) -> Reviewer:
    """The reviewer that the revision names."""
    if revision.provider == "openai":
        return _openai(revision.model)
    return rules_reviewer()


@cache
def rules_reviewer() -> RulesReviewer:
    return RulesReviewer()


@cache
def _openai(model: str) -> OpenAIReviewer:
    return OpenAIReviewer(
        model=model, api_key=settings.OPENAI_API_KEY, base_url=settings.OPENAI_BASE_URL or None
    )
