from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from boards.models import ManagedBoard
from boards.services.publication import start_board_run


class Command(BaseCommand):
    help = "Select for a managed board and publish the list. A worker does it; the run's id is printed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("board", help="the board's slug")

    def handle(self, **options: Any) -> None:
        board = ManagedBoard.objects.filter(slug=options["board"]).first()
        if board is None:
            slugs = ", ".join(ManagedBoard.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"there is no board {options['board']!r} (boards: {slugs})")
        run = start_board_run(board.pk, asked_by="command line")
        answer = {"run": run.pk, "board": board.slug, "revision": run.revision, "status": run.status}
        self.stdout.write(json.dumps(answer))
