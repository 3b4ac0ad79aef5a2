"""One step of one system, in the system's own interpreter: `python -m benchmarks.queue.driver --help`.

The last line of stdout is the answer, as JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.queue.adapters import ADAPTERS, Adapter, Place, adapter
from benchmarks.queue.recorder import Recorder

CALL_SIZE = 1_000  # tasks in one call of the bulk API
WARM_UP = 20
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 0.3  # between two pickups: the fleet is idle again

Order = argparse.Namespace


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queue.driver", description=__doc__)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("system", choices=ADAPTERS)
    for name in ("--socket-dir", "--user", "--database", "--load"):
        parser.add_argument(name, required=True)
    parser.add_argument("--mode", choices=["one", "best"], default="one")
    parser.add_argument("--workers", type=int, default=1, help="of a system that forks them itself")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--record", type=Path, help="the folder that runs are noted in")
    order = parser.parse_args(arguments)
    place = Place(order.socket_dir, order.user, order.database, order.load)
    answer = VERBS[order.verb](adapter(order.system)(place), order)
    if order.verb != work.__name__:  # nobody waits for a worker's answer
        sys.stdout.write(f"\n{json.dumps(answer)}\n")


def install(system: Adapter, order: Order) -> None:
    system.install()


def fill(system: Adapter, order: Order) -> None:
    """Queue `count` tasks, the quickest way."""
    system.open()
    for first in range(0, order.count, CALL_SIZE):
        system.enqueue_many(range(first, min(first + CALL_SIZE, order.count)))
    system.close()


def copy_finished(system: Any, order: Order) -> None:
    system.copy_finished(order.count)


def produce(system: Adapter, order: Order) -> dict[str, float]:
    """Tasks a second, queued one at a time and in bulk; each for `seconds`."""
    system.open()
    system.enqueue_many(range(CALL_SIZE))
    for number in range(WARM_UP):
        system.enqueue(number)
    single = _repeat(lambda: system.enqueue(0), order.seconds)
    calls = _repeat(lambda: system.enqueue_many(range(CALL_SIZE)), order.seconds)
    system.close()
    return {"one_per_s": single, "many_per_s": calls * CALL_SIZE}


def trickle(system: Adapter, order: Order) -> list[int]:
    """Queue `count` tasks with pauses between; answers when each call returned (CLOCK_MONOTONIC, ns)."""
    pauses = random.Random(7)  # noqa: S311 - the same for every system
    returned = []
    system.open()
    for number in range(order.count):
        time.sleep(pauses.uniform(SHORTEST_PAUSE, LONGEST_PAUSE))
        system.enqueue(number)
        returned.append(time.monotonic_ns())
    system.close()
    return returned


def work(system: Adapter, order: Order) -> None:
    system.work(Recorder(order.record), mode=order.mode, workers=order.workers)


def _repeat(call: Callable[[], None], seconds: float) -> float:
    """Calls a second."""
    begun = time.perf_counter()
    calls = 0
    while (passed := time.perf_counter() - begun) < seconds:
        call()
        calls += 1
    return calls / passed


VERBS: dict[str, Callable[[Any, Order], Any]] = {
    verb.__name__: verb for verb in (install, fill, copy_finished, produce, trickle, work)
}


if __name__ == "__main__":
    main()
