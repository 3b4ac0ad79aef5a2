"""`manage.py sampleserver`: the sample employers' boards, served on the loopback interface."""

from __future__ import annotations

import json
import os
import signal
from argparse import ArgumentParser
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.sample.server import SampleServer

_PARENT_CHECK_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Serve the sample employers' boards until told to stop, or until the process that started it is gone."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")

    def handle(self, *, port: int, **options: Any) -> None:
        stopped = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        parent = os.getppid()
        try:
            server = SampleServer(port)
        except (OSError, OverflowError) as taken:
            raise CommandError(f"port {port} cannot be used: {taken}") from taken
        with server:
            self.stdout.write(json.dumps({"url": server.url}))
            self.stdout.flush()
            # an orphan has a new parent: nobody is left who could want it
            while not stopped.wait(_PARENT_CHECK_SECONDS) and os.getppid() == parent:
                pass
