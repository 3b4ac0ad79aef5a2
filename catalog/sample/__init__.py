"""Invented employers with boards in the formats of three platforms: what a new server has to show.

The boards lie beside this file, one JSON file each, as `server.py` serves them. Names and addresses can hit
nobody: reserved domains, and board tokens that begin with "sample-".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

SAMPLE_BASE: Final = "https://sample.rolecall.invalid"
BOARDS_DIR: Final = Path(__file__).resolve().parent
API_HOSTS: Final = {
    "greenhouse": "boards-api.greenhouse.io",
    "lever": "api.lever.co",
    "ashby": "api.ashbyhq.com",
}


@dataclass(frozen=True, slots=True)
class SampleSource:
    """A board of the sample. `interval` is the minutes between pulls."""

    kind: str
    token: str
    company: str
    title_pattern: str = ""
    interval: int = 360


SAMPLE_SOURCES: Final = (
    SampleSource("greenhouse", "sample-marrowick", "Marrowick Instruments"),
    SampleSource("greenhouse", "sample-senwick", "Senwick Clinics"),
    SampleSource("greenhouse", "sample-tallowgate", "Tallowgate Freight"),
    SampleSource("lever", "sample-thistlequay", "Thistlequay"),
    SampleSource("lever", "sample-osterwatt", "Osterwatt Energy"),
    SampleSource("ashby", "sample-kelpwright", "Kelpwright"),
    SampleSource("ashby", "sample-mothlantern", "Mothlantern Games"),
    SampleSource("ashby", "sample-corvane", "Corvane Talent"),
)


def api_root(kind: str) -> str:
    """Where a sample source reads its platform's API: the platform's host as a folder of the sample's."""
    return f"{SAMPLE_BASE}/{API_HOSTS[kind]}" if kind else f"{SAMPLE_BASE}/"
