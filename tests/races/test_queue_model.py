"""Q1 to Q14 in any order: random sequences of all that happens to a queue, checked against a model.

Every worker has its own session, as in production, and everything is committed. After each step the rows
are what model.py says, and whoever asks which tasks may start is told the same: the model, the queryset
that pages and checks use, and the statement that hands tasks out (Q3).

The suite replays one set of sequences. HYPOTHESIS_PROFILE=soak looks for new ones, for hours, and shortens
one that fails: that alone may take minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_sequences
from pytest_django import Settings

from taskqueue.errors import KeyHeld
from taskqueue.models import HostBudget, Task, TaskStatus, Token, Turn
from taskqueue.services import (
    claims,
    enqueue,
    enqueue_children,
    enqueue_many,
    request_cancel,
    retention,
    retry,
)
from taskqueue.services.families import end_parents
from taskqueue.services.schedules import enqueue_due, every
from taskqueue.services.tasks import New
from taskqueue.services.waiting import run_now
from taskqueue.services.workers import forget_worker
from tests.races.machine import ALL, HOUR, Machine, Slot
from tests.races.model import Keep, Known
from tests.taskqueue.connections import meanwhile, somebody_waits
from tests.taskqueue.factories import lose
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

COMMON = settings(
    deadline=None, database=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck)
)
SAME_EACH_TIME = settings(COMMON, derandomize=True, phases=[Phase.generate])
PROFILES = {
    "suite": settings(
        COMMON, derandomize=True, phases=[Phase.generate], max_examples=30, stateful_step_count=40
    ),
    "soak": settings(COMMON, max_examples=1_000_000, stateful_step_count=60, print_blob=True),
}

KINDS = st.sampled_from(["test.a", "test.a", "test.b", "test.b", "test.unknown"])
KEYS = st.sampled_from([None, None, "k", "l"])
LISTS = st.lists(KEYS, min_size=1, max_size=4)
NUMBERS = st.lists(st.integers(0, 3), min_size=1, max_size=3)
ACCOUNTS = st.sampled_from(["", "", "x", "x", "y"])
HOSTS = st.sampled_from(["", "h", "h", "i"])
PRIORITIES = st.sampled_from([5, 50, 90])
FLAGS = st.booleans()
DATA = st.data()

A_DECADE = 3_650 * 86_400  # seconds of a cycle: no sequence meets its end by accident


@dataclass(frozen=True, slots=True)
class Holding:
    """A claim, as far as services look at one."""

    token: Token


class Queue(Machine):
    """All that happens to a queue."""

    # Callers.

    @precondition(lambda self: self.has_room())
    @rule(kind=KINDS, key=KEYS, account=ACCOUNTS, host=HOSTS, priority=PRIORITIES, is_due=FLAGS)
    def enqueue(
        self, kind: str, key: str | None, account: str, host: str, priority: int, is_due: bool
    ) -> None:
        holder = self.model.holder(key)
        enqueued = enqueue(
            kind,
            key=key,
            account=account,
            host=host,
            priority=priority,
            not_before=None if is_due else timezone.now() + HOUR,
        )
        assert enqueued.created == (holder is None)
        if holder is not None:
            assert enqueued.task_id == holder
            return
        task = Known(kind, account, host, key=key, priority=priority, is_due=is_due, is_in_line=is_due)
        self.model.add(enqueued.task_id, task)

    @precondition(lambda self: self.has_room())
    @rule(
        kind=KINDS,
        keys=st.lists(KEYS, min_size=1, max_size=4),
        account=ACCOUNTS,
        host=HOSTS,
        priority=PRIORITIES,
    )
    def enqueue_many(self, kind: str, keys: list[str | None], account: str, host: str, priority: int) -> None:
        free = {key for key in keys if key and self.model.holder(key) is None}
        tasks = [New(key=key, account=account, host=host) for key in keys]
        assert enqueue_many(kind, tasks, priority=priority) == keys.count(None) + len(free)
        for row in self.unknown():
            self.model.add(row.pk, Known(kind, account, host, key=row.dedupe_key, priority=priority))

    @precondition(lambda self: self.has_room() and self.may_meddle())
    @rule(subject=st.sampled_from(["s", "t"]))
    def keep_the_schedule(self, subject: str) -> None:
        self.meddled += 1
        key = f"test.a:{subject}"
        is_new = not self.model.is_scheduled("test.a", subject, key)
        assert enqueue_due("test.a", every(A_DECADE, subject=subject)) == is_new
        for row in self.unknown():
            self.model.add(row.pk, Known("test.a", subject=subject, key=key, keep=Keep.UNTIL_CYCLE_ENDS))

    @precondition(lambda self: self.model.tasks and (self.may_meddle() or not self.able()))
    @rule(data=DATA)
    def cancel(self, data: st.DataObject) -> None:
        self.meddled += 1
        pk = self.one_of(data, self.model.tasks)
        assert request_cancel(pk) == self.model.cancel(pk)

    @precondition(lambda self: self.having(TaskStatus.FAILED, TaskStatus.CANCELLED))
    @rule(data=DATA)
    def retry_by_hand(self, data: st.DataObject) -> None:
        pk = self.one_of(data, self.having(TaskStatus.FAILED, TaskStatus.CANCELLED))
        expected = self.model.retry(pk)
        if expected is None:
            with pytest.raises(KeyHeld):
                retry(pk)
        else:
            assert retry(pk) == expected

    @precondition(lambda self: self.model.tasks and self.may_meddle())
    @rule(data=DATA)
    def start_it_now(self, data: st.DataObject) -> None:
        self.meddled += 1
        pk = self.one_of(data, self.model.tasks)
        assert run_now(pk) == self.model.run_now(pk)

    @precondition(lambda self: self.may_meddle())
    @rule(host=st.sampled_from(["h", "i"]))
    def close_or_open_host(self, host: str) -> None:
        self.meddled += 1
        if host in self.model.closed_hosts:
            HostBudget.objects.filter(host=host).delete()
        else:
            HostBudget.objects.refuse(host, retry_after=86_400)
        self.model.closed_hosts ^= {host}

    # Workers.

    @precondition(lambda self: self.places(is_alive=False))
    @rule(data=DATA)
    def come(self, data: st.DataObject) -> None:
        """A new process in the place of one that ended, died, or is believed to be dead."""
        self.hire(self.one_of(data, self.places(is_alive=False)))

    @precondition(lambda self: self.at_work())
    @rule(data=DATA, in_good_order=FLAGS)
    def go(self, data: st.DataObject, in_good_order: bool) -> None:
        """A process that leaves, or is heard of no more, whatever it still has."""
        slot = self.one_of(data, self.at_work())
        if in_good_order:
            forget_worker(slot.name)
            self.model.workers[slot.name].is_lost = True
        else:
            lose(slot.name)
        self.model.workers[slot.name].has_lease = False

    @precondition(lambda self: self.able())
    @rule(data=DATA, most=st.sampled_from([1, 1, 3]))
    def claim(self, data: st.DataObject, most: int) -> None:
        self.step(self.one_of(data, self.able()), (), most)

    @precondition(lambda self: self.holding())
    @rule(data=DATA, most=st.sampled_from([0, 1, 3]))
    def finish_and_claim(self, data: st.DataObject, most: int) -> None:
        """In one statement; the worker may have been lost long ago."""
        slot = self.one_of(data, self.holding())
        held = self.model.workers[slot.name].held
        self.step(slot, data.draw(st.lists(st.sampled_from(held), unique=True, min_size=1)), most)

    @precondition(lambda self: self.at_work() and len(self.places(is_alive=True)) > 1)
    @rule(data=DATA)
    def take_over(self, data: st.DataObject) -> None:
        """A worker stalls, loses what it has, and another gets it: the shortest way to a late writer."""
        slot = self.one_of(data, self.at_work())
        lose(slot.name)
        self.model.workers[slot.name].has_lease = False
        self.reap()
        late = self.not_due()
        Task.objects.filter(pk__in=late).update(not_before=Now())
        for pk in late:
            self.model.tasks[pk].is_due = True
        self.tick()
        self.step(self.one_of(data, self.places(is_alive=True)), (), 3)

    @precondition(lambda self: self.model.claimable(ALL) and len(self.places(is_alive=True)) > 1)
    @rule(data=DATA, end=st.sampled_from(["COMMIT", "ROLLBACK"]))
    def claim_at_once(self, data: st.DataObject, end: str) -> None:
        """Two claims side by side, neither committed when the other looks. The second may have to wait."""
        ours, others, *_ = data.draw(st.permutations(self.places(is_alive=True)))
        with ours.transaction(end):
            mine = [task.pk for task in ours.claimer.step().claimed]
            with meanwhile(others.claimer.step) as later:
                until(lambda: later.done() or somebody_waits())
                has_waited = not later.done()
                if has_waited:
                    ours.line.execute(end, {})
                theirs = [task.pk for task in later.result(timeout=30).claimed]
        assert not {*mine} & {*theirs}
        kept = self.model.workers[others.name]
        if end == "COMMIT":
            self.model.claim(ours.name, mine)
        before = self.model.claimable(others.kinds) - set(mine)
        self.model.claim(others.name, theirs)
        if end == "COMMIT" and not has_waited:
            assert bool(theirs) == bool(before and kept.has_lease)

    @precondition(lambda self: self.held())
    @rule(data=DATA, how=st.sampled_from(["finish", "release", "wait", "cancel"]))
    def leave(self, data: st.DataObject, how: str) -> None:
        token = self.one_of(data, self.held())
        write, status, is_given_back = {
            "finish": (claims.finish, TaskStatus.DONE, False),
            "release": (claims.release, TaskStatus.PENDING, True),
            "wait": (claims.wait, TaskStatus.WAITING, True),
            "cancel": (claims.acknowledge_cancel, TaskStatus.CANCELLED, False),
        }[how]
        self.write(token, write, partial(self.model.leave, status=status, is_given_back=is_given_back))

    @precondition(lambda self: self.held())
    @rule(data=DATA, is_parked=FLAGS, is_due=FLAGS)
    def park_or_delay(self, data: st.DataObject, is_parked: bool, is_due: bool) -> None:
        until_when = timezone.now() + (-HOUR if is_due else HOUR)
        write = partial(claims.park, until=until_when)
        if not is_parked:
            write = partial(claims.delay, until=until_when, reason="closed")
        status = TaskStatus.AWAITING_BATCH if is_parked else TaskStatus.PENDING
        known = partial(self.model.leave, status=status, is_given_back=True, is_due=is_due)
        self.write(self.one_of(data, self.held()), write, known)

    @precondition(lambda self: self.held())
    @rule(data=DATA, may_retry=FLAGS, is_due=FLAGS)
    def fail(self, data: st.DataObject, may_retry: bool, is_due: bool) -> None:
        write = partial(claims.fail, error="broken")
        if may_retry:
            write = partial(claims.try_again, error="broken", after=timedelta() if is_due else None)
        known = partial(self.model.fail, may_retry=may_retry, is_due=is_due)
        self.write(self.one_of(data, self.held()), write, known)
        self.postpone()

    @precondition(lambda self: self.current())
    @rule(data=DATA, kind=KINDS, numbers=NUMBERS, host=HOSTS, and_wait=FLAGS)
    def split(self, data: st.DataObject, kind: str, numbers: list[int], host: str, and_wait: bool) -> None:
        token = self.one_of(data, self.current())
        missing = self.model.missing_children(token.task_id, kind, numbers)
        payloads = [{"number": number} for number in numbers]
        assert enqueue_children(Holding(token), kind, payloads, host=host) == len(missing)
        parent = self.model.tasks[token.task_id]
        for row in self.unknown():
            number = row.payload["number"]
            missing.remove(number)
            child = Known(kind, parent.account, host, parent=token.task_id, number=number)
            child.priority = parent.priority
            self.model.add(row.pk, child)
        assert not missing
        if and_wait:
            known = partial(self.model.leave, status=TaskStatus.WAITING, is_given_back=True)
            self.write(token, claims.wait, known)

    @precondition(lambda self: self.current())
    @rule(data=DATA)
    def never_hear_of_a_claim(self, data: st.DataObject) -> None:
        """The answer got lost: the worker knows what it has, and what else is in its name is given back."""
        unknown = self.one_of(data, self.current())
        self.model.drop(unknown)
        name = unknown.worker
        in_hand = [token.task_id for token in self.model.workers[name].held]
        assert claims.give_back_unknown(name, in_hand=in_hand) == self.model.give_back_unknown(name, in_hand)
        self.written.add(unknown)

    @precondition(lambda self: self.lost())
    @rule(data=DATA)
    def write_late(self, data: st.DataObject) -> None:
        """Q5: whatever a worker that lost its claim writes changes nothing."""
        token = self.one_of(data, self.lost())
        self.written_late.add(token)
        later = timezone.now() + HOUR
        for write in (
            claims.finish,
            claims.release,
            claims.wait,
            claims.hold,
            claims.acknowledge_cancel,
            partial(claims.park, until=later),
            partial(claims.delay, until=later, reason=""),
            partial(claims.fail, error=""),
            partial(claims.try_again, error=""),
            partial(claims.save_progress, value={"done": 9}),
        ):
            assert write(token) is False

    # Time, and what any worker's tick does.

    @precondition(lambda self: self.not_due())
    @rule(data=DATA)
    def become_due(self, data: st.DataObject) -> None:
        for pk in data.draw(st.sets(st.sampled_from(self.not_due()), min_size=1)):
            Task.objects.filter(pk=pk).update(not_before=Now())
            self.model.tasks[pk].is_due = True

    @precondition(lambda self: self.model.has_work_for_a_tick())
    @rule()
    def tick(self) -> None:
        assert claims.promote() == self.model.promote()
        assert claims.free_turns() == 0
        assert end_parents() == self.model.end_parents()
        assert retention.free_keys() == self.model.free_keys()

    @precondition(lambda self: self.model.has_unnoticed_losses())
    @rule()
    def reap(self) -> None:
        assert claims.reap() == self.model.reap()
        self.postpone()

    @precondition(lambda self: self.keeping())
    @rule(data=DATA)
    def end_cycles(self, data: st.DataObject) -> None:
        for pk in data.draw(st.sets(st.sampled_from(self.keeping()), min_size=1)):
            Task.objects.filter(pk=pk).update(key_until=Now())
            self.model.tasks[pk].keep = Keep.CYCLE_HAS_ENDED

    @precondition(lambda self: self.young())
    @rule(data=DATA)
    def prune(self, data: st.DataObject) -> None:
        """Some tasks have become old, with their families."""
        for pk in data.draw(st.sets(st.sampled_from(self.young()), min_size=1)):
            self.grow_old(pk)
            for relative in self.model.descendants(pk):
                self.grow_old(relative)
        assert retention.prune() == self.model.prune()

    @precondition(lambda self: self.model.generations and self.may_meddle())
    @rule(data=DATA)
    def prune_turns(self, data: st.DataObject) -> None:
        self.meddled += 1
        turns = list(Turn.objects.order_by("lane", "number").values_list("pk", flat=True))
        chosen = data.draw(st.sets(st.sampled_from(range(len(turns))), min_size=1)) if turns else ()
        old = [turns[number] for number in chosen]
        Turn.objects.filter(pk__in=old).update(taken_at=Now() - timedelta(days=2))
        assert retention.prune() == self.model.prune()


@pytest.fixture
def slots(transactional_db: None) -> Iterator[list[Slot]]:
    """None of them waits for the disk: no process dies here."""
    made = [Slot(number) for number in range(3)]
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        for slot in made:
            slot.line.execute("SET synchronous_commit = off", {})
        yield made
        cursor.execute("RESET synchronous_commit")
    for slot in made:
        slot.line.close()


def test_the_queue_is_what_its_model_says(slots: list[Slot], settings: Settings) -> None:
    settings.QUEUE_ACCOUNT_TURNS = settings.QUEUE_HOST_TURNS = (
        1  # each sequence sets its own, and this undoes it
    )
    Queue.slots = slots
    profile = PROFILES.get(os.environ.get("HYPOTHESIS_PROFILE", ""), PROFILES["suite"])
    run_sequences(Queue, settings=profile)
