"""The machines of the load test: each a supervisor with its workers and its ticker, in a group of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from taskqueue.loadtest import (
    HEARTBEAT_SECONDS,
    LEASE_SECONDS,
    TICK_SECONDS,
    LoadTestFailed,
    Options,
    tables,
)
from taskqueue.models import Worker
from taskqueue.worker.pulse import GRACE_SECONDS

LEAVING_SECONDS = GRACE_SECONDS + 5.0  # a supervisor makes its children go a little after their grace
STARTING_SECONDS = 60.0
LOOK_SECONDS = 0.1
WORDS_BYTES = 2_000


class Machine:
    """One start of `runworker`. Its process group is named after its supervisor, and holds nothing else."""

    def __init__(self, name: str, workers: int, *, database: str, handlers: str, log: Path) -> None:
        self.name = name
        self.workers = workers
        given = {
            "name": name,
            "workers": workers,
            "database": database,
            "handlers": handlers,
            "tick_seconds": TICK_SECONDS,
            "settings": {
                "QUEUE_LEASE_SECONDS": LEASE_SECONDS,
                "QUEUE_HEARTBEAT_SECONDS": HEARTBEAT_SECONDS,
            },
        }
        with log.open("ab") as file:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
                [sys.executable, "-m", "taskqueue.loadtest.machine", json.dumps(given)],
                cwd=settings.BASE_DIR,
                stdin=subprocess.PIPE,  # closed by the kernel when this process dies: the machine ends
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self.is_frozen = False
        self._has_started = False

    @property
    def group(self) -> int | None:
        """The number of its process group, while it is certainly its own: until its supervisor is waited for.

        One that was killed is not waited for before the end of the test: it may have left orphans.
        """
        return self._process.pid if self._process.returncode is None else None

    def signal_supervisor(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def signal_all(self, number: signal.Signals) -> None:
        if self.group is not None:
            with suppress(ProcessLookupError, PermissionError):  # macOS says so of a group of zombies
                os.killpg(self.group, number)

    def workers_alive(self) -> list[str]:
        """The names of its own: orphans of an earlier start are called like them."""
        alive = Worker.objects.alive().order_by("name").values_list("name", "pid")
        return [name for name, pid in alive if self.has_process(pid)]

    def has_process(self, pid: int) -> bool:
        try:
            return self.group is not None and os.getpgid(pid) == self.group
        except ProcessLookupError:
            return False

    def is_up(self) -> bool:
        """Whether its ticker ticks: it started before the workers did, and outlives them."""
        self._has_started = self._has_started or bool(self.workers_alive())
        return self._has_started and not self.is_frozen

    def wait_until_started(self) -> None:
        """Whatever became of it: it has had the time."""
        until = time.monotonic() + STARTING_SECONDS
        while not self._has_started and self._process.poll() is None and time.monotonic() < until:
            self._has_started = bool(self.workers_alive())
            time.sleep(LOOK_SECONDS)

    def ended_with(self, seconds: float) -> int | None:
        """The supervisor's exit code, if it ends within that time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Nothing of it is left."""
        self.signal_all(signal.SIGKILL)
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()


class Fleet:
    """The machines that run, by name, and those that were left behind. Fit for several threads."""

    def __init__(self, options: Options, *, database: str, logs: Path) -> None:
        self._options = options
        self._database = database
        self._logs = logs
        self._lock = threading.RLock()
        self._running: dict[str, Machine] = {}
        self._leaving: list[Machine] = []
        self._is_over = False

    @contextmanager
    def running(self) -> Iterator[Fleet]:
        """The machines run; none of their processes is left after the block."""
        try:
            for name, workers in self._sizes().items():
                self._running[name] = self._start(name, workers)
            yield self
        finally:
            with self._lock:
                self._is_over = True
                for machine in [*self._running.values(), *self._leaving]:
                    machine.end()

    def machines(self) -> list[Machine]:
        with self._lock:
            return list(self._running.values())

    def replace(self, machine: Machine, end: Callable[[], None]) -> None:
        """The machine is ended, as `end` does, and started anew; what is left of the old one may go on."""
        with self._lock:
            if self._is_over:
                return
            end()
            self._leaving.append(machine)
            self._running[machine.name] = self._start(machine.name, machine.workers)

    def has_process(self, pid: int) -> bool:
        """Whether the process is one of the fleet's: no other may ever get a signal."""
        with self._lock:
            return any(machine.has_process(pid) for machine in [*self._running.values(), *self._leaving])

    def check(self) -> None:
        """Raises LoadTestFailed when a machine that nobody touched has ended: nothing can be tested."""
        with self._lock:
            for machine in self._running.values():
                if (code := machine.ended_with(0)) is not None:
                    words = self._log(machine.name).read_bytes()[-WORDS_BYTES:].decode(errors="replace")
                    raise LoadTestFailed(f"{machine.name} ended with {code}:\n{words.strip()}")

    def tell_to_go(self) -> None:
        """Every supervisor was told to stop and has; how it ended is written down."""
        for machine in self.machines():
            machine.signal_all(signal.SIGCONT)
            machine.wait_until_started()  # one that still starts knows of no signal yet
            machine.signal_supervisor(signal.SIGTERM)
        for machine in self.machines():
            self.note_deploy(machine)

    def note_deploy(self, machine: Machine) -> None:
        values: dict[str, Any] = {"machine": machine.name, "code": machine.ended_with(LEAVING_SECONDS)}
        with connection.cursor() as cursor:
            cursor.execute(tables.DEPLOYED, values)

    def _start(self, name: str, workers: int) -> Machine:
        given = {"database": self._database, "handlers": self._options.handlers, "log": self._log(name)}
        return Machine(name, workers, **given)  # type: ignore[arg-type]

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _sizes(self) -> dict[str, int]:
        """Two machines, as equal as can be; one for one worker."""
        half = self._options.workers // 2
        return {
            f"machine-{number}": workers
            for number, workers in enumerate((self._options.workers - half, half), start=1)
            if workers
        }
