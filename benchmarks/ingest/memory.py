"""`python -m benchmarks.ingest.memory DATABASE COUNT`: the peak memory of a process that re-pulls a board."""

from __future__ import annotations

import os
import sys

import django


def main(name: str, count: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = name
    from benchmarks.ingest.suite import peak_bytes, record
    from catalog.models import Source

    record(Source.objects.get(name="board-0"), count)
    print(peak_bytes())  # noqa: T201 - the answer


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
