"""The kinds of the load test. Each is a habit that real handlers have; what they did is in the database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError, connection, transaction

from taskqueue.handlers import (
    Claim,
    ClaimLost,
    Delay,
    Done,
    Every,
    Fail,
    Outcome,
    Park,
    Retry,
    WaitForChildren,
    every,
    handler,
    schedule,
)
from taskqueue.loadtest import tables
from taskqueue.loadtest.mix import CYCLE, CYCLE_SECONDS
from taskqueue.models import HostBudget
from taskqueue.services import enqueue_children

Body = Callable[[Claim], Outcome]

ENOUGH_ATTEMPTS = 100  # for a task that is to survive whatever happens to its workers
FEW_ATTEMPTS = 3  # for one that is to fail
SOON = timedelta(seconds=0.5)
LOOK_SECONDS = 0.02


def kind(name: str, **options: Any) -> Callable[[Body], Body]:
    """The body runs tasks of `load.<name>`, once it is written down that they began."""

    def register(body: Body) -> Body:
        def run(claim: Claim) -> Outcome:
            try:
                start(claim)
                return body(claim)
            except ClaimLost:
                with suppress(DatabaseError, InterfaceError):  # the sessions of a lost worker are cut
                    write(tables.REFUSED, claim)
                raise

        handler(f"load.{name}", **{"max_attempts": ENOUGH_ATTEMPTS, **options})(run)
        return body

    return register


def start(claim: Claim) -> None:
    """The outside world is asked for something. A worker whose lease is over must not get here.

    The session is opened before the claim is looked at: that of a worker which is stopped in between, and
    declared lost, is cut.
    """
    with connection.cursor() as cursor:
        claim.checkpoint()
        cursor.execute(tables.STARTED, values(claim))


def effect(claim: Claim, seconds: float = 0.0) -> None:
    """What the task is for has happened, once; written as a service writes, `seconds` before it commits."""
    with transaction.atomic():
        claim.hold()
        write(tables.EFFECT, claim)
        time.sleep(seconds)


def write(statement: str, claim: Claim) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values(claim))
        return int(cursor.rowcount)


def values(claim: Claim) -> dict[str, Any]:
    token = claim.token
    return {"task": token.task_id, "attempt": token.attempt, "worker": token.worker, "pid": os.getpid()}


def done(claim: Claim) -> Done:
    """The result and the note name the attempt: the row must show those of its last one."""
    return Done(note=f"attempt {claim.attempt}", result={"attempt": claim.attempt})


@kind("work")
def work(claim: Claim) -> Outcome:
    """Takes its time before it writes, while it does, or before it says that it has."""
    weight = claim.payload.get("weight", 1)
    claim.progress(0, weight)
    time.sleep(claim.payload.get("seconds", 0.0))
    effect(claim, claim.payload.get("held_seconds", 0.0))
    claim.progress(weight, weight)
    time.sleep(claim.payload.get("after_seconds", 0.0))
    return done(claim)


@kind("short", short=True)
def short(claim: Claim) -> Outcome:
    effect(claim)
    return done(claim)


@kind("host")
def ask_host(claim: Claim) -> Outcome:
    """Keeps to the pace of a host that all workers share."""
    time.sleep(HostBudget.objects.take(claim.payload["host"]))
    effect(claim)
    HostBudget.objects.accept(claim.payload["host"])
    return done(claim)


@kind("flaky", transient=(KeyError,))
def flaky(claim: Claim) -> Outcome:
    """Fails at first, in one of the ways that another try may cure."""
    if claim.attempt <= claim.payload["failures"]:
        match claim.payload["how"]:
            case "says so":
                return Retry(reason="not yet", after=SOON)
            case "times out":
                raise TimeoutError("no answer")
            case _:
                raise KeyError("half an answer")
    effect(claim)
    return done(claim)


@kind("parked")
def parked(claim: Claim) -> Outcome:
    """Submits once, saves the identity before it waits, and collects on a later run."""
    with transaction.atomic():
        claim.hold()
        is_new = write(tables.SUBMITTED, claim)
    until = timedelta(seconds=claim.payload["wait_seconds"])
    if is_new and claim.payload["how"] == "parks":
        return Park(until=until, note="submitted")
    if is_new:
        return Delay(until=until, reason="the host is busy")
    effect(claim)
    return done(claim)


@kind("split")
def split(claim: Claim) -> Outcome:
    """Its effect is its children; a second run finds them there."""
    with transaction.atomic():
        claim.hold()
        write(tables.EFFECT, claim)
        for name, parts in claim.payload["parts"].items():
            enqueue_children(claim, name, parts)
    time.sleep(claim.payload["after_seconds"])
    return WaitForChildren()


@kind("broken", max_attempts=FEW_ATTEMPTS)
def broken(claim: Claim) -> Outcome:
    return Fail("it cannot be done")


@kind("raises", max_attempts=FEW_ATTEMPTS)
def raises(claim: Claim) -> Outcome:
    raise ValueError("it cannot be read \x00 \ud800")  # what no row can hold as it is


@kind("hopeless", max_attempts=FEW_ATTEMPTS)
def hopeless(claim: Claim) -> Outcome:
    return Retry(reason="never", after=SOON)


@kind("poison", max_attempts=2)
def poison(claim: Claim) -> Outcome:
    """Takes its process down every time, as a crash in a C library would."""
    write(tables.CRASHED, claim)
    os._exit(7)


@kind("mended", max_attempts=FEW_ATTEMPTS)
def mended(claim: Claim) -> Outcome:
    """Fails until somebody mends what was wrong and retries it."""
    with connection.cursor() as cursor:
        cursor.execute(tables.IS_MENDED, values(claim))
        if not cursor.fetchone()[0]:
            return Fail("somebody has to mend it")
    effect(claim)
    return done(claim)


@kind("endless")
def endless(claim: Claim) -> Outcome:
    """Works until it is told to stop."""
    rounds = 0
    while True:
        claim.checkpoint()
        rounds += 1
        claim.progress(rounds)
        time.sleep(LOOK_SECONDS)


@kind("deaf")
def deaf(claim: Claim) -> Outcome:
    """Asks nobody for long whether it still may, before it writes or while it does."""
    time.sleep(claim.payload.get("seconds", 0.0))
    effect(claim, claim.payload.get("held_seconds", 0.0))
    return done(claim)


@kind("ghost")
def ghost(claim: Claim) -> Outcome:
    """Its producer rolled back: this never runs."""
    effect(claim)
    return done(claim)


@kind("cycle")
def cycle(claim: Claim) -> Outcome:
    effect(claim)
    return done(claim)


@schedule(CYCLE)
def due() -> Every:
    return every(CYCLE_SECONDS)
