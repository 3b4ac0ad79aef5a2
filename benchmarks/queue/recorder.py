"""What a no-op task does: it notes that it ran, at the cost of about a microsecond and no database traffic.

Every worker process appends (task's number, CLOCK_MONOTONIC in nanoseconds) to a file of its own, mapped
into memory. So the time line of every system is taken in the same way, and a task that ran twice shows.
Standard library only: it runs in the peers' interpreter too.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from pathlib import Path
from typing import NamedTuple

COUNT = struct.Struct("<q")
ENTRY = struct.Struct("<qq")
HEADER = 16
CAPACITY = 1_000_000  # entries; the file is sparse
PATTERN = "ran-*.bin"


class Event(NamedTuple):
    at: int  # CLOCK_MONOTONIC, nanoseconds
    number: int
    pid: int


class Recorder:
    """Notes what this process ran. Survives a fork: the child opens a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._pid = 0
        self._written = 0
        self._map: mmap.mmap | None = None

    def note(self, number: int) -> None:
        """Task `number` runs now."""
        with self._lock:
            target = self._map
            if target is None or self._pid != os.getpid():
                target = self._open()
            ENTRY.pack_into(target, HEADER + self._written * ENTRY.size, number, time.monotonic_ns())
            self._written += 1
            COUNT.pack_into(target, 0, self._written)  # last: a reader sees whole entries only

    def _open(self) -> mmap.mmap:
        self._pid, self._written = os.getpid(), 0
        path = self._folder / PATTERN.replace("*", str(self._pid))
        with path.open("w+b") as file:
            file.truncate(HEADER + CAPACITY * ENTRY.size)
            self._map = mmap.mmap(file.fileno(), 0)
        return self._map


def count(folder: Path) -> int:
    """How many runs were noted in `folder` so far."""
    total = 0
    for path in folder.glob(PATTERN):
        with path.open("rb") as file:
            head = file.read(COUNT.size)
        if len(head) == COUNT.size:
            total += COUNT.unpack(head)[0]
    return total


def read(folder: Path) -> list[Event]:
    """Every run noted in `folder`, in the order of time."""
    events: list[Event] = []
    for path in folder.glob(PATTERN):
        pid = int(path.stem.partition("-")[2])
        with path.open("rb") as file:
            (written,) = COUNT.unpack(file.read(HEADER)[: COUNT.size])
            body = file.read(written * ENTRY.size)
        events += [Event(at, number, pid) for number, at in ENTRY.iter_unpack(body)]
    return sorted(events)
