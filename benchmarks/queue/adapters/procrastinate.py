"""procrastinate: one task at a time, or 20 at once in one event loop. Finished jobs stay, as by default."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import procrastinate

from benchmarks.queue.adapters import Place
from benchmarks.queue.recorder import Recorder

CONCURRENCY = {"one": 1, "best": 20}


class Procrastinate:
    def __init__(self, place: Place) -> None:
        self._url = place.url

    def install(self) -> None:
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=self._url))
        with app.open():
            app.schema_manager.apply_schema()

    def open(self) -> None:
        self._app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=self._url))
        self._task = _task(self._app, None)
        self._app.open()

    def close(self) -> None:
        self._app.close()

    def enqueue(self, number: int) -> None:
        self._task.defer(number=number)

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        self._task.batch_defer(*({"number": number} for number in numbers))

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self._url))
        _task(app, recorder)

        async def run() -> None:
            async with app.open_async():
                await app.run_worker_async(concurrency=CONCURRENCY[mode])

        asyncio.run(run())


def _task(app: Any, recorder: Recorder | None) -> Any:
    async def noop(number: int) -> None:
        if recorder:
            recorder.note(number)

    return app.task(name="noop")(noop)
