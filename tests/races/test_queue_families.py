"""Q10 and Q11 between connections: parents and children that change at once."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue_children, request_cancel, retry
from taskqueue.services.families import end_parents
from taskqueue.services.retention import prune
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import FailedTaskFactory, RunningTaskFactory, TaskFactory, claim_of
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

OLD = timezone.now() - timedelta(days=settings.QUEUE_RETENTION_DAYS + 1)


def status_of(task: Task) -> str:
    return Task.objects.values_list("status", flat=True).get(pk=task.pk)


def finish_and_end(child: Task) -> tuple[bool, int]:
    return claims.finish(child.token), end_parents()


def test_the_last_children_finishing_together_end_their_parent_once() -> None:
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    children = RunningTaskFactory.create_batch(6, parent=parent)

    results = at_once([partial(finish_and_end, child) for child in children])

    assert all(is_finished for is_finished, _ in results)
    assert sum(ended for _, ended in results) + end_parents() == 1
    assert status_of(parent) == TaskStatus.DONE


def test_a_child_whose_end_is_not_committed_is_waited_for() -> None:
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    child = RunningTaskFactory.create(parent=parent)
    with transaction.atomic():
        claims.finish(child.token)
        assert elsewhere(end_parents) == 0

    assert end_parents() == 1


def test_a_child_being_retried_keeps_its_parent_from_ending() -> None:
    """The parent would fail for a child that is pending again by then."""
    parent = TaskFactory.create(status=TaskStatus.WAITING)
    child = FailedTaskFactory.create(parent=parent)
    with transaction.atomic():
        assert retry(child.pk)
        assert elsewhere(end_parents) == 0

    assert end_parents() == 0
    assert (status_of(parent), status_of(child)) == (TaskStatus.WAITING, TaskStatus.PENDING)


def test_a_cancel_that_waited_for_a_parent_to_split_finds_the_children() -> None:
    """Q10: the first look was before they were committed."""
    parent = RunningTaskFactory.create()
    with ExitStack() as outlasting:
        with transaction.atomic():
            enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}, {"chunk": 2}])
            claims.wait(parent.token)
            cancel = outlasting.enter_context(meanwhile(partial(request_cancel, parent.pk)))
            until(somebody_waits)
        assert cancel.result(timeout=30)

    assert set(Task.objects.values_list("status", flat=True)) == {TaskStatus.CANCELLED}


def test_children_committed_after_a_cancel_looked_end_all_the_same() -> None:
    """Q10: a parent that is splitting cannot slip children past the cancel of its family."""
    parent = RunningTaskFactory.create()
    with transaction.atomic():
        enqueue_children(claim_of(parent), "test.part", [{"chunk": 1}, {"chunk": 2}])
        assert elsewhere(partial(request_cancel, parent.pk))

    assert claims.wait(parent.token)

    assert set(Task.objects.values_list("status", flat=True)) == {TaskStatus.CANCELLED}


def old_family(depth: int) -> list[Task]:
    """Each the last one's child; the last one failed, all of them longer ago than tasks are kept."""
    family: list[Task] = []
    for _ in range(depth):
        family.append(FailedTaskFactory.create(parent=family[-1] if family else None, finished_at=OLD))
    return family


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_being_retried_while_retention_looks_is_not_forgotten(depth: int) -> None:
    """Q14: retention steps over the family whose root the retry holds."""
    family = old_family(depth)
    with transaction.atomic():
        assert retry(family[-1].pk)
        assert elsewhere(prune) == 0

    assert status_of(family[-1]) == TaskStatus.PENDING
    assert prune() == 0


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_retry_of_what_is_being_forgotten_waits_for_what_becomes_of_it(is_forgotten: bool) -> None:
    """Q14: nobody is told that a task will run again, and then it is gone."""
    family = old_family(3)
    with ExitStack() as outlasting:
        with transaction.atomic():
            assert prune() == 3
            retried = outlasting.enter_context(meanwhile(partial(retry, family[-1].pk)))
            until(somebody_waits)
            transaction.set_rollback(not is_forgotten)
        assert retried.result(timeout=30) != is_forgotten

    assert Task.objects.filter(pk=family[-1].pk).exists() != is_forgotten
