"""pgqueuer: the smallest batch it takes, or asyncpg, uvloop and batches of 100.

Its smallest is one job a batch with two in flight. Completions are buffered for up to a tenth of a second;
a finished job is deleted and logged in a second table. It knows neither accounts nor hosts.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from typing import Any

import asyncpg
import psycopg
import uvloop
from pgqueuer import AsyncpgDriver, Job, PsycopgDriver, Queries
from pgqueuer import PgQueuer as Manager
from pgqueuer.db import SyncPsycopgDriver
from pgqueuer.queries import SyncQueries

from benchmarks.queue.adapters import Place
from benchmarks.queue.recorder import Recorder

BATCH = 100


class PgQueuer:
    def __init__(self, place: Place) -> None:
        self._place = place

    def install(self) -> None:
        async def run() -> None:
            async with await psycopg.AsyncConnection.connect(self._place.url, autocommit=True) as connection:
                await Queries(PsycopgDriver(connection)).install()

        asyncio.run(run())

    def open(self) -> None:
        self._connection = psycopg.connect(self._place.url, autocommit=True)
        self._queries = SyncQueries(SyncPsycopgDriver(self._connection))

    def close(self) -> None:
        self._connection.close()

    def enqueue(self, number: int) -> None:
        self._queries.enqueue("noop", b"%d" % number)

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        payloads = [b"%d" % number for number in numbers]
        self._queries.enqueue(["noop"] * len(payloads), payloads, [0] * len(payloads))

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        if mode == "best":
            uvloop.run(self._run(recorder, self._asyncpg, {"batch_size": BATCH}))
        else:
            asyncio.run(self._run(recorder, self._psycopg, {"batch_size": 1, "max_concurrent_tasks": 2}))

    async def _run(self, recorder: Recorder, connect: Any, limits: dict[str, int]) -> None:
        manager = Manager(await connect())

        async def noop(job: Job) -> None:
            recorder.note(int(job.payload or b""))

        manager.entrypoint("noop")(noop)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, manager.shutdown.set)
        await manager.run(**limits)

    async def _asyncpg(self) -> AsyncpgDriver:
        where = {"host": self._place.socket_dir, "user": self._place.user, "database": self._place.database}
        return AsyncpgDriver(await asyncpg.connect(**where))

    async def _psycopg(self) -> PsycopgDriver:
        return PsycopgDriver(await psycopg.AsyncConnection.connect(self._place.url, autocommit=True))
