"""What is queued: accounts and the fleet, quick tasks and slow ones, and each with an ending to expect."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

URGENT, NORMAL = 5, 50
CYCLE, CYCLE_SECONDS = "load.cycle", 3  # nobody queues it: it is a schedule's
HOSTS = tuple(f"host-{number}.example" for number in range(4))
BIG_ACCOUNT = "account-0"
LONGEST_SECONDS = 0.05
TASKS_A_SECOND = 50  # that a small machine does at least, faults and all
LONGEST_DEAF_SECONDS = 1.5
LONGEST_SPLIT_SECONDS = 0.3  # between the children and the end of the attempt

DONE, FAILED, CANCELLED, ANY = "done", "failed", "cancelled", "done or cancelled"

# Of a thousand tasks. One of each sort comes first, so that a small test has them all.
SHARES = {
    "work": 560,
    "short": 200,
    "urgent": 40,
    "keyed": 40,
    "flaky": 40,
    "parked": 30,
    "host": 20,
    "victim": 20,
    "split": 20,
    "mended": 8,
    "deaf": 8,
    "split that fails": 4,
    "victims": 4,
    "endless": 4,
    "broken": 4,
    "raises": 2,
    "hopeless": 2,
    "ghost": 2,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task to be queued and how it is to end."""

    kind: str
    payload: Mapping[str, Any]
    ending: str = DONE
    account: str = ""
    host: str = ""
    priority: int = NORMAL
    key: str | None = None
    due_in_seconds: float = 0.0

    @property
    def is_plain(self) -> bool:
        """One of many of its kind, which go in together."""
        return self.kind in ("load.work", "load.short") and self.key is None and self.ending == DONE


class Mix:
    def __init__(self, rng: random.Random, *, accounts: int, tasks: int) -> None:
        self._rng = rng
        self._accounts = accounts
        self._tasks = tasks
        self._number = 0
        self._make: dict[str, Callable[[], Wanted]] = {
            "work": lambda: Wanted("load.work", self._pause(), account=self._account()),
            "short": lambda: Wanted("load.short", {}, account=self._account()),
            "urgent": lambda: Wanted("load.work", self._pause(), account=self._account(), priority=URGENT),
            "keyed": lambda: Wanted("load.work", self._pause(), account=self._account(), key=self._key()),
            "flaky": lambda: Wanted("load.flaky", self._failures(), account=self._account()),
            "parked": lambda: Wanted("load.parked", self._wait(), account=self._account()),
            "host": self._asks_a_host,
            "victim": lambda: Wanted("load.work", self._pause(), ANY, account=self._account()),
            "split": lambda: replace(
                Wanted("load.split", self._parts(), account=self._small_account()), due_in_seconds=self._due()
            ),
            "mended": lambda: Wanted("load.mended", {}, account=self._account()),
            "deaf": lambda: Wanted("load.deaf", self._long_pause(), due_in_seconds=self._due()),
            "split that fails": lambda: Wanted("load.split", self._bad_parts(), FAILED),
            "victims": lambda: Wanted("load.split", self._parts(), ANY),
            "endless": lambda: Wanted("load.endless", {}, CANCELLED, account=self._small_account()),
            "broken": lambda: Wanted("load.broken", {}, FAILED, account=self._account()),
            "raises": lambda: Wanted("load.raises", {}, FAILED),
            "hopeless": lambda: Wanted("load.hopeless", {}, FAILED, account=self._account()),
            "ghost": lambda: Wanted("load.ghost", {}),
        }

    def wanted(self) -> Iterator[Wanted]:
        """In an order in which no sort waits for another; the first are one of each sort."""
        names = list(SHARES)[: self._tasks]
        names += self._rng.choices(list(SHARES), list(SHARES.values()), k=self._tasks - len(names))
        return (self._make[name]() for name in names)

    def _account(self) -> str:
        """A third is one account's, a third the others', a third the fleet's own."""
        return self._rng.choice([BIG_ACCOUNT, self._small_account(), ""])

    def _small_account(self) -> str:
        return f"account-{self._rng.randrange(1, self._accounts)}" if self._accounts > 1 else ""

    def _due(self) -> float:
        """What a fault hurts most is spread over the time that the test takes."""
        return round(self._rng.uniform(0, self._tasks / TASKS_A_SECOND), 2)

    def _key(self) -> str:
        self._number += 1
        return f"load:{self._number}"

    def _pause(self) -> dict[str, Any]:
        """Most are quick. Some sleep where a fault hurts most: while they write, or when they have."""
        seconds = LONGEST_SECONDS * self._rng.random() ** 4
        where = self._rng.choices(["seconds", "held_seconds", "after_seconds"], [2, 1, 1])[0]
        return {where: round(seconds, 4)}

    def _long_pause(self) -> dict[str, Any]:
        where = self._rng.choice(["seconds", "held_seconds"])
        return {where: round(self._rng.uniform(0.3, LONGEST_DEAF_SECONDS), 2)}

    def _failures(self) -> dict[str, Any]:
        how = self._rng.choices(["says so", "times out", "raises"], [8, 1, 1])[0]
        return {"failures": self._rng.choice([1, 1, 1, 2]), "how": how}

    def _wait(self) -> dict[str, Any]:
        how = self._rng.choice(["parks", "is delayed"])
        return {"how": how, "wait_seconds": round(self._rng.uniform(0.2, 2), 2)}

    def _asks_a_host(self) -> Wanted:
        host = self._rng.choice(HOSTS)
        return Wanted("load.host", {"host": host}, host=host)

    def _parts(self, *, is_nested: bool = False) -> dict[str, Any]:
        """Two to five children, each with a weight of its own, and for one in four a family of their own."""
        weights = self._rng.sample(range(1, 10), self._rng.randint(2, 5))
        parts: dict[str, Any] = {
            "load.work": [{"weight": weight, "part": number} for number, weight in enumerate(weights)]
        }
        if not is_nested and self._rng.random() < 0.25:
            inner = self._parts(is_nested=True)
            parts["load.split"] = [{**inner, "part": len(weights)}]
            weights.append(inner["weight"])
        seconds = round(LONGEST_SPLIT_SECONDS * self._rng.random(), 2)
        return {"parts": parts, "weight": sum(weights), "after_seconds": seconds}

    def _bad_parts(self) -> dict[str, Any]:
        parts = self._parts(is_nested=True)
        parts["parts"]["load.broken"] = [{"part": "bad"}]
        return parts
