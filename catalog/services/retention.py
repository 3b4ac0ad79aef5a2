"""What the catalog forgets, and when. Evidence behind a person's or a board's row is never dropped."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Exists, ForeignObjectRel, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Collate
from django.utils import timezone

from catalog.models import GroupDecision, Listing, PageFetch, Posting, PostingText, Pull, PullPage, RobotsFile
from taskqueue.handlers import Claim

BATCH = 500


def held_postings() -> QuerySet[Posting]:
    """Postings that rows of other apps stand on: boards, verdicts, people's lists."""
    outside = Q(pk__in=[])
    for relation in Posting._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.many_to_many:
            continue
        model = relation.related_model
        is_a_persons = model._meta.app_label != "catalog" or model is GroupDecision
        if is_a_persons and relation.field.name:
            rows = model._base_manager.filter(**{relation.field.name: OuterRef("pk")})
            outside |= Q(Exists(rows))
    return Posting.objects.filter(outside)


def forget(claim: Claim) -> dict[str, int]:
    """Drop what is past its time, a batch a transaction; how many rows of each table went."""
    steps = {
        "pages": _pages,
        "pulls": _pulls,
        "fetches": _fetches,
        "texts": _texts,
        "postings": _postings,
        "robots": _robots,
    }
    gone = dict.fromkeys(steps, 0)
    for name, step in steps.items():
        while True:
            claim.checkpoint()
            with transaction.atomic():
                claim.hold()
                count = step()
            gone[name] += count
            if count < BATCH:
                break
    return gone


def _before(name: str) -> object:
    return timezone.now() - timedelta(days=settings.CATALOG_RETENTION_DAYS[name])


def _pages() -> int:
    """Answers as they were kept, but those of the newest reading of each source."""
    newest = (
        Pull.objects.exclude(pages=None)
        .order_by()
        .values("source")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    old = PullPage.objects.filter(pull__started_at__lt=_before("pages")).exclude(pull__in=newest)
    batch = list(old.values_list("pk", "raw_key")[:BATCH])
    PullPage.objects.filter(pk__in=[pk for pk, _ in batch]).delete()
    keys = {key for _, key in batch}
    for key in keys - set(PullPage.objects.filter(raw_key__in=keys).values_list("raw_key", flat=True)):
        default_storage.delete(key)
    return len(batch)


def _pulls() -> int:
    newest = Pull.objects.order_by().values("source").annotate(newest=Max("pk")).values("newest")
    old = Pull.objects.filter(started_at__lt=_before("pulls"), pages=None).exclude(pk__in=newest)
    return _delete(Pull, old)


def _fetches() -> int:
    """Looks at postings, but the newest of each and what closed one."""
    newer = PageFetch.objects.filter(posting=OuterRef("posting"), pk__gt=OuterRef("pk"))
    old = PageFetch.objects.filter(Exists(newer), at__lt=_before("fetches")).exclude(outcome="closed")
    return _delete(PageFetch, old.exclude(posting__in=held_postings()))


def _texts() -> int:
    """Older versions of texts."""
    current = Posting.objects.filter(text=OuterRef("pk"))
    old = PostingText.objects.filter(~Exists(current), fetched_at__lt=_before("texts"))
    return _delete(PostingText, old.exclude(posting__in=held_postings()))


def _postings() -> int:
    """Postings that no source has shown for long, with their listings and all that is known of them."""
    shown = Listing.objects.filter(posting=OuterRef("pk")).filter(
        Q(unlisted_at=None) | Q(unlisted_at__gte=_before("postings"))
    )
    old = Posting.objects.filter(~Exists(shown), first_seen_at__lt=_before("postings"))
    candidates = old.exclude(pk__in=held_postings()).order_by(Collate("canonical_url", "C"))
    # Locked, then asked again: whoever puts one on a board meanwhile waits, and is seen or finds it gone.
    locked = candidates.select_for_update().values_list("pk", flat=True)[:BATCH]
    batch = list(old.filter(pk__in=list(locked)).exclude(pk__in=held_postings()).values_list("pk", flat=True))
    Listing.objects.filter(posting__in=batch).delete()
    Posting.objects.filter(pk__in=batch).delete()
    return len(batch)


def _robots() -> int:
    return _delete(RobotsFile, RobotsFile.objects.filter(fetched_at__lt=_before("robots")))


def _delete(
    model: type[Pull] | type[PageFetch] | type[PostingText] | type[RobotsFile], rows: QuerySet[Any]
) -> int:
    batch = list(rows.values_list("pk", flat=True)[:BATCH])
    model._default_manager.filter(pk__in=batch).delete()
    return len(batch)
