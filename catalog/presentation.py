"""Sources as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catalog.adapters import ADAPTERS
from catalog.links import is_public_link
from catalog.models import Pull, Source, SourceRequest

BAR_WIDTH, BAR_GAP, CHART_HEIGHT = 6, 2, 28


@dataclass(frozen=True, slots=True)
class Bar:
    """One pull as a bar of a small chart, in its units; the words are for those who cannot see it."""

    x: int
    y: int
    height: int
    outcome: str
    words: str


def pull_bars(pulls: Sequence[Pull]) -> dict[str, Any]:
    """The admitted listings of each pull, the oldest first, as bars of one chart."""
    most = max((pull.kept for pull in pulls), default=0) or 1
    bars = []
    for number, pull in enumerate(pulls):
        failed = pull.outcome == Pull.Outcome.FAILED
        height = CHART_HEIGHT // 3 if failed else max(2, round(CHART_HEIGHT * pull.kept / most))
        words = f"{pull.started_at:%Y-%m-%d %H:%M}: {pull.outcome}" + (
            f" ({pull.fault})" if pull.fault else ""
        )
        words += "" if failed else f", {pull.kept} of {pull.seen} admitted"
        x = number * (BAR_WIDTH + BAR_GAP)
        bars.append(Bar(x, CHART_HEIGHT - height, height, str(pull.outcome), words))
    width = max(1, len(bars)) * (BAR_WIDTH + BAR_GAP)
    return {"bars": bars, "width": width, "height": CHART_HEIGHT, "bar_width": BAR_WIDTH}


def source_line(source: Source, recent: Sequence[Pull], is_followed: bool) -> dict[str, Any]:
    """A source and its `recent` pulls, the newest first."""
    adapter = ADAPTERS.get(source.kind)
    pull = recent[0] if recent else None
    return {
        "pk": source.pk,
        "name": source.name,
        "kind_label": adapter.name if adapter else source.kind,
        "url": source.url,
        "company": source.company,
        "is_active": source.is_active,
        "is_followed": is_followed,
        "failures": source.failures,
        "state_words": source.state_words(),
        "is_experimental": adapter is not None and adapter.is_experimental,
        "last_complete_at": source.last_complete_at,
        "chart": pull_bars(recent[::-1]) if len(recent) > 1 else None,
        "last_pull": {
            "outcome": pull.outcome,
            "at": pull.finished_at or pull.started_at,
            "seen": pull.seen,
            "kept": pull.kept,
            "error": f"{pull.fault}: {pull.detail}" if pull.fault else "",
        }
        if pull
        else None,
    }


def wish_line(wish: SourceRequest) -> dict[str, Any]:
    """A wish; `link` is "" where what was asked for is no page that a person can be sent to."""
    return {
        "url": wish.url,
        "link": wish.url if is_public_link(wish.url) else "",
        "status": wish.get_status_display(),
        "answer": wish.answer,
        "source_id": wish.source_id,
    }
