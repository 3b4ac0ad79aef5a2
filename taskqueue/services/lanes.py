"""Which lanes a worker knows of, and whose turn is next (Q4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

Place = tuple[str, int]  # in a line: a task's position, as PostgreSQL writes it, and its id

SINCE_EVER: Place = ("-infinity", 0)


class Lanes:
    """The lanes that the last walk met, in the order of their turns, with a mark for each.

    As long as one walk meets all that there are, they take turns in a ring. Where there are more, the next
    walk goes on when those of the last one have had their turns.
    """

    PROBES = 128  # lanes that one walk meets; the next one goes on from there

    def __init__(self) -> None:
        self.start = ""  # a walk meets what comes after it by name
        self.cursor = ""  # the lane that had the last turn
        self.walks = True  # whether the next claim has to
        self.are_all = False  # those that the last walk met
        self._next: deque[str] = deque()
        self._offered: list[str] = []  # the first of them
        self._marks: dict[str, Place] = {}

    @property
    def are_some(self) -> bool:
        """Whether the next claim has lanes to choose from, or has to look for them."""
        return self.walks or bool(self._next)

    def forget(self) -> None:
        """Walk with the next claim, from the lane that had the last turn on."""
        self.walks = True
        self.start = "" if self.are_all else self.cursor
        self._next.clear()
        self._marks.clear()

    def next(self, most: int) -> list[tuple[str, Place]]:
        """Up to so many lanes whose turn it is, each with where the worker's last claim in it was."""
        self._offered = list(islice(self._next, most))
        return [(lane, self._marks.get(lane, SINCE_EVER)) for lane in self._offered]

    def meet(self, lanes: Sequence[str]) -> None:
        """These are what the walk met, by their names."""
        is_end = len(lanes) < self.PROBES
        self.are_all = is_end and not self.start
        self.start = "" if is_end else lanes[-1]
        self.walks = False
        self._offered = sorted(lanes, key=lambda lane: (lane <= self.cursor, lane))
        self._next = deque(self._offered)

    def take_turns(self, taken: Mapping[str, Place], *, is_through: bool) -> None:
        """From these lanes something was taken, up to these places.

        Those before them have had their chance too; all that were offered, where the claim is through them.
        """
        self._marks.update(taken)
        last = max((number for number, lane in enumerate(self._offered) if lane in taken), default=-1)
        for lane in self._offered if is_through else self._offered[: last + 1]:
            self.cursor = lane
            self._next.popleft()
            if self.are_all:
                self._next.append(lane)
        self._offered = []
        if not self._next and not self.are_all:
            self.walks, self.cursor = True, self.start
