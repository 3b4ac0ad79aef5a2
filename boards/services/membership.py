"""Personal boards: who sees what, computed by a worker and written as a difference (V1, V3)."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from boards.models import Membership, MembershipRefresh
from catalog.models import CHANGE_OVERLAP, Posting
from reviews.models import Filter, Verdict
from reviews.services.runs import selected
from taskqueue.handlers import Claim


@dataclass(frozen=True, slots=True)
class Refreshed:
    joined: int
    left: int
    shown: int


@transaction.atomic(durable=True)
def refresh_membership(*, claim: Claim, user_id: int) -> Refreshed:
    """Make a person's membership what their enabled filters let in now.

    Refreshes of one person follow one another on the person's refresh row, so an older computation never
    lands over a newer one. Leavers are deleted and joiners inserted; an unchanged board writes one row.
    """
    claim.hold()
    MembershipRefresh.objects.get_or_create(user_id=user_id)
    refresh = MembershipRefresh.objects.select_for_update().get(user_id=user_id)
    computed_at = timezone.now()
    chosen = _chosen(user_id)
    present = set(Membership.objects.filter(user_id=user_id).values_list("posting_id", flat=True))
    Membership.objects.filter(user_id=user_id, posting_id__in=present - chosen).delete()
    Membership.objects.bulk_create(
        Membership(user_id=user_id, posting_id=posting_id) for posting_id in sorted(chosen - present)
    )
    refresh.computed_at = computed_at
    refresh.counts = {"shown": len(chosen), "listed": Posting.objects.listed().count()}
    refresh.save(update_fields=["computed_at", "counts"])
    return Refreshed(joined=len(chosen - present), left=len(present - chosen), shown=len(chosen))


def _chosen(user_id: int) -> set[int]:
    """The postings that every enabled filter lets in (V1). Nobody asked for anything: nothing is chosen."""
    chosen: set[int] | None = None
    for filter_ in Filter.objects.enabled().filter(owner_id=user_id).order_by("pk"):
        let_in = set(selected(filter_.current()).values_list("pk", flat=True))
        chosen = let_in if chosen is None else chosen & let_in
    return chosen or set()


def filters_passed() -> QuerySet[Filter]:
    """Filters of people whose list the catalog, a verdict or an edit has moved past since it was computed."""
    since = OuterRef("computed_at") - CHANGE_OVERLAP
    answered = Verdict.objects.filter(outcomes__decision__revision__filter=OuterRef("pk"), at__gte=since)
    return (
        Filter.objects.personal()
        .filter(owner__is_active=True)
        .annotate(computed_at=F("owner__membership_refresh__computed_at"))
        .filter(
            Q(computed_at=None)
            | Q(changed_at__gte=F("computed_at") - CHANGE_OVERLAP)
            | Exists(Posting.objects.changed_since(OuterRef("computed_at")))
            | Exists(answered)
        )
    )
