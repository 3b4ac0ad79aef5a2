"""A worker that loses the database at each request it sends, one after the other: nothing is lost, nothing
done twice.

Every request is tried, not a sample: an undisturbed run is watched first, and then, for each request of it,
a run in which that one fails. One process lives through all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pytest
from django.db import DatabaseError, InterfaceError, connection, connections, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from taskqueue.models import Task, TaskStatus, Turn, Worker
from taskqueue.services import enqueue
from taskqueue.services.claims import promote
from taskqueue.services.families import end_parents
from taskqueue.services.prepared import numbered_of
from taskqueue.sql import claiming, leaving
from taskqueue.worker import pulse
from tests.races.fault_kinds import effects, hurry, is_done, say_go
from tests.races.faulty_worker import Setup, faulty_worker
from tests.races.proxy import Fault, Proxy, Way, can_make_deaf, label_of
from tests.taskqueue.connections import at_once, elsewhere, somebody_waits
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

STEP = label_of(claiming.STEP)
BEAT = label_of(claiming.BEAT)
OPEN_STEP = label_of(claiming.OPEN_STEP)
POLLED = (OPEN_STEP, STEP, BEAT)  # whatever there is to do
BEST_EFFORT = label_of(numbered_of(pulse.ANNOUNCE)[0])  # for one task or for several
GIVE_BACK = label_of(leaving.GIVE_BACK_UNKNOWN)  # depends on who notices a loss first
SHARES = 5
# A dead peer is noticed within two seconds, which is as quick as TCP can be told to.
QUICK_TCP = {"keepalives_idle": 1, "keepalives_interval": 1, "tcp_user_timeout": 1000}


class Step(NamedTuple):
    """The `number`-th request of a run that has this label; some are sent on a new connection only."""

    label: str
    number: int
    is_fresh: bool


class Lane:
    """One worker with kinds of its own, behind a proxy of its own."""

    def __init__(self, prefix: str, proxy: Proxy) -> None:
        self.proxy = proxy
        self._prefix = prefix
        self._ids: list[int] = []

    def steps(self) -> list[Step]:
        """Each request of an undisturbed run: what several of them had in common."""
        self.run()
        steady, fresh = self.run() & self.run() & self.run(), self.run(is_fresh=True)
        of_a_start = {label: count for label, count in fresh.items() if label not in steady}
        return [
            Step(label, number, is_fresh)
            for requests, is_fresh in ((steady, False), (of_a_start, True))
            for label, count in requests.items()
            if label != GIVE_BACK
            for number in range(1, 2 if label == BEST_EFFORT else count + 1)
        ]

    def run_with(self, *faults: Fault, is_fresh: bool = False) -> None:
        """A run in which these requests fail. Another worker may do what one was for: then it is not sent."""
        for _ in range(10):
            try:
                self.run(*faults, is_fresh=is_fresh)
            except AssertionError as error:
                raise AssertionError(f"{faults}: {self._tasks().values()}") from error
            if self.proxy.struck.is_set():
                return
        raise AssertionError(f"the worker never sent it: {faults}")

    def run(self, *faults: Fault, is_fresh: bool = False) -> Counter[str]:
        """Queue one task of an account's and one that splits, and look at what became of them.

        Returns how often each request was sent.
        """
        self.proxy.arm(*faults)
        if is_fresh:
            self.proxy.cut_all()
        self._ids = [
            enqueue(f"{self._prefix}.once", account=self._prefix).task_id,
            enqueue(f"{self._prefix}.split").task_id,
        ]
        until(self._is_drained)
        sent = self.proxy.seen()
        self._check()
        if any(fault.label in POLLED for fault in faults):
            until(self.proxy.struck.is_set)
        self.proxy.cut_silent()
        return sent

    def _tasks(self) -> QuerySet[Task]:
        return Task.objects.filter(Q(pk__in=self._ids) | Q(parent__in=self._ids))

    def _is_drained(self) -> bool:
        statuses = Counter(self._tasks().values_list("status", flat=True))
        if self.proxy.struck.is_set():
            self.proxy.cut_silent()  # the server's own keepalives tell it
            if statuses == {TaskStatus.DONE: 3, TaskStatus.WAITING: 1}:
                end_parents()  # as the ticker does
            late = self._tasks().filter(status=TaskStatus.PENDING, not_before__gt=Now())
            if late.update(not_before=Now()):  # another try waits up to ten seconds; the test does not
                promote()
        return statuses == {TaskStatus.DONE: 4}

    def _check(self) -> None:
        tasks = list(self._tasks())
        assert [len(effects(task.pk)) for task in tasks] == [1] * 4
        assert sum(max(0, task.retries_spent - 1) for task in tasks) <= 1
        assert not Turn.objects.filter(task_id__in=[task.pk for task in tasks]).exists()
        assert Worker.objects.alive().filter(kinds__contains=[f"{self._prefix}.once"]).count() == 1


@contextmanager
def lane(prefix: str, *, has_named_sessions: bool = True) -> Iterator[Lane]:
    with Proxy() as proxy:
        setup = Setup(
            database=str(connection.settings_dict["NAME"]),
            host="127.0.0.1",
            port=proxy.port,
            options=QUICK_TCP,
            prefix=prefix,
            concurrency=0,
            has_named_sessions=has_named_sessions,
        )
        with faulty_worker(setup) as process:
            yield Lane(prefix, proxy)
            assert process.poll() is None


def disturb(way: Way, share: int = 0, shares: int = 1) -> int:
    """Runs with a fault at each request, or at a share of them; returns how many.

    Silence takes two seconds to notice: it strikes every claim, but of others each statement once.
    """
    with lane(f"{way.name.lower()}{share}") as one:
        steps = one.steps()
        if way is Way.SILENT:
            steps = [step for step in steps if step.label in (STEP, OPEN_STEP) or step.number == 1]
        plan = [([Fault(step.label, way, step.number)], step.is_fresh) for step in steps]
        plan.append(([Fault(STEP, way), Fault(GIVE_BACK, way)], False))
        for faults, is_fresh in plan[share::shares]:
            one.run_with(*faults, is_fresh=is_fresh)
    return len(steps)


@pytest.fixture
def _many_connections() -> Iterator[None]:
    """This process may have as many as it has lanes."""
    pool = connection.settings_dict["OPTIONS"]["pool"]
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"]["pool"] = {**pool, "max_size": 2 * SHARES}
    yield
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"]["pool"] = pool


@pytest.mark.usefixtures("_many_connections")
def test_a_worker_cut_off_at_any_request_does_everything_once() -> None:
    """Q5, Q8: what was under way is done, given back or tried again; no claim is left that nobody knows."""
    requests = at_once([partial(disturb, way) for way in (Way.BEFORE, Way.AFTER, Way.WITHIN)])

    assert min(requests) > 40


@pytest.mark.skipif(not can_make_deaf(), reason="this system does not let a socket drop what arrives")
@pytest.mark.usefixtures("_many_connections")
def test_a_worker_whose_connection_goes_silent_at_any_request_does_everything_once() -> None:
    """Q5, Q8: nobody closes anything, as when a machine loses its power: TCP's own timeouts have to tell."""
    requests = at_once([partial(disturb, Way.SILENT, share, SHARES) for share in range(SHARES)])

    assert min(requests) > 20


