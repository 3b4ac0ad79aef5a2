"""Rolecall's own queue, as the product runs it: its settings, its services, its `runworker`.

The orchestrator sets DATABASE_URL, so that everything below is what a machine with a database of its own
does: `migrate` makes the tables, `enqueue` fills them, `runworker` forks workers with every app installed.
Only the two kinds are the benchmark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django
from django.core.management import execute_from_command_line
from django.db import connection, connections

from benchmarks.queue.adapters import Place
from benchmarks.queue.recorder import Recorder

NOOP = "bench.noop"  # one at a time: the next starts when this one's end is committed
SHORT = "bench.short"  # declared short: several in hand, and one commit for all that ended meanwhile
ACCOUNTS, HOSTS = 1_000, 50
MANY_ACCOUNTS = 10_000
KINDS = {"short": SHORT, "lanes": SHORT}  # of the loads; of others NOOP
USUAL, URGENT = 50, 10  # priorities


class Ours:
    def __init__(self, place: Place) -> None:
        self._load = place.load
        self._kind = KINDS.get(place.load, NOOP)
        self._priority = URGENT if place.load == "urgent" else USUAL

    def install(self) -> None:
        execute_from_command_line(["manage.py", "migrate", "--verbosity", "0"])

    def open(self) -> None:
        django.setup()
        from taskqueue.models import HostBudget

        if self._load == "lanes":
            for number in range(HOSTS):
                HostBudget.objects.take(_host(number))

    def close(self) -> None:
        connections.close_all()

    def enqueue(self, number: int) -> None:
        from taskqueue.services import enqueue

        enqueue(self._kind, payload={"number": number}, priority=self._priority, **self._lane(number))

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        from taskqueue.services import New, enqueue_many

        tasks = [New(payload={"number": n}, **self._lane(n)) for n in numbers]
        enqueue_many(self._kind, tasks, priority=self._priority)

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        django.setup()
        from taskqueue.handlers import Claim, Done, Outcome, handler

        def note(claim: Claim) -> Outcome:
            recorder.note(claim.payload["number"])
            return Done()

        handler(NOOP)(note)
        handler(SHORT, short=True)(note)
        execute_from_command_line(
            ["manage.py", "runworker", "--concurrency", str(workers), "--kinds", self._kind]
        )

    def copy_finished(self, wanted: int) -> None:
        """As many finished tasks as `wanted`, made from those that real workers finished."""
        django.setup()
        from taskqueue.models import Task

        columns = ", ".join(
            f'"{field.column}"'
            for field in Task._meta.local_concrete_fields
            if not field.primary_key and not field.generated
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM queue_task WHERE finished_at IS NOT NULL")
            have = cursor.fetchone()[0]
            cursor.execute(
                f"INSERT INTO queue_task ({columns}) SELECT {columns} FROM queue_task, "  # noqa: S608 - own names
                "generate_series(1, %s) WHERE finished_at IS NOT NULL",
                [wanted // have - 1],
            )

    def _lane(self, number: int) -> dict[str, Any]:
        match self._load:
            case "lanes":
                return {"account": f"account-{number % ACCOUNTS}", "host": _host(number)}
            case "one-account":
                return {"account": "account-0"}
            case "many-accounts":
                return {"account": f"account-{number % MANY_ACCOUNTS}"}
        return {}


def _host(number: int) -> str:
    return f"host-{number % HOSTS}.example"
