"""Functions as other apps declare them, for tests of the Tasks API on this queue."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

from django_tasks import TaskContext, task

from taskqueue.django_tasks import current_claim
from taskqueue.errors import HostBusy
from tests.taskqueue.waiting import until

called: list[Any] = []  # what was called, where the test's own process is the worker


class OutOfStock(Exception):
    pass


@task
def add(first: int, second: int = 0) -> int:
    return first + second


@task
async def double(number: int) -> int:
    assert current_claim()
    return 2 * number


@task
def note(what: Any) -> None:
    called.append(what)


@task(takes_context=True)
def attempt(context: TaskContext) -> list[Any]:
    return [context.attempt, context.task_result.id]


@task
def sell(article: str) -> None:
    raise OutOfStock(f"no {article}:\nsold yesterday")


@task
def call_out() -> None:
    raise ConnectionResetError("the shop hung up")


@task
def leave() -> None:
    raise SystemExit(3)


@task
def give_an_object() -> Any:
    return {"an object": object()}


@task
def ask(free_at: str) -> None:
    raise HostBusy("shop.example", datetime.fromisoformat(free_at))


@task
def work_on() -> None:
    """Until somebody asks for its end."""
    claim = current_claim()
    assert claim is not None
    claim.progress(1, 3, "working")
    until(claim.checkpoint)


@task(takes_context=True)
def crash_once(context: TaskContext) -> int:
    """Takes its process down at the first attempt, as a crash in a C library would."""
    if context.attempt == 1:
        os._exit(7)
    return context.attempt


def not_a_task() -> None:
    called.append("not a task")


under_another_name = task(not_a_task)
