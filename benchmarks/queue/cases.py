"""What is measured: a system, what its tasks are, and how its workers run them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """`load` says what the tasks are (adapters.ours), `mode` is "one" task at a time or the "best" set-up."""

    name: str
    system: str
    load: str = "noop"
    mode: str = "one"

    @property
    def is_ours(self) -> bool:
        return self.system == "ours"


OURS = Case("ours", "ours")
OURS_SHORT = Case("ours, short", "ours", load="short")
OURS_LANES = Case("ours, short, 1,000 accounts, 50 hosts", "ours", load="lanes")
OURS_ONE_ACCOUNT = Case("ours, one account", "ours", load="one-account")
OURS_MANY_ACCOUNTS = Case("ours, 10,000 accounts", "ours", load="many-accounts")
OURS_URGENT = Case("ours, urgent", "ours", load="urgent")
BESIDE_SNAPSHOT = (OURS, OURS_ONE_ACCOUNT, OURS_MANY_ACCOUNTS, OURS_URGENT)
PROCRASTINATE = Case("procrastinate", "procrastinate")
PROCRASTINATE_BEST = Case("procrastinate, best", "procrastinate", mode="best")
PGQUEUER = Case("pgqueuer", "pgqueuer")
PGQUEUER_BEST = Case("pgqueuer, best", "pgqueuer", mode="best")
AWA = Case("awa", "awa")
AWA_BEST = Case("awa, best", "awa", mode="best")
DJANGO_TASKS = Case("django-tasks-db", "django-tasks-db")
DJANGO_TASKS_BEST = Case("django-tasks-db, best", "django-tasks-db", mode="best")
LIMIT_BATCH = Case("pgbench, 64 a commit", "pgbench")


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement. A figure that could not be taken is None; `error` says why none was."""

    part: str
    round: int
    case: str
    variant: str = ""
    workers: int = 1
    figures: dict[str, float | None] = field(default_factory=dict)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. No part begins after `budget_seconds`, but for those of the first round."""

    rounds: int
    budget_seconds: float
    fleets: tuple[int, ...]  # numbers of workers
    backlog: int  # tasks, of systems that run one at a time
    long_backlog: int  # tasks, of those that batch
    drain_seconds: float
    pair_seconds: int  # before and after each run
    produce_seconds: float
    pickups: int
    deep: int  # tasks pending, and as many finished
    snapshot_backlog: int
    snapshot_seconds: float
    with_others: bool  # also, in every other round, what no line compares with

    def has_others(self, number: int) -> bool:
        return self.with_others and number % 2 == 0


QUICK = Plan(
    rounds=2,
    budget_seconds=255,
    fleets=(1,),
    backlog=3_000,
    long_backlog=20_000,
    drain_seconds=4,
    pair_seconds=1,
    produce_seconds=1.5,
    pickups=20,
    deep=100_000,
    snapshot_backlog=4_000,
    snapshot_seconds=6,
    with_others=False,
)
FULL = Plan(
    rounds=5,
    budget_seconds=1_650,
    fleets=(1, 2),
    backlog=5_000,
    long_backlog=40_000,
    drain_seconds=5,
    pair_seconds=1,
    produce_seconds=2,
    pickups=60,
    deep=1_000_000,
    snapshot_backlog=12_000,
    snapshot_seconds=20,
    with_others=True,
)
