"""A worker's process that is killed, or frozen for longer than its lease, at each step of its protocol.

Every step is tried, not a sample: an undisturbed life is watched first, from the start of the process over
each outcome that a task can have to its end. Then, for each statement of it, a life ends or pauses with that
request on its way, and another with the request done and its answer unheard.
"""

from __future__ import annotations

import os
import queue
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Turn, Worker
from taskqueue.services import enqueue
from taskqueue.services.claims import promote, reap
from taskqueue.services.families import end_parents
from taskqueue.services.prepared import numbered_of
from taskqueue.sql import claiming, leaving
from taskqueue.worker import WorkerLoop, pulse
from tests.races.fault_kinds import EFFECT, effects, kinds
from tests.races.faulty_worker import Setup, children_of, faulty_worker, is_running
from tests.races.proxy import STARTUP, Fault, Proxy, Way, label_of
from tests.taskqueue.connections import at_once
from tests.taskqueue.waiting import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.races,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes"),
]

LANES = 6
WORK = ("once", "split", "returns", "fails_once", "delays_once", "shows", "cancels")
OUTCOMES = {TaskStatus.DONE: len(WORK) + 1, TaskStatus.CANCELLED: 1}  # two are children of `split`

STEP, OPEN_STEP = label_of(claiming.STEP), label_of(claiming.OPEN_STEP)
BEAT, FORGET = label_of(claiming.BEAT), label_of(numbered_of(claiming.FORGET)[0])
LEAVE, GIVE_BACK = label_of(leaving.LEAVE), label_of(leaving.GIVE_BACK_UNKNOWN)
POLLED = (OPEN_STEP, STEP, BEAT)  # whatever there is to do
MOST = {OPEN_STEP: 2, LEAVE: 3, "COMMIT": 2}  # of these so many are tried, of others the first
# None of these was overlooked, told by their beginnings.
ESSENTIAL = [
    *(STARTUP, "SELECT set_config", "LISTEN queue", claiming.REGISTER, claiming.STEP, claiming.OPEN_STEP),
    *(claiming.BEAT, claiming.HOLD_CLAIM, claiming.SAVE_PROGRESS, "INSERT", "COMMIT", leaving.LEAVE),
    *(
        leaving.FAIL_ATTEMPTS.format(failed=leaving.OWN_ATTEMPT),
        claiming.FORGET,
        claiming.BURY,
        leaving.LOSE_WORKERS,
    ),
]
BEGINNING = 32  # characters: before the first value

LEASE_SECONDS = 2.0
RESCUER = "rescuer"


class Moment(NamedTuple):
    """The last of these faults happens; `is_orphan` if in a process whose predecessor was killed."""

    faults: tuple[Fault, ...]
    is_orphan: bool


