"""One run: the fleet works, producers queue, people interfere, faults happen; then the queries are asked."""

from __future__ import annotations

import contextlib
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from taskqueue.loadtest import (
    HEARTBEAT_SECONDS,
    LEASE_SECONDS,
    LoadTestFailed,
    Options,
    database,
    figures,
)
from taskqueue.loadtest.chaos import Chaos
from taskqueue.loadtest.fleet import Fleet
from taskqueue.loadtest.invariants import LONGEST_TICK_SECONDS, Finding, findings
from taskqueue.loadtest.mix import BIG_ACCOUNT, Mix, Wanted
from taskqueue.loadtest.people import People
from taskqueue.loadtest.producing import Producer
from taskqueue.loadtest.progress import State
from taskqueue.models import Worker

HELD, BROKEN = "held", "broken"
LOOK_SECONDS = 0.5
START_SECONDS = 60.0
STALL_SECONDS = 90.0  # without a single task that ends: the longest wait before another try is cut short
WORKERS_A_POISON = 4  # each costs the fleet a process as often as it is tried

# What is left to do: also what somebody is about to mend. The schedule goes on for ever and does not count.
LEFT = """
    SELECT count(*) FILTER (WHERE finished_at IS NOT NULL AND NOT is_to_be_mended),
           count(*) FILTER (WHERE finished_at IS NULL OR is_to_be_mended)
      FROM (SELECT finished_at, kind = 'load.mended' AND status = 'failed'
                   AND NOT EXISTS (SELECT FROM loadtest_mended WHERE task_id = queue_task.id)
                   AS is_to_be_mended
              FROM queue_task WHERE kind <> 'load.cycle') AS task
"""

# At the end nobody learns anything from the waits before another try: they are cut short.
HURRY = """
    UPDATE queue_task SET not_before = statement_timestamp()
     WHERE position IS NULL AND status = 'pending' AND not_before > statement_timestamp()
"""


def run(options: Options, show: Callable[[State], object]) -> dict[str, Any]:
    """What held and the figures, as JSON takes them. Raises LoadTestFailed when nothing could be tested."""
    begun = time.monotonic()
    _register(options.handlers)
    with (
        database.throw_away(workers=options.workers, is_kept=options.is_kept, say=options.say) as name,
        _logs(database.logs_of(name), options) as logs,
    ):
        options.say(f"In {name}: {options.workers} workers, {options.tasks:,} tasks, seed {options.seed}.")
        test = LoadTest(options, name, logs, show)
        test.run()
        report = test.report(list(findings()))
        logs.are_wanted = report["verdict"] != HELD
    report["figures"]["seconds_in_all"] = round(time.monotonic() - begun, 1)
    return report


def _register(handlers: str) -> None:
    """The kinds are known here as well as to the machines: what is wrong with them shows before the start."""
    try:
        import_module(handlers)
    except ImportError as error:
        raise LoadTestFailed(f"no handlers in {handlers}: {error}") from error


