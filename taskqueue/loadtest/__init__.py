"""The load and fault test of the queue: real workers on a database of its own, killed while they work.

`manage.py loadtest` runs it. Producers queue a mix of tasks (mix, producing), two machines' worth of real
`runworker` processes do them (machine, fleet, kinds), faults are done to those (chaos), people cancel and
retry (people), and in the end queries tell what held (invariants) and how fast it was (figures). Nothing is
read from a log or from a process's memory: handlers write what they did into tables beside the queue's
(tables).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LEASE_SECONDS = 6.0  # the product's is ten times as long; what is tested does not depend on it
HEARTBEAT_SECONDS = 1.0
TICK_SECONDS = 2.0
KINDS = "taskqueue.loadtest.kinds"


@dataclass(frozen=True, slots=True)
class Options:
    """`handlers` names the module that registers the kinds, `say` shows a line of progress."""

    workers: int
    accounts: int
    tasks: int
    is_killing: bool
    seed: int
    say: Callable[[str], object]
    handlers: str = KINDS
    is_kept: bool = False


class LoadTestFailed(Exception):
    """Nothing could be tested; the text says why and what to do."""
