"""`runworker` as a real process tree that is odd in one way: its clocks are wrong, or it stops answering."""

from __future__ import annotations

import ctypes
import datetime as datetime_module
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # not before the clock is wrong
    from taskqueue.handlers import Claim, Outcome, Registry

PROJECT = Path(__file__).resolve().parent.parent.parent
HELD_SECONDS = 3


@contextmanager
def odd_worker(
    *, lease_seconds: float = 30.0, clock_off_seconds: int = 0
) -> Iterator[subprocess.Popen[bytes]]:
    """The supervisor; killed with all that it started when the test leaves."""
    from django.conf import settings
    from django.db import connection

    command = [sys.executable, "-m", "tests.races.odd_worker", str(clock_off_seconds)]
    command += [str(connection.settings_dict["NAME"]), str(lease_seconds)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE}
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def shift_clock(seconds: int) -> None:
    """What tells the date is wrong by so much, for all that is imported from here on."""
    true_time = time.time
    off = datetime_module.timedelta(seconds=seconds)

    class AnyDatetime(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, datetime)

    class WrongDatetime(datetime, metaclass=AnyDatetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + off

    time.time = lambda: true_time() + seconds
    datetime_module.datetime = WrongDatetime  # type: ignore[misc]


def main(clock_off_seconds: str, database: str, lease_seconds: str) -> None:
    if int(clock_off_seconds):
        shift_clock(int(clock_off_seconds))  # first: what is imported keeps what it has got

    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    settings.QUEUE_LEASE_SECONDS = float(lease_seconds)
    settings.QUEUE_HEARTBEAT_SECONDS = settings.QUEUE_LEASE_SECONDS / 6
    settings.QUEUE_POLL_SECONDS = 0.2
    settings.INSTALLED_APPS = ["taskqueue.apps.TaskQueueConfig"]  # starts in a fraction of the time
    django.setup()

    from taskqueue.management.commands import runworker
    from taskqueue.worker import pulse, ticks

    pulse.LOOK_SECONDS = 0.1
    pulse.GRACE_SECONDS = 2.0
    ticks.TICK_SECONDS = 0.3

    class Command(runworker.Command):
        requires_system_checks = []

        def registry(self) -> Registry:
            return all_kinds()

    Command().run_from_argv(["manage.py", "runworker"])


def all_kinds() -> Registry:
    """The tests' kinds and two that only an odd worker runs."""
    from django.utils import timezone

    from taskqueue.handlers import Done
    from tests.taskqueue import kinds

    registry = kinds.all_kinds()

    @registry.handler("test.tell_time")
    def tell_time(claim: Claim) -> Outcome:
        return Done(result=[time.time(), timezone.now().timestamp()])

    @registry.handler("test.hold_the_interpreter")
    def hold_the_interpreter(claim: Claim) -> Outcome:
        """As a C library that computes for long, once: no other thread of the process runs meanwhile."""
        kinds.mark(claim, "begun")
        if claim.attempt == 1:
            ctypes.PyDLL(None).usleep(HELD_SECONDS * 1_000_000)
        kinds.mark(claim, "done")
        return Done()

    return registry


if __name__ == "__main__":
    main(*sys.argv[1:])
