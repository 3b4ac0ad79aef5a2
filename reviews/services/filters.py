"""Filters: made, revised, switched. A revision is written once and never edited (R1)."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from reviews.adapters.prompt import prompt_for, prompt_hash
from reviews.criteria import Criteria
from reviews.models import Filter, FilterRevision


@transaction.atomic
def create_filter(
    *, name: str, criteria: Criteria, owner: AbstractBaseUser | None = None, by: str = ""
) -> Filter:
    """A filter with its first revision."""
    made = Filter.objects.create(owner_id=owner.pk if owner else None, name=name)
    _write_revision(made, 1, criteria, FilterRevision.Ambiguous.DROP, by)
    return made


@transaction.atomic
def revise_filter(
    *,
    filter_id: int,
    criteria: Criteria,
    by: str = "",
    name: str | None = None,
    on_ambiguous: str | None = None,
) -> FilterRevision:
    """The filter's newest revision asks for `criteria`; one is added only when something it decides changed.

    Two people who save at once follow one another: the filter's row is locked, so numbers never clash.
    """
    locked = Filter.objects.select_for_update().get(pk=filter_id)
    current = locked.current()
    on_ambiguous = on_ambiguous or current.on_ambiguous
    if name is not None and name != locked.name:
        Filter.objects.filter(pk=locked.pk).update(name=name)
    if criteria.as_dict() == current.criteria and on_ambiguous == current.on_ambiguous:
        return current
    number = locked.revisions.aggregate(newest=Max("number"))["newest"] + 1
    Filter.objects.filter(pk=locked.pk).update(changed_at=Now())
    return _write_revision(locked, number, criteria, on_ambiguous, by)


def switch_filter(*, filter_id: int, enabled: bool) -> None:
    """Enable or disable; membership follows at its next refresh."""
    Filter.objects.filter(pk=filter_id).exclude(is_enabled=enabled).update(
        is_enabled=enabled, changed_at=Now()
    )


def _write_revision(
    filter_: Filter, number: int, criteria: Criteria, on_ambiguous: str, by: str
) -> FilterRevision:
    prompt = prompt_for(criteria)
    provider = settings.REVIEW_PROVIDER
    return FilterRevision.objects.create(
        filter=filter_,
        number=number,
        criteria=criteria.as_dict(),
        prompt=prompt,
        prompt_hash=prompt_hash(prompt),
        provider=provider,
        model=settings.REVIEW_MODEL if provider == "openai" else "",
        on_ambiguous=on_ambiguous,
        created_by=by,
    )
