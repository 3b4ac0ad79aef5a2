"""How far the pipeline is, from the database alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from django.db.models import F, Max
from django.db.models.functions import Now

from boards.models import ManagedBoard, MembershipRefresh
from catalog.models import Listing, Posting, Source
from reviews.models import Filter, Verdict
from taskqueue.handlers import known
from taskqueue.models import Task, TaskStatus

SOON = timedelta(minutes=1)  # a task due later than this is the schedule's, not something left to do


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Counts of what is there now; `published` holds the addresses of published boards."""

    sources: int
    pulled: int
    failing: int
    listings: int
    postings: int
    verdicts: int
    boards: int
    published: frozenset[str]
    tasks: int
    failed: int
    unknown: tuple[str, ...]  # kinds of tasks that this release cannot run
    is_idle: bool

    @classmethod
    def now(cls) -> Self:
        boards = list(ManagedBoard.objects.public())
        sources = Source.objects.all()
        due = Task.objects.unfinished().filter(not_before__lte=Now() + SOON)
        tasks = due.filter(kind__in=known().kinds).count()
        unpulled = sources.active().filter(last_pull_at=None).exists()
        return cls(
            sources=sources.count(),
            pulled=sources.exclude(last_pull_at=None).count(),
            failing=sources.filter(failures__gt=0).count(),
            listings=Listing.objects.count(),
            postings=Posting.objects.count(),
            verdicts=Verdict.objects.count(),
            boards=len(boards),
            published=frozenset(
                board.get_absolute_url() for board in boards if board.public_revision == board.revision
            ),
            tasks=tasks,
            failed=Task.objects.filter(status=TaskStatus.FAILED).count(),
            unknown=tuple(
                due.exclude(kind__in=known().kinds).order_by("kind").values_list("kind", flat=True).distinct()
            ),
            is_idle=not tasks and not unpulled and not _something_behind(),
        )

    def line(self) -> str:
        """All of it in one line for a terminal."""
        told = [
            f"sources {self.pulled}/{self.sources}" + (f" ({self.failing} failing)" if self.failing else ""),
            f"listings {self.listings}",
            f"postings {self.postings}",
            f"verdicts {self.verdicts}",
            f"boards {len(self.published)}/{self.boards}",
            f"tasks {self.tasks}",
        ]
        if self.failed:
            told.append(f"{self.failed} failed, see Admin, Tasks")
        if self.unknown:
            told.append(f"tasks that only another release can run: {', '.join(self.unknown)}")
        return " · ".join(told)


def _something_behind() -> bool:
    """Whether a board, a filter or a person's list has not yet been looked at since the last change."""
    changed = Posting.objects.aggregate(newest=Max("changed_at"))["newest"]
    if changed is None:
        return False
    boards = ManagedBoard.objects.public().exclude(checked_at__gte=changed, public_revision=F("revision"))
    filters = Filter.objects.enabled().personal().exclude(checked_at__gte=changed)
    answered = Verdict.objects.aggregate(newest=Max("at"))["newest"] or changed
    people = MembershipRefresh.objects.exclude(computed_at__gte=max(changed, answered))
    waiting = Filter.objects.enabled().personal().filter(owner__membership_refresh=None)
    return boards.exists() or filters.exists() or people.exists() or waiting.exists()
