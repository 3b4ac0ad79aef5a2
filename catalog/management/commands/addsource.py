from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.admission import InvalidPattern
from catalog.errors import InvalidCompany, UnknownPlatform
from catalog.models import LONGEST_INTERVAL, SHORTEST_INTERVAL
from catalog.services.discovery import recognise
from catalog.services.sources import add_board


class Command(BaseCommand):
    help = "Recognise the board behind a careers or posting URL, add it as a source and queue its first pull."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url")
        parser.add_argument(
            "--company", default="", help="the employer's name, where the platform states none"
        )
        parser.add_argument("--interval", type=int, metavar="MIN", help="minutes between pulls (default 360)")
        parser.add_argument("--titles", default="", metavar="PATTERN", help="admit only titles that match")

    def handle(self, **options: Any) -> None:
        interval = options["interval"]
        if interval is not None and not SHORTEST_INTERVAL <= interval <= LONGEST_INTERVAL:
            told = f"--interval takes {SHORTEST_INTERVAL} to {LONGEST_INTERVAL} minutes"
            raise CommandError(told, returncode=2)
        try:
            added = add_board(
                recognise(options["url"]).board,
                company=options["company"],
                interval_minutes=options["interval"],
                title_pattern=options["titles"],
            )
        except (UnknownPlatform, InvalidPattern, InvalidCompany) as refused:
            raise CommandError(str(refused)) from refused
        source = added.source
        answer = {
            "source": source.pk,
            "kind": source.kind,
            "token": source.token,
            "region": source.region,
            "url": source.url,
            "added": added.is_new,
            "task": added.task_id,
        }
        self.stdout.write(json.dumps(answer))
