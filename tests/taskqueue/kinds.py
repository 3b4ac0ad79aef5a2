"""Kinds for tests with real workers. What a handler did is in the database: a mark, made under its claim."""

from __future__ import annotations

import os
from datetime import timedelta

from django.db import transaction

from taskqueue.handlers import Claim, Done, Outcome, Registry, ShuttingDown
from taskqueue.models import Task
from taskqueue.services import enqueue
from tests.taskqueue.waiting import until

MARK = "test.mark"  # a kind that nobody runs
GO = "test.go"


def mark(claim: Claim, word: str) -> None:
    """Write, as a service does, in one transaction with the claim."""
    with transaction.atomic():
        claim.hold()
        made = {"attempt": claim.attempt, "pid": os.getpid()}
        enqueue(MARK, subject=f"{word}:{claim.task_id}", payload=made)


def pids(word: str) -> list[int]:
    """The processes that left the mark, in order."""
    found = Task.objects.filter(kind=MARK, subject__startswith=f"{word}:").order_by("pk")
    return [task.payload["pid"] for task in found]


def marks(word: str) -> list[int]:
    """The attempts that left the mark, in order."""
    found = Task.objects.filter(kind=MARK, subject__startswith=f"{word}:").order_by("pk")
    return [task.payload["attempt"] for task in found]


def quick(claim: Claim) -> Outcome:
    mark(claim, "done")
    return Done()


def stubborn(claim: Claim) -> Outcome:
    """Blocks without a checkpoint until the test says go."""
    mark(claim, "begun")
    until(Task.objects.filter(kind=GO).exists)
    mark(claim, "done")
    return Done()


def polite(claim: Claim) -> Outcome:
    """Works until it is stopped at a checkpoint, or until the test says go."""
    mark(claim, "begun")

    def is_told() -> bool:
        claim.checkpoint()
        return Task.objects.filter(kind=GO).exists()

    try:
        until(is_told)
    except ShuttingDown:
        mark(claim, "stopped")
        raise
    mark(claim, "done")
    return Done()


def suicidal(claim: Claim) -> Outcome:
    """Takes its process down once, as a crash in a C library would."""
    mark(claim, "begun")
    if claim.attempt == 1:
        os._exit(7)
    mark(claim, "done")
    return Done()


def greedy(claim: Claim) -> Outcome:
    """Leaves its process with as much in memory as the payload says."""
    _hoard.append(b"x" * claim.payload["bytes"])
    mark(claim, "done")
    return Done()


def brief(claim: Claim) -> Outcome:
    """Takes a moment, unless the payload says how it ends at the first attempt."""
    mark(claim, "begun")
    ends = claim.payload.get("ends") if claim.attempt == 1 else None
    if ends == "crash":
        os._exit(7)
    if ends == "stuck":
        until(Task.objects.filter(kind=GO).exists)
    mark(claim, "done")
    return Done()


_hoard: list[bytes] = []


def all_kinds() -> Registry:
    registry = Registry()
    registry.handler("test.overlong", time_limit=timedelta(seconds=0.5))(stubborn)
    registry.handler("test.brief", short=True, time_limit=timedelta(seconds=2))(brief)
    for body in (quick, stubborn, polite, suicidal, greedy):
        registry.handler(f"test.{body.__name__}")(body)
    return registry
