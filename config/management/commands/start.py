from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.console import at_least_one
from config.launcher import Launcher, LaunchFailed


class Command(BaseCommand):
    help = "Set the database up, load the sample on a first run, and run web and workers until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--exit-when-idle", action="store_true", help="end once nothing is left to do")
        parser.add_argument(
            "--bind", default="127.0.0.1:8000", metavar="HOST:PORT", help="where the pages are"
        )
        parser.add_argument("--workers", type=at_least_one, default=2, metavar="N", help="worker processes")
        parser.add_argument("--no-sample", action="store_true", help="start with an empty catalog")

    def handle(self, **options: Any) -> None:
        launcher = Launcher(
            bind=options["bind"],
            workers=options["workers"],
            with_sample=not options["no_sample"],
            say=self.stdout.write,
        )
        try:
            sys.exit(launcher.run(until_idle=options["exit_when_idle"]))
        except LaunchFailed as failed:
            raise CommandError(str(failed)) from failed
