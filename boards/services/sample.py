"""The sample: invented employers and two boards, so that a new server shows something true of itself."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Min

from boards.models import ManagedBoard
from boards.sample import SAMPLE_BOARDS
from boards.services.publication import create_board
from catalog.adapters.base import Detection
from catalog.models import Source
from catalog.sample import SAMPLE_BASE, SAMPLE_SOURCES, api_root
from catalog.services.sources import add_board
from reviews.criteria import Criteria


@transaction.atomic
def load_sample() -> bool:
    """Add the sample's sources and boards to a server that has neither source nor board; False otherwise."""
    if Source.objects.exists() or ManagedBoard.objects.exists():
        return False
    for sample in SAMPLE_SOURCES:
        add_board(
            Detection(kind=sample.kind, token=sample.token),
            company=sample.company,
            title_pattern=sample.title_pattern,
            api_root=api_root(sample.kind),
        )
    for board in SAMPLE_BOARDS:
        create_board(
            slug=board.slug,
            title=board.title,
            summary=board.summary,
            criteria=Criteria.parse(board.criteria),
            is_public=True,
            by="sample",
        )
    return True


def sample_loaded_at() -> datetime | None:
    """When the sample's sources were added; None where there are none, so that their server need not run."""
    sources = Source.objects.filter(api_root__startswith=SAMPLE_BASE)
    first: datetime | None = sources.aggregate(first=Min("created_at"))["first"]
    return first