def test_a_producer_cut_off_at_any_request_queues_each_key_once_when_it_tries_again() -> None:
    """Q1: whether the lost answer said yes or no."""
    with Proxy() as proxy:
        proxy.arm()
        assert elsewhere(partial(_produce_through, proxy)) == 1
        requests = proxy.seen()
        for way in (Way.BEFORE, Way.AFTER, Way.WITHIN):
            for label, count in requests.items():
                for number in range(1, count + 1):
                    Task.objects.all().delete()
                    proxy.arm(Fault(label, way, number))
                    assert elsewhere(partial(_produce_through, proxy)) == 2, (label, number)
                    assert sorted(Task.objects.values_list("dedupe_key")) == [("a",), ("b",), ("c",)]


def _produce_through(proxy: Proxy) -> int:
    """Queue three tasks in a transaction, as often as it takes to hear that it was done; how often."""
    direct = connections["default"]
    options = {name: value for name, value in direct.settings_dict["OPTIONS"].items() if name != "pool"}
    where = {**direct.settings_dict, "HOST": "127.0.0.1", "PORT": str(proxy.port), "OPTIONS": options}
    connections["default"] = through = type(direct)(where, "default")
    tries = 0
    try:
        while True:
            tries += 1
            with suppress(DatabaseError, InterfaceError):
                with transaction.atomic():
                    for key in "abc":
                        enqueue("fault.nobodys", key=key)
                return tries
            through.close()
    finally:
        through.close()
        connections["default"] = direct


@pytest.mark.parametrize("request_", [OPEN_STEP, BEAT], ids=["the end of a task", "a heartbeat"])
def test_what_arrives_after_the_lease_changes_nothing(request_: str) -> None:
    """Q5, Q6: the worker hears that it is lost, starts nothing and ends."""
    where = Setup(database=str(connection.settings_dict["NAME"]), lease_seconds=1.0)
    with Proxy() as proxy:
        late = replace(where, host="127.0.0.1", port=proxy.port, concurrency=0)
        with faulty_worker(late) as process:
            task_id = enqueue("fault.waits").task_id
            until(lambda: effects(task_id, "begun") == [1])
            proxy.arm(Fault(request_, Way.HELD))
            if request_ == OPEN_STEP:
                say_go()
            until(proxy.struck.is_set)
            with faulty_worker(replace(where, without=("short",))):
                until(lambda: hurry(task_id) and effects(task_id, "begun") == [1, 2])
                say_go()
                until(Task.objects.filter(pk=task_id, status=TaskStatus.DONE).exists)
                before = Task.objects.filter(pk=task_id).values().get()
                its_own = enqueue("fault.short").task_id
                proxy.let_go()
                until(lambda: process.poll() is not None)
            assert process.returncode == 1

    assert Task.objects.filter(pk=task_id).values().get() == before
    assert effects(task_id) == ([1] if request_ == OPEN_STEP else [2])
    assert Task.objects.get(pk=its_own).attempts == 0


@pytest.mark.parametrize("has_named_sessions", [False, True], ids=["waited for", "cut"])
def test_a_commit_that_arrives_late_and_the_next_attempt_have_one_effect(has_named_sessions: bool) -> None:
    """Q5: the attempt ends when the transaction that holds its claim has ended, either way.

    The worker has lost the connection and cannot know whether its COMMIT arrived. It ends the session of
    that name or, where a pooler keeps the names to itself, waits for it.
    """
    with lane("late", has_named_sessions=has_named_sessions) as one:
        one.proxy.arm(Fault("COMMIT", Way.HELD))
        task_id = enqueue("late.once").task_id
        until(one.proxy.struck.is_set)
        one.proxy.cut_sender()
        until(partial(is_done_again, task_id) if has_named_sessions else somebody_waits)
        one.proxy.let_go()
        until(partial(is_done_again, task_id))
        other = enqueue("late.once").task_id
        until(partial(is_done, other))

    assert effects(task_id) == ([2] if has_named_sessions else [1])


def is_done_again(task_id: int) -> bool:
    return hurry(task_id) and is_done(task_id)
