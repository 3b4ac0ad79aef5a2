"""Faults: processes are killed, stopped and told to go, sessions are cut, in an order that a seed repeats."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from django.db import connection

from taskqueue.loadtest import LEASE_SECONDS, tables
from taskqueue.loadtest.database import SESSION
from taskqueue.loadtest.fleet import Fleet, Machine
from taskqueue.loadtest.producing import own_connection

LOOK_SECONDS = 0.05
FIRST_SECONDS = 0.6  # between two faults of the first deck
CALM_SECONDS = 12.0  # between two faults of one worker

MOST_LOOKS = 8  # for a worker that is in the middle of something

# worker: kill -9 of one. session: one of the fleet's sessions is cut. stop: a worker stands still for longer
# than its lease. supervisor: kill -9, its workers are orphans. machine: kill -9 of all of it, nobody is left
# to say so. freeze: the whole machine stands still. deploy: SIGTERM, and the next one starts meanwhile.
DECK = {"worker": 3, "session": 3, "stop": 2, "supervisor": 1, "machine": 1, "freeze": 1, "deploy": 1}

WORKERS = """
    SELECT name, pid, EXISTS (SELECT FROM queue_task
                               WHERE status = 'running' AND worker = queue_worker.name
                                 AND kind IN ('load.deaf', 'load.split'))
      FROM queue_worker
     WHERE lost_at IS NULL AND lease_expires_at > clock_timestamp()
     ORDER BY name
"""

SESSIONS = """
    SELECT pid, application_name
      FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> %s
     ORDER BY pid
