"""A bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

WIDTH = 24
LINE_SECONDS = 10.0


class Stream(Protocol):
    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...

    def isatty(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class State:
    """Tasks that have ended and that have not, and faults until now."""

    ended: int
    left: int
    faults: int


class Progress:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._begun = self._said = time.monotonic()
        self._before: tuple[float, int] = (self._begun, 0)
        self._is_open = False

    def say(self, line: str) -> None:
        """A line of its own."""
        self._stream.write(("\n" if self._is_open else "") + line + "\n")
        self._stream.flush()
        self._is_open = False

    def show(self, state: State) -> None:
        now = time.monotonic()
        if not self._is_terminal and now - self._said < LINE_SECONDS:
            return
        self._said = now
        before, ended = self._before
        self._before = (now, state.ended)
        rate = (state.ended - ended) / max(now - before, 0.001)
        share = state.ended / max(state.ended + state.left, 1)
        bar = "#" * int(share * WIDTH)
        minutes, seconds = divmod(int(now - self._begun), 60)
        line = (
            f"[{bar:.<{WIDTH}}] {state.ended:,} of {state.ended + state.left:,} ended, {rate:,.0f}/s,"
            f" {state.faults} faults, {minutes}:{seconds:02}"
        )
        if self._is_terminal:
            self._stream.write(f"\r{line}\x1b[K")
            self._stream.flush()
            self._is_open = True
        else:
            self.say(line)