class Lane:
    """A supervisor of one worker with kinds and a proxy of its own. The test does what a ticker does."""

    def __init__(self, prefix: str, proxy: Proxy, supervisor: int) -> None:
        self._prefix = prefix
        self._proxy = proxy
        self._supervisor = supervisor
        self._ids: list[int] = []

    def moments(self, way: Way) -> list[Moment]:
        """Each statement of an undisturbed life, and of one that begins with a burial."""
        self.live()
        after_leaving, after_a_death = self.live(), self.live(is_orphan=True)
        labels = {*after_leaving, *after_a_death}
        for essential in ESSENTIAL:
            assert any(label.startswith(label_of(essential)[:BEGINNING]) for label in labels), essential
        found = [
            Moment((Fault(label, way, number),), is_orphan)
            for requests, is_orphan in (
                (after_leaving, False),
                ({label: 1 for label in after_a_death if label not in after_leaving}, True),
            )
            for label, count in requests.items()
            for number in range(1, min(count, most_of(label)) + 1)
            if label != GIVE_BACK  # it depends on who notices a loss first
        ]
        return [*found, Moment((Fault(STEP, Way.AFTER), Fault(GIVE_BACK, way)), False)]

    def live(self, *faults: Fault, is_orphan: bool = False) -> Counter[str]:
        """One life without an accident; returns how often each request was sent."""
        self.begin(is_orphan=is_orphan)
        until(self.is_through)
        sent = self._proxy.seen()
        self.check()
        return sent

    def reach(self, moment: Moment) -> int:
        """A life that has come to the moment; the process, which cannot go on from there."""
        for _ in range(10):  # now and then something else is sent than what was seen
            self.begin(*moment.faults, is_orphan=moment.is_orphan)
            until(lambda: self._proxy.struck.is_set() or self.is_through(has_ticker=False))
            if moment.faults[-1].label in POLLED:
                until(self._proxy.struck.is_set)
            if self._proxy.struck.is_set():
                (pid,) = children_of(self._supervisor)
                return pid
        raise AssertionError("the worker never sent it")

    def begin(self, *faults: Fault, is_orphan: bool = False) -> None:
        """The worker ends, its successor starts and finds some work of each kind."""
        (before,) = until(self.alive)
        self._proxy.arm(*faults)
        os.kill(before.pid, signal.SIGKILL if is_orphan else signal.SIGTERM)
        self._ids = [
            enqueue(f"{self._prefix}.{name}", account=self._prefix if name == "once" else "").task_id
            for name in WORK
        ]

    def killed_at(self, moment: Moment) -> None:
        """What the dead was about to ask for arrives when its successor is there, if it still can."""
        dead = self.reach(moment)
        os.kill(dead, signal.SIGKILL)
        until(lambda: any(worker.pid != dead for worker in self.alive()))
        self._proxy.let_go()
        until(self.is_through)
        self.check()
        assert not self.alive().filter(pid=dead).exists()

    def frozen_at(self, moment: Moment) -> None:
        """Another worker finishes everything; then the frozen one asks or hears what was on its way."""
        late = self.reach(moment)
        os.kill(late, signal.SIGSTOP)
        try:
            its_row = Worker.objects.filter(pid=late, kinds__contains=[f"{self._prefix}.once"])
            is_known = its_row.exists()
            until(lambda: reap() and not its_row.filter(lost_at=None).exists())
            until(self._is_through_elsewhere)
            before = self._rows()
        finally:
            os.kill(late, signal.SIGCONT)
        self._proxy.let_go()
        if is_known or moment.faults[-1].label == FORGET:
            until(lambda: not is_running(late))
        until(lambda: self.alive().count() == 1)
        assert self._rows() == before
        self.check()

    def is_through(self, *, has_ticker: bool = True) -> bool:
        """Whether everything has ended; helps with it, as time does and as a ticker."""
        statuses = Counter(self._tasks().values_list("status", flat=True))
        if statuses == OUTCOMES:
            return True
        if has_ticker:  # else it would end parents before the worker does
            reap()
            end_parents()
        late = self._tasks().filter(
            status__in=(TaskStatus.PENDING, TaskStatus.AWAITING_BATCH), not_before__gt=Now()
        )
        late.update(not_before=Now())
        promote()
        return False

    def check(self) -> None:
        """Each effect was had once, and nothing is left of who did it but the worker that lives."""
        until(lambda: self.alive().count() == 1 and children_of(self._supervisor) == {self.alive().get().pid})
        tasks = list(self._tasks())
        assert {task.pk: len(effects(task.pk)) for task in tasks} == {task.pk: 1 for task in tasks}
        assert not Turn.objects.filter(task_id__in=[task.pk for task in tasks]).exists()
        assert max(task.retries_spent for task in tasks) <= 4

    def alive(self) -> QuerySet[Worker]:
        return (
            Worker.objects.alive()
            .filter(kinds__contains=[f"{self._prefix}.once"])
            .exclude(name__startswith=RESCUER)
        )

    def describe(self) -> str:
        return f"{list(self._tasks().values())}, {list(self.alive().values())}"

    def _is_through_elsewhere(self) -> bool:
        if self.is_through():
            return True
        return WorkerLoop(kinds(self._prefix), name=RESCUER, is_draining=True).run() and self.is_through()

    def _tasks(self) -> QuerySet[Task]:
        return Task.objects.filter(Q(pk__in=self._ids) | Q(parent__in=self._ids)).order_by("pk")

    def _rows(self) -> list[Any]:
        """The tasks and their effects, whole."""
        tasks = list(self._tasks().values())
        subjects = Q()
        for task in tasks:
            subjects |= Q(subject__endswith=f":{task['id']}")
        return tasks + list(Task.objects.filter(subjects, kind=EFFECT).order_by("pk").values())


def most_of(label: str) -> int:
    """How many requests with the label are tried."""
    return MOST.get(label, 1)


@contextmanager
def lane(prefix: str) -> Iterator[Lane]:
    with Proxy() as proxy:
        setup = Setup(
            database=str(connection.settings_dict["NAME"]),
            host="127.0.0.1",
            port=proxy.port,
            prefix=prefix,
            has_ticker=False,
            lease_seconds=LEASE_SECONDS,
        )
        with faulty_worker(setup) as process:
            yield Lane(prefix, proxy, process.pid)
            assert process.poll() is None


def disturb(accident: Callable[[Lane, Moment], None], moments: queue.SimpleQueue[Moment], number: int) -> int:
    """Take moments until none is left; returns how many."""
    taken = 0
    with lane(f"{accident.__name__}{number}") as one, suppress(queue.Empty):
        while True:
            moment = moments.get_nowait()
            try:
                accident(one, moment)
            except Exception as error:
                raise AssertionError(f"{moment}: {one.describe()}") from error
            taken += 1
    return taken


def disturb_all(accident: Callable[[Lane, Moment], None]) -> int:
    """An accident at each moment there is, some of them side by side; returns how many."""
    moments: queue.SimpleQueue[Moment] = queue.SimpleQueue()
    with lane("watched") as one:
        for way in (Way.HELD, Way.KEPT):
            for moment in one.moments(way):
                moments.put(moment)
    return sum(at_once([partial(disturb, accident, moments, number) for number in range(LANES)]))


@pytest.fixture
def _many_connections() -> Iterator[None]:
    """This process may have as many as it has lanes."""
    pool = connection.settings_dict["OPTIONS"]["pool"]
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"]["pool"] = {**pool, "max_size": 2 * LANES}
    yield
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"]["pool"] = pool


@pytest.mark.usefixtures("_many_connections")
def test_a_worker_killed_at_any_step_leaves_everything_to_its_successor_to_be_done_once() -> None:
    """Q5, Q8, Q9: its claims and turns, whether or not the server has done what it last asked for."""
    assert disturb_all(Lane.killed_at) > 60


@pytest.mark.usefixtures("_many_connections")
def test_a_worker_frozen_past_its_lease_at_any_step_writes_nothing_when_it_wakes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Q5, Q6: and ends, unless nobody knew it yet: then it begins in good order."""
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 0.05)  # of the worker that does its work

    assert disturb_all(Lane.frozen_at) > 60
