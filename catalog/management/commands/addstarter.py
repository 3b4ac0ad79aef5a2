from __future__ import annotations

import json
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.services.starter import add_theme
from catalog.starter import starter_boards


class Command(BaseCommand):
    help = "Add the boards of the starter list by theme, each theme as a bundle. Without a theme: list them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("themes", nargs="*", metavar="THEME", help='a theme of the list, or "all"')

    def handle(self, *, themes: list[str], **options: Any) -> None:
        counts = Counter(board.theme for board in starter_boards())
        if not themes:
            self.stdout.write(json.dumps(dict(sorted(counts.items()))))
            return
        chosen = sorted(counts) if themes == ["all"] else themes
        if unknown := sorted(set(chosen) - set(counts)):
            raise CommandError(f"no theme {', '.join(unknown)}; there are {', '.join(sorted(counts))}")
        self.stdout.write(json.dumps({theme: add_theme(theme) for theme in chosen}))
