"""Q3 between connections: no two workers hold one task."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from django.db import transaction

from taskqueue.models import Task, TaskStatus, Token
from tests.taskqueue.connections import at_once, elsewhere
from tests.taskqueue.factories import TaskFactory, claim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

KINDS = {"test.work": 5}


def claim_all(worker: str) -> list[Token]:
    held = []
    while task := claim(worker, KINDS):
        held.append(task.token)
    return held


def test_workers_that_claim_side_by_side_never_get_the_same_task() -> None:
    tasks = TaskFactory.create_batch(80)

    held = [token for some in at_once([partial(claim_all, f"w{n}") for n in range(4)]) for token in some]

    assert Counter(token.task_id for token in held) == Counter(task.pk for task in tasks)
    assert set(Task.objects.values_list("status", "attempts")) == {(TaskStatus.RUNNING, 1)}


def test_one_task_wanted_by_many_goes_to_one() -> None:
    TaskFactory.create()

    held = at_once([partial(claim_all, f"w{number}") for number in range(6)])

    assert sum(map(len, held)) == 1


def test_a_task_that_somebody_is_choosing_is_stepped_over_without_waiting() -> None:
    first, second = TaskFactory.create_batch(2)
    with transaction.atomic():
        assert claim("w1", KINDS) == first
        assert elsewhere(partial(claim, "w2", KINDS)) == second


def test_a_task_whose_claim_was_rolled_back_is_claimable_as_before() -> None:
    task = TaskFactory.create()
    with transaction.atomic():
        claim("w1", KINDS)
        transaction.set_rollback(True)

    claimed = elsewhere(partial(claim, "w2", KINDS))

    assert claimed is not None
    assert (claimed.pk, claimed.attempts) == (task.pk, 1)