"""


class Chaos:
    """Deals one fault after the other from a shuffled deck, the first one quickly.

    From then on each worker has some seconds between two faults: a fleet that only dies does no work.
    """

    def __init__(self, fleet: Fleet, *, rng: random.Random, workers: int, ended: threading.Event) -> None:
        """Once `ended` is set there is nothing left to wake or to wait for."""
        self._fleet = fleet
        self._ended = ended
        self._rng = rng
        self._calm_seconds = CALM_SECONDS / workers
        self._thaws: list[tuple[float, Callable[[], object]]] = []
        self._hit: set[int] = set()  # once each: a lease says for a while that the dead are alive
        self._looks = 0
        self._deploys: list[Machine] = []
        self._faults: dict[str, Callable[[], bool]] = {
            "worker": self._kill_worker,
            "session": self._cut_session,
            "stop": self._stop_worker,
            "supervisor": self._kill_supervisor,
            "machine": self._kill_machine,
            "freeze": self._freeze_machine,
            "deploy": self._deploy,
        }
        self.has_dealt_all = threading.Event()
        self.enough = threading.Event()
        self.dealt: Counter[str] = Counter()

    def run(self) -> None:
        """Faults happen until there were enough; then what stands still is woken when its time has come."""
        with own_connection():
            while not self.enough.is_set():
                self._deal(self._deck())
                self.has_dealt_all.set()
            while self._thaws and not self._ended.wait(LOOK_SECONDS):
                self._thaw()
            for machine in self._deploys:
                if not self._ended.is_set():
                    self._fleet.note_deploy(machine)

    def _deck(self) -> list[str]:
        machines = len(self._fleet.machines())
        cards = [sort for sort, number in DECK.items() for _ in range(number)]
        self._rng.shuffle(cards)
        return [sort for sort in cards if sort != "freeze" or machines > 1]  # somebody has to be awake

    def _deal(self, cards: list[str]) -> None:
        """Each time the first card that can be played; those that cannot yet have their turn later."""
        while cards:
            seconds = self._calm_seconds if self.has_dealt_all.is_set() else FIRST_SECONDS
            self._pause(seconds * self._rng.uniform(0.5, 1.5))
            if self.enough.is_set():
                return
            while not (played := self._play(cards)) and not self.enough.is_set():
                self._pause(LOOK_SECONDS)
            if played:
                self.dealt[played] += 1
                cards.remove(played)

    def _play(self, cards: list[str]) -> str | None:
        return next((sort for sort in cards if self._faults[sort]()), None)

    # The faults. False: there was nothing to do it to, yet.

    def _kill_worker(self) -> bool:
        return self._hit_worker("worker", signal.SIGKILL) is not None

    def _stop_worker(self) -> bool:
        pid = self._hit_worker("stop", signal.SIGSTOP)
        if pid is not None:
            self._later(lambda: self._wake(pid))
        return pid is not None

    def _hit_worker(self, sort: str, number: signal.Signals) -> int | None:
        """Mostly one that runs what a fault hurts most, once there is one; after some looks anyone."""
        with connection.cursor() as cursor:
            cursor.execute(WORKERS)
            rows = cursor.fetchall()
        rows = [row for row in rows if row[1] not in self._hit and self._fleet.has_process(row[1])]
        tender = [row for row in rows if row[2]]
        self._looks += 1
        if not rows or (not tender and self._looks < MOST_LOOKS):
            return None
        self._looks = 0
        name, pid, _ = self._rng.choice(tender or rows)
        self._hit.add(pid)
        self._note(sort, [name])
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        return int(pid)

    def _cut_session(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(SESSIONS, [SESSION])
            if not (rows := cursor.fetchall()):
                return False
            workers = [row for row in rows if row[1]]  # the others are tickers', of which one is enough
            pid, name = self._rng.choice(rows if self._are_all_up() or not workers else workers)
            self._note("session", [name])
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        return True

    def _kill_supervisor(self) -> bool:
        if (machine := self._machine()) is None:
            return False
        self._note("supervisor", machine.workers_alive())
        self._fleet.replace(machine, lambda: machine.signal_supervisor(signal.SIGKILL))
        return True

    def _kill_machine(self) -> bool:
        if (machine := self._machine()) is None:
            return False
        self._note("machine", machine.workers_alive())
        self._fleet.replace(machine, lambda: machine.signal_all(signal.SIGKILL))
        return True

    def _freeze_machine(self) -> bool:
        if (machine := self._machine()) is None:
            return False
        self._note("freeze", machine.workers_alive())
        machine.is_frozen = True
        machine.signal_all(signal.SIGSTOP)
        self._later(lambda: self._wake_machine(machine))
        return True

    def _deploy(self) -> bool:
        if (machine := self._machine()) is None:
            return False
        self._note("deploy", machine.workers_alive())
        self._fleet.replace(machine, lambda: machine.signal_supervisor(signal.SIGTERM))
        self._deploys.append(machine)
        return True

    # Steps

    def _machine(self) -> Machine | None:
        """Any, if all of them are up: one whose ticker goes on must be left, or nobody takes over."""
        return self._rng.choice(self._fleet.machines()) if self._are_all_up() else None

    def _are_all_up(self) -> bool:
        return all(machine.is_up() for machine in self._fleet.machines())

    def _note(self, sort: str, workers: list[str]) -> None:
        """Written first: whatever follows from the fault is later."""
        with connection.cursor() as cursor:
            for worker in workers or [""]:
                cursor.execute(tables.FAULT, {"sort": sort, "worker": worker})

    def _later(self, call: Callable[[], object]) -> None:
        """Once the lease must be over, whenever the last heartbeat was."""
        self._thaws.append((time.monotonic() + LEASE_SECONDS + self._rng.uniform(0.5, 2.0), call))

    def _thaw(self) -> None:
        due = [thaw for thaw in self._thaws if time.monotonic() >= thaw[0]]
        for thaw in due:
            self._thaws.remove(thaw)
            thaw[1]()

    def _wake(self, pid: int) -> None:
        if self._fleet.has_process(pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _wake_machine(self, machine: Machine) -> None:
        machine.is_frozen = False
        machine.signal_all(signal.SIGCONT)

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.enough.is_set():
            self._thaw()
            time.sleep(LOOK_SECONDS)