class LoadTest:
    def __init__(self, options: Options, name: str, logs: Logs, show: Callable[[State], object]) -> None:
        rng = random.Random(options.seed)  # noqa: S311 - to be repeated, not to be secret
        self._options = options
        self._show = show
        self._ended = threading.Event()
        self._go_on = threading.Event()
        self._fleet = Fleet(options, database=name, logs=logs.folder)
        wanted = list(Mix(rng, accounts=options.accounts, tasks=options.tasks).wanted())
        if options.is_killing:
            wanted += [Wanted("load.poison", {}, "failed")] * -(-options.workers // WORKERS_A_POISON)
        self._producer = Producer(wanted, go_on=self._go_on, ended=self._ended)
        self._chaos = Chaos(self._fleet, rng=rng, workers=options.workers, ended=self._ended)
        self._people = People(ended=self._ended)
        self._peak = 0
        self._seconds = 0.0
        self._commits = 0
        self._is_stalled = False

    def run(self) -> None:
        """Everything that was queued has ended, or nothing does any more, and the fleet has gone."""
        with self._fleet.running(), ThreadPoolExecutor(3) as pool:
            try:
                self._wait_for_workers()
                commits, begun = figures.commits(), time.monotonic()
                self._work(pool)
                self._seconds = time.monotonic() - begun
            finally:
                self._ended.set()
                self._chaos.enough.set()
            self._fleet.tell_to_go()
            self._commits = figures.commits() - commits

    def _work(self, pool: ThreadPoolExecutor) -> None:
        producing = pool.submit(self._producer.run)
        meddling = pool.submit(self._people.run)
        chaos = pool.submit(self._chaos.run) if self._options.is_killing else None
        ended, changed_at = 0, time.monotonic()
        while True:
            _raise_from(producing, meddling, chaos)
            self._fleet.check()
            state = self._state()
            self._show(state)
            if chaos is None or self._chaos.has_dealt_all.is_set():
                self._go_on.set()
            if producing.done() and state.left <= self._few(state):
                self._chaos.enough.set()
                _execute(HURRY)
            if producing.done() and not state.left and (chaos is None or chaos.done()):
                return
            if state.ended != ended:
                ended, changed_at = state.ended, time.monotonic()
            if time.monotonic() - changed_at > STALL_SECONDS:
                self._options.say(f"Nothing has ended for {STALL_SECONDS:.0f} s: that is all there will be.")
                self._is_stalled = True
                return
            self._ended.wait(LOOK_SECONDS)

    def report(self, found: list[Finding]) -> dict[str, Any]:
        counts = figures.counts()
        tasks, seconds = counts["tasks"], max(self._seconds, 0.001)
        is_broken = self._is_stalled or any(finding.broken for finding in found)
        return {
            "verdict": BROKEN if is_broken else HELD,
            "broken": [finding.name for finding in found if finding.broken],
            "asked": self._asked(),
            "invariants": {finding.name: finding.figures() for finding in found},
            "figures": {
                "seconds": round(self._seconds, 1),
                "tasks_per_second": round(tasks / seconds, 1),
                "enqueued_per_second": {
                    "many_at_a_time": _rounded(self._producer.together_rate),
                    "one_by_one_each_of_two": _rounded(self._producer.single_rate),
                },
                "peak_backlog": self._peak,
                **counts,
                "commits_per_task": {
                    "in_all": round(self._commits / max(tasks, 1), 2),
                    "of_those_the_handlers_own": round(
                        (counts["starts"] + counts["effects"]) / max(tasks, 1), 2
                    ),
                },
                "faults": {"number": self._chaos.dealt.total(), **dict(sorted(self._chaos.dealt.items()))},
                "takeover_seconds": figures.takeovers(),
                "wait_seconds": figures.waits(BIG_ACCOUNT),
            },
        }

    def _asked(self) -> dict[str, Any]:
        options = self._options
        return {
            "workers": options.workers,
            "accounts": options.accounts,
            "tasks": options.tasks,
            "kill": options.is_killing,
            "seed": options.seed,
            "lease_seconds": LEASE_SECONDS,
            "heartbeat_seconds": HEARTBEAT_SECONDS,
            "longest_tick_seconds": LONGEST_TICK_SECONDS,
            "account_turns": settings.QUEUE_ACCOUNT_TURNS,
            "host_turns": settings.QUEUE_HOST_TURNS,
        }

    def _wait_for_workers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while Worker.objects.alive().count() < self._options.workers:
            self._fleet.check()
            if time.monotonic() > deadline:
                raise LoadTestFailed(f"the workers did not start in {START_SECONDS:.0f} s")
            time.sleep(0.05)

    def _state(self) -> State:
        with connection.cursor() as cursor:
            cursor.execute(LEFT)
            ended, left = cursor.fetchone()
        self._peak = max(self._peak, left)
        return State(ended, left, self._chaos.dealt.total())

    def _few(self, state: State) -> int:
        """So little is left that it may end in peace: soon most faults would hit idle workers."""
        return max(2 * self._options.workers, (state.ended + state.left) // 10)


class Logs:
    """The machines' logs: they are kept when something broke."""

    def __init__(self, folder: Path, *, are_wanted: bool) -> None:
        self.folder = folder
        self.are_wanted = are_wanted


@contextlib.contextmanager
def _logs(folder: Path, options: Options) -> Iterator[Logs]:
    folder.mkdir(mode=0o700)
    logs = Logs(folder, are_wanted=options.is_kept)
    try:
        yield logs
    except Exception:
        logs.are_wanted = True
        raise
    finally:
        if logs.are_wanted or options.is_kept:
            options.say(f"The machines' logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _raise_from(*futures: Future[None] | None) -> None:
    for future in futures:
        if future is not None and future.done():
            future.result()


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 1)
