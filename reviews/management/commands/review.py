from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.models import Filter
from reviews.services.runs import start_run


class Command(BaseCommand):
    help = "Start a review run of a filter by hand. A worker does it; the run's id is printed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("filter", help="the filter's id, or its name where only one has it")
        parser.add_argument(
            "--live", action="store_true", help="ask the reviewer one posting at a time (default)"
        )

    def handle(self, **options: Any) -> None:
        wanted: str = options["filter"]
        by = {"pk": int(wanted)} if wanted.isdecimal() else {"name__iexact": wanted}
        found = list(Filter.objects.filter(**by)[:2])
        if not found:
            raise CommandError(f"there is no filter {wanted!r}")
        if len(found) > 1:
            raise CommandError(f"several filters are named {wanted!r}: give the id")
        run = start_run(found[0].current(), asked_by="command line")
        answer = {"run": run.pk, "filter": found[0].pk, "revision": run.revision.number, "status": run.status}
        self.stdout.write(json.dumps(answer))
