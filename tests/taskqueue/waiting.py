"""Waiting for what another thread or process does: until it holds, and no longer than a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST_SECONDS = 30.0  # reached only by a failure: a busy machine must not fail a test
LOOK_EVERY_SECONDS = 0.02


def until(condition: Callable[[], T | None]) -> T:
    """What `condition` returns once that is true; it is asked again and again."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {LONGEST_SECONDS:.0f} s: {condition}")
        time.sleep(LOOK_EVERY_SECONDS)
    return result
