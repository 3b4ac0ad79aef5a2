"""What must be true of the queue, said without SQL: the other half of test_queue_model.py.

Every method does to plain objects what one service promises to do to rows, and returns what that service
must return. Time is not modelled: a task is due or it is not, a worker's lease has ended or it has not, and
the tests move the rows' dates accordingly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from taskqueue.models import CLAIMABLE, ENDED, URGENT, TaskStatus, Token

S = TaskStatus


class Keep(Enum):
    """How long a task keeps its key: until its end, or until the end of its cycle if that is later."""

    UNTIL_END = auto()
    UNTIL_CYCLE_ENDS = auto()
    CYCLE_HAS_ENDED = auto()


@dataclass(slots=True)
class Known:
    """One task as it must be."""

    kind: str
    account: str = ""
    host: str = ""
    subject: str = ""
    number: int = 0  # in its payload
    key: str | None = None
    parent: int | None = None
    priority: int = 50
    keep: Keep = Keep.UNTIL_END
    status: TaskStatus = S.PENDING
    is_due: bool = True
    is_in_line: bool = True
    attempts: int = 0
    resumes: int = 0
    max_attempts: int = 5
    worker: str = ""
    is_cancel_requested: bool = False
    errors: int = 0
    is_old: bool = False

    @property
    def lane(self) -> str:
        if self.account:
            return f"account:{self.account}"
        return f"host:{self.host}" if self.host else ""

    @property
    def is_kept(self) -> bool:
        return self.key is not None and self.keep is not Keep.UNTIL_END

    @property
    def holds_key(self) -> bool:
        return self.key is not None and (self.status not in ENDED or self.is_kept)

    def end(self, status: TaskStatus) -> None:
        self.status, self.worker, self.is_in_line, self.is_old = status, "", False, False
        if self.keep is not Keep.UNTIL_CYCLE_ENDS:
            self.keep = Keep.UNTIL_END


@dataclass(slots=True)
class Hands:
    """One incarnation of a worker."""

    kinds: Mapping[str, int]
    has_lease: bool = True
    is_lost: bool = False
    held: list[Token] = field(default_factory=list)  # what it believes to have; some of it may be lost


@dataclass(slots=True)
class Model:
    """All of the queue."""

    account_turns: int
    host_turns: int
    tasks: dict[int, Known] = field(default_factory=dict)
    workers: dict[str, Hands] = field(default_factory=dict)
    closed_hosts: set[str] = field(default_factory=set)
    generations: set[tuple[int, int]] = field(default_factory=set)

    # Questions.

    def holder(self, key: str | None) -> int | None:
        return next((pk for pk, task in self.tasks.items() if task.holds_key and task.key == key), None)

    def running(self) -> dict[int, Known]:
        return {pk: task for pk, task in self.tasks.items() if task.status == S.RUNNING}

    def turns_taken(self) -> Counter[str]:
        return Counter(task.lane for task in self.running().values() if task.lane)

    def limit(self, lane: str) -> int:
        return self.account_turns if lane.startswith("account:") else self.host_turns

    def claimable(self, kinds: Collection[str]) -> set[int]:
        """Q3, Q4: what a living worker of these kinds may be given."""
        taken = self.turns_taken()
        return {
            pk
            for pk, task in self.tasks.items()
            if task.is_in_line
            and task.kind in kinds
            and task.host not in self.closed_hosts
            and (not task.lane or taken[task.lane] < self.limit(task.lane))
        }

    def is_current(self, token: Token) -> bool:
        task = self.tasks.get(token.task_id)
        return task is not None and (task.status, task.worker, task.attempts) == (
            S.RUNNING,
            token.worker,
            token.attempt,
        )

    def descendants(self, pk: int) -> Iterator[int]:
        for child, task in list(self.tasks.items()):
            if task.parent == pk:
                yield child
                yield from self.descendants(child)

    def children(self, pk: int) -> list[Known]:
        return [task for task in self.tasks.values() if task.parent == pk]

    def has_unnoticed_losses(self) -> bool:
        alive = {name for name, hands in self.workers.items() if not hands.is_lost}
        has_stalled = any(not hands.has_lease and not hands.is_lost for hands in self.workers.values())
        return has_stalled or any(task.worker not in alive for task in self.running().values())

    def has_work_for_a_tick(self) -> bool:
        return any(
            (task.status in CLAIMABLE and task.is_due and not task.is_in_line)
            or (task.status == S.WAITING and all(child.status in ENDED for child in self.children(pk)))
            or (task.status in ENDED and task.keep is Keep.CYCLE_HAS_ENDED)
            for pk, task in self.tasks.items()
        )

    # What callers do.

    def add(self, pk: int, task: Known) -> None:
        assert pk not in self.tasks
        assert self.holder(task.key) is None, "a key that is held was given away"
        self.tasks[pk] = task

    def cancel(self, pk: int) -> bool:
        """Q10."""
        has_changed = False
        for one in (pk, *self.descendants(pk)):
            task = self.tasks[one]
            if task.status == S.RUNNING:
                has_changed |= not task.is_cancel_requested
                task.is_cancel_requested = True
            elif task.status not in ENDED:
                has_changed = task.is_cancel_requested = True
                task.end(S.CANCELLED)
        return has_changed

    def retry(self, pk: int) -> bool | None:
        """None: another task has the key of one of them (Q1)."""
        if self.tasks[pk].status not in (S.FAILED, S.CANCELLED):
            return False
        family = {one: self.tasks[one] for one in (pk, *self.descendants(pk))}
        ended = {one: task for one, task in family.items() if task.status in (S.FAILED, S.CANCELLED)}
        if any(self.holder(task.key) not in (None, one) for one, task in ended.items()):
            return None
        for task in ended.values():
            task.status, task.resumes = S.PENDING, task.attempts
            task.is_due, task.is_in_line, task.is_cancel_requested = True, True, False
        return True

    def run_now(self, pk: int) -> bool:
        task = self.tasks[pk]
        if task.status not in CLAIMABLE or (task.is_in_line and task.priority <= URGENT):
            return False
        task.is_due, task.is_in_line, task.priority = True, True, min(task.priority, URGENT)
        return True

    # What workers do.

    def claim(self, worker: str, pks: Iterable[int]) -> None:
        """Q3, Q4, Q5: whatever was handed out could be, and under a generation that nobody had before."""
        for pk in pks:
            hands, task = self.workers[worker], self.tasks[pk]
            assert hands.has_lease, "a worker without a lease was given work"
            assert pk in self.claimable(hands.kinds)
            task.status, task.worker, task.is_in_line = S.RUNNING, worker, False
            task.attempts += 1
            task.max_attempts = hands.kinds[task.kind]
            assert (pk, task.attempts) not in self.generations
            self.generations.add((pk, task.attempts))
            hands.held.append(Token(pk, worker, task.attempts))

    def drop(self, token: Token) -> None:
        """Its worker has written how the attempt ended, or has heard that it may not."""
        self.workers[token.worker].held.remove(token)

    def leave(
        self, token: Token, status: TaskStatus, *, is_given_back: bool = False, is_due: bool | None = None
    ) -> bool:
        """Q8, Q10: an attempt that did not fail; only what is done wins over a request to cancel."""
        if not self.is_current(token):
            return False
        task = self.tasks[token.task_id]
        task.resumes += is_given_back
        task.is_due = task.is_due if is_due is None else is_due
        if status == S.CANCELLED or (task.is_cancel_requested and status != S.DONE):
            self._cancelled(token.task_id)
        elif status in ENDED:
            task.end(status)
        else:
            task.status, task.worker = status, ""
            task.is_in_line = status in CLAIMABLE and task.is_due
        return True

    def fail(self, token: Token, *, may_retry: bool, is_due: bool = False) -> bool:
        """Q8: an attempt that failed."""
        if not self.is_current(token):
            return False
        self._fail(token.task_id, may_retry=may_retry, is_due=is_due)
        return True

    def missing_children(self, pk: int, kind: str, numbers: Iterable[int]) -> list[int]:
        """Q11: a second split adds what the first left out."""
        present = {child.number for child in self.children(pk) if child.kind == kind}
        return sorted(set(numbers) - present)

    def give_back_unknown(self, worker: str, in_hand: Collection[int]) -> int:
        count = 0
        for pk, task in self.running().items():
            if task.worker == worker and pk not in in_hand:
                task.status, task.worker, task.is_in_line = S.PENDING, "", True
                task.resumes += 1
                count += 1
        return count

    # What any worker's tick does.

    def reap(self) -> tuple[int, int]:
        """Q9."""
        for hands in self.workers.values():
            hands.is_lost |= not hands.has_lease
        alive = {name for name, hands in self.workers.items() if not hands.is_lost}
        gone = [pk for pk, task in self.running().items() if task.worker not in alive]
        before = {pk: self.tasks[pk].is_cancel_requested for pk in gone}
        for pk in gone:
            self._fail(pk, may_retry=True, is_due=False)
        lost = sum(self.tasks[pk].status == S.FAILED for pk in gone)
        assert all(self.tasks[pk].status == S.CANCELLED for pk in gone if before[pk])
        return len(gone) - lost, lost

    def is_scheduled(self, kind: str, subject: str, key: str) -> bool:
        """Q2: whether a schedule finds nothing to do for the subject."""
        is_pending = any(
            (task.kind, task.subject, task.status) == (kind, subject, S.PENDING)
            for task in self.tasks.values()
        )
        return is_pending or self.holder(key) is not None

    def promote(self) -> int:
        late = [
            task
            for task in self.tasks.values()
            if task.status in CLAIMABLE and task.is_due and not task.is_in_line
        ]
        for task in late:
            task.is_in_line = True
        return len(late)

    def end_parents(self) -> int:
        """Q11: judged by what one look showed; a grandparent ends at the next."""
        endings: dict[int, TaskStatus] = {}
        for pk, task in self.tasks.items():
            children = Counter(child.status for child in self.children(pk))
            if task.status == S.WAITING and children.keys() <= set(ENDED):
                endings[pk] = S.FAILED if children[S.FAILED] else S.DONE
        for pk, status in endings.items():
            self.tasks[pk].end(status)
        return len(endings)

    def free_keys(self) -> int:
        freed = [
            task
            for task in self.tasks.values()
            if task.status in ENDED and task.keep is Keep.CYCLE_HAS_ENDED and task.is_kept
        ]
        for task in freed:
            task.keep = Keep.UNTIL_END
        return len(freed)

    def prune(self) -> int:
        """Q14: whole families, none of whose members is open, young or keeps a key."""
        gone: set[int] = set()
        for pk, task in self.tasks.items():
            family = [pk, *self.descendants(pk)]
            members: Sequence[Known] = [self.tasks[one] for one in family]
            if task.parent is None and all(
                one.status in ENDED and one.is_old and not one.is_kept for one in members
            ):
                gone.update(family)
        for pk in gone:
            del self.tasks[pk]
        return len(gone)

    def _fail(self, pk: int, *, may_retry: bool, is_due: bool) -> None:
        task = self.tasks[pk]
        task.errors += 1
        if task.is_cancel_requested:
            self._cancelled(pk)
        elif may_retry and task.attempts - task.resumes < task.max_attempts:
            task.status, task.worker, task.is_due, task.is_in_line = S.PENDING, "", is_due, False
        else:
            task.end(S.FAILED)

    def _cancelled(self, pk: int) -> None:
        self.tasks[pk].end(S.CANCELLED)
        self.cancel(pk)
