"""Kinds for tests with real workers. What a handler did is in the database: a mark, made under its claim."""

from __future__ import annotations

import os

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
        enqueue(MARK, subject=f"{word}:{claim.task_id}", payload={"attempt": claim.attempt})


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


def all_kinds() -> Registry:
    registry = Registry()
    for body in (quick, stubborn, polite, suicidal):
        registry.handler(f"test.{body.__name__}")(body)
    return registry
