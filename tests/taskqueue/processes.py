"""`runworker` as a real process tree, on the test's database, with the tests' kinds and a quick pulse."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import django
from django.conf import settings
from django.db import connection

PROJECT = Path(__file__).resolve().parent.parent.parent


MOST_SHORT = 8


@contextmanager
def runworker(
    *arguments: str, lease_seconds: float = 30.0, grace_seconds: float = 2.0, max_bytes: int = 10**10
) -> Iterator[subprocess.Popen[bytes]]:
    """A supervisor and its workers; whatever is left of them when the test leaves is killed."""
    command = [sys.executable, "-m", "tests.taskqueue.processes"]
    given = [connection.settings_dict["NAME"], lease_seconds, grace_seconds, max_bytes]
    command += [*map(str, given), *arguments]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE}
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main(database: str, lease_seconds: str, grace_seconds: str, max_bytes: str, *arguments: str) -> None:
    settings.DATABASES["default"]["NAME"] = database
    settings.QUEUE_WORKER_MAX_BYTES = int(max_bytes)
    settings.QUEUE_LEASE_SECONDS = float(lease_seconds)
    settings.QUEUE_HEARTBEAT_SECONDS = settings.QUEUE_LEASE_SECONDS / 6
    settings.QUEUE_POLL_SECONDS = 0.2
    settings.INSTALLED_APPS = ["taskqueue.apps.TaskQueueConfig"]  # starts in a fraction of the time
    django.setup()

    from taskqueue.handlers import Registry
    from taskqueue.management.commands import runworker as command
    from taskqueue.worker import loop, pulse, supervisor, ticks
    from tests.taskqueue.kinds import all_kinds

    pulse.LOOK_SECONDS = 0.1
    pulse.GRACE_SECONDS = float(grace_seconds)
    loop.MOST_SHORT = MOST_SHORT
    loop.SHORT_SECONDS = 600.0  # batches grow by a quarter each time, however quick the machine is
    supervisor.LONGEST_PAUSE_SECONDS = 0.2
    ticks.LOOK_SECONDS = 0.1
    ticks.TICK_SECONDS = 0.3

    class Command(command.Command):
        requires_system_checks = []

        def registry(self) -> Registry:
            return all_kinds()

    Command().run_from_argv(["manage.py", "runworker", *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
