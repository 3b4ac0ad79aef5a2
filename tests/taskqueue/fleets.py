"""Several workers, as far as claiming goes: each remembers its own way through the lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from django.db import connection

from taskqueue.models import Task, Token
from taskqueue.services.claiming import Claimer, Ended
from tests.taskqueue.factories import alive

KINDS = {"test.work": 5}


def ticking() -> Callable[[], float]:
    """A clock that ticks whenever it is looked at.

    By it a worker looks all round after so many claims, however busy the machine is: what it claims can be
    repeated.
    """
    return partial(next, count(0.0, 1 / 64))


class Fleet:
    """Its workers claim one after the other, in turn; each records what it has done with its next claim."""

    def __init__(self, size: int = 1) -> None:
        names = [f"worker-{number + 1}" for number in range(size)]
        self._claimers = [Claimer(alive(name).name, KINDS, clock=ticking()) for name in names]
        self._in_hand: list[list[Token]] = [[] for _ in names]
        self._turn = 0

    def work(self, claims: int, *, most: int = 1) -> list[Task]:
        """What so many claims handed out, in order; each worker is done with its last before its next."""
        claimed = []
        for _ in range(claims):
            number = self._turn = (self._turn + 1) % len(self._claimers)
            ended = [Ended(token) for token in self._in_hand[number]]
            step = self._claimers[number].step(ended, most=most)
            self._in_hand[number] = [task.token for task in step.claimed]
            claimed += step.claimed
        return claimed

    def grab(self, most: int = 1_000) -> list[Task]:
        """What is claimed until nothing is claimable, nothing being done."""
        claimed: list[Task] = []
        while some := self._claimers[len(claimed) % len(self._claimers)].step(most=1).claimed:
            claimed += some
            assert len(claimed) <= most
        return claimed


def accounts_of(tasks: Sequence[Task]) -> list[str]:
    return [task.account for task in tasks]


def queue_up(account: str, count: int, *, kind: str = "test.work") -> None:
    """So many tasks of one account, due now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO queue_task (kind, account, position)"
            " SELECT %s, %s, statement_timestamp() + interval '5 min' FROM generate_series(1, %s)",
            [kind, account, count],
        )
