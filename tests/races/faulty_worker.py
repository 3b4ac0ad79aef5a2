"""Workers as processes of their own, with settings of the test's choice and the kinds of `fault_kinds`."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.races.odd_worker import shift_clock

PROJECT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Setup:
    """How the process differs from a worker of the product. `prefix` begins the names of its kinds."""

    database: str = ""
    host: str = ""
    port: int = 0
    options: dict[str, Any] = field(default_factory=dict)  # of the database's connections
    prefix: str = "fault"
    without: tuple[str, ...] = ()  # kinds that this release does not know
    release: str = "dev"
    concurrency: int = 1  # 0: one worker alone, without supervisor and ticker
    has_ticker: bool = True
    has_named_sessions: bool = True  # of one alone: others can tell whose they are, and cut them
    lease_seconds: float = 30.0
    heartbeat_seconds: float = 0.3
    poll_seconds: float = 0.2
    grace_seconds: float = 3.0
    clock_off_seconds: int = 0


@contextmanager
def faulty_worker(
    setup: Setup, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The process; killed with all that it started when the test leaves."""
    command = [sys.executable, "-m", "tests.races.faulty_worker", json.dumps(asdict(setup))]
    process = subprocess.Popen(
        command,
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **(environment or {})},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended. A zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(pid: int) -> set[int]:
    """The processes that it forked and that have not ended."""
    return {child for child, parent, _ in _processes() if parent == pid}


def session_of(process: subprocess.Popen[bytes]) -> set[int]:
    """Whatever it has started, its orphans included, and itself, unless it has ended."""
    return {pid for pid, _, session in _processes() if session == process.pid}


def configure(setup: Setup) -> None:
    """Django is set up as the setup says, and the worker's constants are a test's."""
    if setup.clock_off_seconds:
        shift_clock(setup.clock_off_seconds)  # first: what is imported keeps what it has got

    import django
    from django.conf import settings

    database = settings.DATABASES["default"]
    database |= {
        name: value
        for name, value in {
            "NAME": setup.database,
            "HOST": setup.host,
            "PORT": str(setup.port or ""),
        }.items()
        if value
    }
    database["OPTIONS"] |= setup.options
    settings.RELEASE = setup.release
    settings.QUEUE_LEASE_SECONDS = setup.lease_seconds
    settings.QUEUE_HEARTBEAT_SECONDS = setup.heartbeat_seconds
    settings.QUEUE_POLL_SECONDS = setup.poll_seconds
    settings.INSTALLED_APPS = ["taskqueue.apps.TaskQueueConfig"]  # starts in a fraction of the time
    django.setup()

    from taskqueue.services import claiming
    from taskqueue.worker import attempts, loop, pulse, supervisor, ticks

    attempts.DATABASE_RETRY_SECONDS = loop.DATABASE_RETRY_SECONDS = 0.05
    # Every claim but the first begins with the shorter statement, and goes on to the longer one.
    claiming.ROUND_SECONDS, claiming.ROUND_SHARE = 600.0, 600_000
    loop.SHORT_SECONDS, loop.LONGEST_SHORT_SECONDS = 60.0, 600.0  # many short tasks at once from the start
    pulse.LOOK_SECONDS = 0.05
    pulse.GRACE_SECONDS = setup.grace_seconds
    supervisor.HEALTHY_SECONDS = 0.0  # what a test killed is replaced without a pause
    ticks.LOOK_SECONDS = 0.1
    ticks.TICK_SECONDS = 0.2


def main(argument: str) -> None:
    given = json.loads(argument)
    setup = Setup(**{**given, "without": tuple(given["without"])})
    configure(setup)

    from django.db import connection

    from taskqueue.management.commands import runworker
    from taskqueue.services.workers import bury
    from taskqueue.worker import Supervisor, WorkerLoop
    from taskqueue.worker.line import name_sessions
    from tests.races.fault_kinds import kinds

    registry = kinds(setup.prefix, setup.without)

    def work(number: int, incarnation: str) -> bool:
        if setup.has_named_sessions:
            name_sessions(incarnation)
        loop = WorkerLoop(registry, incarnation=incarnation)
        signal.signal(signal.SIGTERM, loop.stop)
        return loop.run()

    if not setup.concurrency:
        sys.exit(0 if work(1, secrets.token_hex(8)) else 1)
    if not setup.has_ticker:

        def bury_apart(predecessor: str) -> None:
            """And leave the sessions that this took: they were opened before the worker's have its name."""
            bury(predecessor)
            connection.close()
            connection.close_pool()  # type: ignore[attr-defined]

        Supervisor(work, count=setup.concurrency, bury=bury_apart).run()
        return

    class Command(runworker.Command):
        requires_system_checks = []

        def registry(self) -> Any:
            return registry

    Command().run_from_argv(["manage.py", "runworker", "--concurrency", str(setup.concurrency)])


def _processes() -> Iterator[tuple[int, int, int]]:
    """(pid, parent, session) of each that has not ended."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                yield int(stat.parent.name), int(parent), int(session)


if __name__ == "__main__":
    main(*sys.argv[1:])
