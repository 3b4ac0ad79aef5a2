"""The corpus of URLs that must be refused or fetched, as its README describes the format."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ESCAPE = re.compile(r"\\(\\|t|r|n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_SIMPLE = {"\\": "\\", "t": "\t", "r": "\r", "n": "\n"}


@dataclass(frozen=True)
class Row:
    id: str
    verdict: str  # BLOCK, ALLOW or ALLOW_PINNED
    layer: str  # the latest stage that may decide
    url: str
    fixture: dict[str, Any]
    why: str

    @property
    def is_offline(self) -> bool:
        return self.layer in {"parse", "name", "address"}

    def answers(self) -> dict[str, list[list[str]] | None]:
        """Successive answers by name, aliases resolved."""
        dns: dict[str, Any] = self.fixture.get("dns", {})
        return {name: _resolved(dns, answers) for name, answers in dns.items()}


def load(shared: Path) -> list[Row]:
    text = (shared / "security" / "ssrf_urls.txt").read_text(encoding="utf-8")
    return [_row(line) for line in text.split("\n") if line and not line.startswith("#")]


def _row(line: str) -> Row:
    ident, verdict, layer, url, fixture, why = line.split("\t")
    return Row(ident, verdict, layer, _unescaped(url), {} if fixture == "-" else json.loads(fixture), why)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _SIMPLE.get(found[1]) or chr(int(found[1][1:], 16)), text)


def _resolved(dns: dict[str, Any], answers: Any) -> list[list[str]] | None:
    if isinstance(answers, dict):
        return _resolved(dns, dns.get(answers["cname"]))
    if isinstance(answers, list) and any(isinstance(answer, dict) for answer in answers):
        return [found for answer in answers for found in _resolved(dns, answer) or []]
    return answers  # type: ignore[no-any-return]
