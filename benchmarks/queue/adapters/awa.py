"""awa: a runtime in Rust under handlers in Python; one task at a time, or 128 at once. Bulk is COPY."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from awa import AsyncClient, Client

from benchmarks.queue.adapters import Place
from benchmarks.queue.recorder import Recorder

QUEUE = "bench"
CONCURRENCY = {"one": 1, "best": 128}


@dataclass
class Noop:
    number: int


class Awa:
    def __init__(self, place: Place) -> None:
        # Its driver wants a host name in the address, even where the socket's folder overrides it.
        self._url = place.url.replace("@/", "@localhost/")

    def install(self) -> None:
        client = Client(self._url)
        client.migrate()
        client.install_queue_storage()

    def open(self) -> None:
        self._client = Client(self._url)

    def close(self) -> None:
        self._client.close()

    def enqueue(self, number: int) -> None:
        self._client.insert(Noop(number=number), queue=QUEUE)

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        self._client.enqueue_many_copy([Noop(number=number) for number in numbers], queue=QUEUE)

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        async def run() -> None:
            client = AsyncClient(self._url)

            async def noop(job: Any) -> None:
                recorder.note(job.args.number)

            client.task(Noop, queue=QUEUE)(noop)
            await client.start([(QUEUE, CONCURRENCY[mode])])
            told = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
            await told.wait()
            await client.shutdown()

        asyncio.run(run())
