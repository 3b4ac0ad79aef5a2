"""Producers: the tasks are queued, many at a time, one by one, and twice where a key allows one."""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from taskqueue.loadtest import tables
from taskqueue.loadtest.mix import HOSTS, Wanted
from taskqueue.models import HostBudget
from taskqueue.services import New, enqueue, enqueue_many

PRODUCERS = 2
PACE_SECONDS = 0.05  # of the hosts: their own floor would make a test of minutes one of hours
BATCH = 1_000
HELD_BACK = 10  # one in so many waits until every sort of fault has happened


class Producer:
    """Queues what is wanted and measures how fast."""

    def __init__(self, wanted: Sequence[Wanted], *, go_on: threading.Event, ended: threading.Event) -> None:
        """The last of the tasks wait for `go_on`; after `ended` nothing more is queued."""
        plain = [one for one in wanted if one.is_plain]
        self._together = plain[: len(plain) * 2 // 3]
        single = plain[len(self._together) :] + [one for one in wanted if not one.is_plain]
        self._keyed = [one for one in single if one.key is not None]
        single = [one for one in single if one.key is None]
        self._last = single[::HELD_BACK]
        self._single = [one for number, one in enumerate(single) if number % HELD_BACK]
        self._go_on = go_on
        self._ended = ended
        self.together_rate: float | None = None  # tasks a second
        self.single_rate: float | None = None  # the same, of each of the producers

    def run(self) -> None:
        """Everything is queued."""
        with own_connection():
            _open_hosts()
            begun = time.monotonic()
            for number, batch in enumerate(_batches(self._together)):
                self._queue_together(str(number), batch)
            if self._together:
                self.together_rate = len(self._together) / (time.monotonic() - begun)
        halves = [self._single[number::PRODUCERS] for number in range(PRODUCERS)]
        with ThreadPoolExecutor(PRODUCERS) as pool:
            rates = list(pool.map(self._queue_one_by_one, halves))
            self.single_rate = sum(rates) / len(rates)
            # Each of them queues all that have keys: one of the two makes the task, whoever comes first.
            list(pool.map(self._queue_one_by_one, [self._keyed] * PRODUCERS))
        while not self._go_on.wait(0.1) and not self._ended.is_set():
            pass
        self._queue_one_by_one(self._last)

    @transaction.atomic
    def _queue_together(self, batch: str, wanted: Sequence[Wanted]) -> None:
        kind, priority = wanted[0].kind, wanted[0].priority
        tasks = [
            New(payload={**one.payload, "ending": one.ending, "batch": batch}, account=one.account)
            for one in wanted
        ]
        if enqueue_many(kind, tasks, priority=priority) != len(wanted):
            raise AssertionError(f"enqueue_many says that it did not queue all of batch {batch}")
        with connection.cursor() as cursor:
            cursor.execute(tables.ASKED_TOGETHER, {"kind": kind, "batch": batch})
            if cursor.rowcount != len(wanted):
                raise AssertionError(f"enqueue_many queued {cursor.rowcount} of {len(wanted)}")

    def _queue_one_by_one(self, wanted: Sequence[Wanted]) -> float:
        begun = time.monotonic()
        with own_connection():
            for one in wanted:
                if self._ended.is_set():
                    break
                _queue(one)
        return len(wanted) / (time.monotonic() - begun)


def _queue(one: Wanted) -> None:
    """The task and the note that it was asked for commit together; a ghost's producer rolls back."""
    due = timezone.now() + timedelta(seconds=one.due_in_seconds) if one.due_in_seconds else None
    with transaction.atomic():
        made = enqueue(
            one.kind,
            payload=one.payload,
            account=one.account,
            host=one.host,
            priority=one.priority,
            key=one.key,
            not_before=due,
        )
        if made.created:
            with connection.cursor() as cursor:
                cursor.execute(tables.ASKED, [made.task_id, one.ending, one.key])
        transaction.set_rollback(one.kind == "load.ghost")


def _batches(wanted: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    groups = defaultdict(list)
    for one in wanted:
        groups[one.kind, one.priority].append(one)
    for group in groups.values():
        waiting = iter(group)
        while batch := list(itertools.islice(waiting, BATCH)):
            yield batch


def _open_hosts() -> None:
    for host in HOSTS:
        HostBudget.objects.create(
            host=host, egress=settings.FETCH_EGRESS, pace_seconds=PACE_SECONDS, floor=PACE_SECONDS
        )


@contextmanager
def own_connection() -> Iterator[None]:
    """The thread's connection ends with the block."""
    try:
        yield
    finally:
        connection.close()
