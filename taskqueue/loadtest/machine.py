"""One machine of the fleet: the real `runworker`, with the load test's kinds and a quick pulse.

python -m taskqueue.loadtest.machine '{"name": …}'    # the fields of fleet.Machine.start
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from importlib import import_module

import django
from django.conf import settings
from django.core.management import call_command


def main(argument: str) -> None:
    given = json.loads(argument)
    _end_with_the_test()
    settings.DATABASES["default"]["NAME"] = given["database"]
    for name, value in given["settings"].items():
        setattr(settings, name, value)
    settings.INSTALLED_APPS = ["taskqueue.apps.TaskQueueConfig"]  # no other app's kinds, schedules and tables
    django.setup()

    from taskqueue.worker import ticks

    ticks.TICK_SECONDS = given["tick_seconds"]
    import_module(given["handlers"])
    call_command("runworker", concurrency=given["workers"], name=given["name"])


def _end_with_the_test() -> None:
    """Standard input is a pipe that nobody writes to: it ends when the test is gone, however it went."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.killpg(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
