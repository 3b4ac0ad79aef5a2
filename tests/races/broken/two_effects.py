"""A handler that does not look whether it has done its work already, and does it twice."""

from __future__ import annotations

from django.db import transaction

from taskqueue.handlers import Claim
from taskqueue.loadtest import kinds, tables


def effect(claim: Claim, seconds: float = 0.0) -> None:
    with transaction.atomic():
        claim.hold()
        for _ in range(2):
            kinds.write(tables.EFFECT.partition("WHERE")[0], claim)


kinds.effect = effect
