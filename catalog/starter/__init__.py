"""A starter list of public boards by theme: names, platforms and tokens, all of them facts.

Boards move and end: one that does is switched off after some failed pulls, with an alert, like any other
source.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("boards.csv")


@dataclass(frozen=True, slots=True)
class StarterBoard:
    theme: str
    name: str
    kind: str
    region: str
    token: str


def starter_boards() -> list[StarterBoard]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [StarterBoard(**row) for row in csv.DictReader(file)]
