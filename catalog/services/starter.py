"""The starter list as sources and bundles."""

from __future__ import annotations

from django.db import transaction

from catalog.adapters.base import Detection
from catalog.models import Source, SourceBundle
from catalog.services.sources import add_board
from catalog.starter import starter_boards


def add_theme(theme: str) -> int:
    """Add the theme's boards that are not there yet, as one bundle; how many were new.

    Their first pulls come with the schedule, at the pace of each host, and not all at once.
    """
    boards = [board for board in starter_boards() if board.theme == theme]
    with transaction.atomic():
        bundle, _ = SourceBundle.objects.get_or_create(
            slug=theme, defaults={"name": theme.replace("-", " ").capitalize()}
        )
        before = Source.objects.count()
        for board in boards:
            found = Detection(kind=board.kind, token=board.token, region=board.region)
            bundle.sources.add(add_board(found, company=board.name, pulls_now=False).source)
        return Source.objects.count() - before
