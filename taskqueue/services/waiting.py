"""Why a task is not claimed, in the words of the predicate that the claim asks; and what hurries it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection
from django.db.models import BooleanField, Count, ExpressionWrapper, Q
from django.db.models.functions import Now

from taskqueue.models import CLAIMABLE, URGENT, HostBudget, Task, TaskStatus, Turn, Worker, conditions
from taskqueue.sql import watching as sql

MOST_COUNTED = 1_000  # of those before it in its line
LATE = timedelta(seconds=30)  # what is due is put in line every second
LONGEST_NOTE = 200  # characters

ANYBODY = "nothing holds it back: the next free worker takes it"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the task has not started. `task_ids` are those that the words name."""

    words: str
    task_ids: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the reasons of several tasks are told from."""

    kinds: list[frozenset[str]]  # of each live worker
    holders: Mapping[str, list[int]]  # of each full lane's turns
    closed_until: Mapping[str, datetime]  # of each closed host
    children: Mapping[int, Mapping[str, int]]  # of each waiting parent, by status


def why_waiting(task: Task) -> list[Reason]:
    """Why nobody runs the task: a reason for each part of the predicate that does not hold; never none.

    When all hold, the one reason says that a free worker takes it, and how many are before it.
    """
    reasons = why_they_wait([task]).get(task.pk, [Reason("it is gone")])
    if is_free(reasons):
        return [Reason(f"{ANYBODY}; {_before(task)}; {_at_work(task)}")]
    return reasons


def is_free(reasons: Sequence[Reason]) -> bool:
    """Whether every part of the predicate holds."""
    return reasons[0].words.startswith(ANYBODY)


def why_they_wait(tasks: Iterable[Task]) -> dict[int, list[Reason]]:
    """The same for many, by id, less what is before each. The number of queries does not grow with theirs."""
    kinds = [frozenset(kinds) for kinds in Worker.objects.alive().values_list("kinds", flat=True)]
    judged = _judged([task.pk for task in tasks], kinds=frozenset().union(*kinds))
    facts = _Facts(
        kinds=kinds,
        holders=_holders({task.lane for task in judged if _lacks(task, "free_turn")}),
        closed_until=_closed({task.host for task in judged if _lacks(task, "open_host")}),
        children=_children([task.pk for task in judged if task.status == TaskStatus.WAITING]),
    )
    return {task.pk: _reasons(task, facts) for task in judged}


def run_now(task_id: int) -> bool:
    """The task is due, and before all that nobody waits for: its priority is urgent from now on.

    False if it runs, has ended, waits for children, or was both already. It waits for a turn and for its host
    as before.
    """
    with connection.cursor() as cursor:
        cursor.execute(sql.RUN_NOW, {"task": task_id, "urgent": URGENT})
        return bool(cursor.rowcount)


def _judged(ids: list[int], *, kinds: frozenset[str]) -> list[Any]:
    """The tasks with one attribute for each part of the predicate: whether it holds."""
    parts = {
        name: ExpressionWrapper(part, output_field=BooleanField()) for name, part in conditions(kinds).items()
    }
    tasks = Task.objects.filter(pk__in=ids).defer("payload", "result", "errors")
    return list(tasks.annotate(now=Now(), **parts))


def _reasons(task: Any, facts: _Facts) -> list[Reason]:
    if task.status not in CLAIMABLE:
        return [_elsewhere(task, facts)]
    lacking = [words(task, facts) for part, words in WORDS.items() if not getattr(task, part)]
    return lacking or [Reason(ANYBODY)]


def _elsewhere(task: Any, facts: _Facts) -> Reason:
    if task.status == TaskStatus.RUNNING:
        began = f"it runs since {_moment(task.started_at)}" if task.started_at else "it runs"
        return Reason(f"{began}, in {task.worker}{'; it is asked to stop' if task.is_cancelling else ''}")
    if task.status == TaskStatus.WAITING:
        children = facts.children.get(task.pk, {})
        counts = ", ".join(f"{count} {TaskStatus(status).label}" for status, count in children.items())
        return Reason(f"it waits for its children: {counts or 'none are left, and it is about to end'}")
    why = f": {(task.error or 'it said nothing')[:LONGEST_NOTE]}" if task.status == TaskStatus.FAILED else ""
    return Reason(f"it has ended: {task.get_status_display()} at {_moment(task.finished_at)}{why}")


def _not_in_line(task: Any, facts: _Facts) -> Reason:
    if task.not_before <= task.now:
        late = (
            ": no ticker seems to run" if task.now - task.not_before > LATE else ", where it will be shortly"
        )
        return Reason(f"it is due since {_moment(task.not_before)} and not yet in line{late}")
    why = (task.note or task.error)[:LONGEST_NOTE]
    due = f"{_moment(task.not_before)}{f': {why}' if why else ''}"
    if task.status == TaskStatus.AWAITING_BATCH:
        return Reason(f"it awaits a batch, which is looked at again at {due}")
    return Reason(f"it is not due until {due}")


def _unknown_kind(task: Any, facts: _Facts) -> Reason:
    if not facts.kinds:
        return Reason("no worker is alive")
    return Reason(f"none of the {len(facts.kinds)} live workers runs {task.kind}")


def _closed_host(task: Any, facts: _Facts) -> Reason:
    until = facts.closed_until.get(task.host)
    return Reason(f"{task.host} takes no request before {_moment(until) if until else 'a moment from now'}")


def _no_turn(task: Any, facts: _Facts) -> Reason:
    ids = tuple(facts.holders.get(task.lane, ()))
    whose, turns = (
        ("account", settings.QUEUE_ACCOUNT_TURNS) if task.account else ("host", settings.QUEUE_HOST_TURNS)
    )
    what = "its turn" if turns == 1 else f"all its {turns} turns"
    by = ", ".join(f"task {task_id}" for task_id in ids) or "a task that has just ended"
    return Reason(f"its {whose} has {what} taken by {by}", ids)


# One for each part of the predicate.
WORDS: dict[str, Callable[[Any, _Facts], Reason]] = {
    "place": _not_in_line,
    "known_kind": _unknown_kind,
    "open_host": _closed_host,
    "free_turn": _no_turn,
}


def _lacks(task: Any, part: str) -> bool:
    return task.status in CLAIMABLE and not getattr(task, part)


def _holders(lanes: set[str]) -> dict[str, list[int]]:
    taken = Turn.objects.filter(lane__in=lanes, task_id__isnull=False).order_by()
    return dict(taken.values_list("lane").annotate(ids=ArrayAgg("task_id", order_by="task_id")))


def _closed(hosts: set[str]) -> dict[str, datetime]:
    return dict(HostBudget.objects.closed().filter(host__in=hosts).values_list("host", "next_slot_at"))


def _children(parents: list[int]) -> dict[int, dict[str, int]]:
    counted: dict[int, dict[str, int]] = {}
    rows = Task.objects.filter(parent__in=parents).order_by("status").values_list("parent_id", "status")
    for parent_id, status, count in rows.annotate(count=Count("*")):
        counted.setdefault(parent_id, {})[status] = count
    return counted


def _before(task: Task) -> str:
    """How many of its own line go first. What is urgent, and other lanes, go between them."""
    task.refresh_from_db(fields=["position"])
    if task.position is None:
        return "it has just been taken"
    earlier = Q(position__lt=task.position) | Q(position=task.position, pk__lt=task.pk)
    line = Task.objects.filter(position__isnull=False, lane=task.lane)
    if not task.lane:
        line = line.filter(kind=task.kind)
    count = line.filter(earlier)[:MOST_COUNTED].count()
    many = f"{count:,}{' or more' if count == MOST_COUNTED else ''}"
    whose = {"account": "of its account", "host": "of its host", "": "of its kind"}[
        task.lane.partition(":")[0]
    ]
    return f"{many} {whose} {'is' if count == 1 else 'are'} before it"


def _at_work(task: Task) -> str:
    able = Worker.objects.alive().filter(kinds__contains=[task.kind])
    busy = Task.objects.running().filter(worker__in=able.values("name")).values("worker").distinct().count()
    return f"{busy} of the {able.count()} workers that run {task.kind} are at work"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
