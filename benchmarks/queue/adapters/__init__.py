"""The systems: how each is installed, filled and run. One module a system, in the words of its own API."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.queue.recorder import Recorder

ADAPTERS = {
    "ours": "benchmarks.queue.adapters.ours:Ours",
    "procrastinate": "benchmarks.queue.adapters.procrastinate:Procrastinate",
    "pgqueuer": "benchmarks.queue.adapters.pgqueuer:PgQueuer",
    "awa": "benchmarks.queue.adapters.awa:Awa",
    "django-tasks-db": "benchmarks.queue.adapters.django_tasks:DjangoTasks",
}

# How many tasks are not finished, asked from outside.
UNFINISHED = {
    "ours": "SELECT count(*) FROM queue_task WHERE kind LIKE 'bench.%' AND finished_at IS NULL",
    "procrastinate": "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
    "pgqueuer": "SELECT count(*) FROM pgqueuer",  # a finished job's row is gone
    "awa": "SELECT count(*) FROM awa.jobs "
    "WHERE state::text IN ('available', 'running', 'scheduled', 'retryable')",
    "django-tasks-db": "SELECT count(*) FROM django_tasks_database_dbtaskresult "
    "WHERE status IN ('READY', 'RUNNING')",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the database is, and what the tasks in it are (`Case.load`)."""

    socket_dir: str
    user: str
    database: str
    load: str

    @property
    def url(self) -> str:
        return f"postgresql://{self.user}@/{self.database}?host={self.socket_dir}"


class Adapter(Protocol):
    """One system over one database, in a process of its own."""

    def __init__(self, place: Place) -> None: ...

    def install(self) -> None:
        """The system's own tables are in the empty database."""

    def open(self) -> None:
        """Ready to enqueue."""

    def close(self) -> None: ...

    def enqueue(self, number: int) -> None:
        """A task that notes `number` is queued and committed."""

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        """The same for many, in the system's quickest way."""

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        """Run tasks until SIGTERM: one at a time, or (`mode` "best") in the system's best configuration."""


def adapter(system: str) -> type[Adapter]:
    """Imports what only the system's own interpreter has installed."""
    module, _, name = ADAPTERS[system].partition(":")
    found: type[Adapter] = getattr(importlib.import_module(module), name)
    return found
