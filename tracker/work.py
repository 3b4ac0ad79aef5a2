"""What the queue does for a person now, found by subject: there after a reload and in every tab (Q13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Count, Max

from boards.models import Membership, MembershipRefresh
from reviews.models import ReviewRun
from reviews.services.runs import run_subject
from taskqueue.models import Task
from tracker.models import User

ERROR_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class WorkLine:
    """One task that has not ended. `done` and `total` are what it counts, None where it does not say."""

    task_id: int
    subject: str
    words: str
    state: str
    done: int | None
    total: int | None
    error: str


@dataclass(frozen=True, slots=True)
class Work:
    """A person's unfinished work. `version` names what their board shows: another board, another version."""

    subject: str
    version: str
    lines: list[WorkLine]

    @classmethod
    def of(cls, person: User) -> Self:
        subject = f"person:{person.pk}"
        words = {subject: "Putting your board together"}
        running = ReviewRun.objects.filter(revision__filter__owner=person)
        for run in running.exclude(status=ReviewRun.Status.FINISHED).select_related("revision__filter"):
            words[run_subject(run.pk)] = f"Reading postings for {run.revision.filter.name}"
        tasks = Task.objects.unfinished().filter(subject__in=words, parent=None).order_by("pk")
        return cls(subject, _version(person), [_line(task, words[task.subject]) for task in tasks])


def _line(task: Task, words: str) -> WorkLine:
    progress: dict[str, Any] = task.progress or {}
    return WorkLine(
        task_id=task.pk,
        subject=task.subject,
        words=words,
        state=task.state(),
        done=progress.get("done"),
        total=progress.get("total"),
        error=task.error.strip().partition("\n")[0][:ERROR_CHARACTERS],
    )


def _version(person: User) -> str:
    if not MembershipRefresh.objects.filter(user=person).exists():
        return "none"
    members = Membership.objects.filter(user=person).aggregate(count=Count("pk"), newest=Max("pk"))
    return f"{members['count']}-{members['newest'] or 0}"
