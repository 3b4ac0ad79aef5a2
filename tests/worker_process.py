"""`runworker` as a process of its own on the test's database, with settings of the test's choice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

PROJECT = Path(__file__).resolve().parent.parent
QUICK = {"QUEUE_LEASE_SECONDS": 3.0, "QUEUE_HEARTBEAT_SECONDS": 0.5, "QUEUE_POLL_SECONDS": 0.2}


@contextmanager
def worker(**overrides: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with every kind of the product; killed with its children when the test leaves."""
    given = {"name": connection.settings_dict["NAME"], "settings": {**QUICK, **overrides}}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.worker_process", json.dumps(given)],
        cwd=PROJECT,
        env=dict(os.environ),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 for the worker and everything that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(argument: str) -> None:
    given = json.loads(argument)
    settings.DATABASES["default"]["NAME"] = given["name"]
    for name, value in given["settings"].items():
        setattr(settings, name, value)
    django.setup()
    call_command("runworker")


if __name__ == "__main__":
    main(*sys.argv[1:])
