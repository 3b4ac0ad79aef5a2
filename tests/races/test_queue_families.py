"""Q10 and Q11 between connections: parents and children that change at once."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest
from django.db import transaction

from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims, enqueue_children, request_cancel, retry
from taskqueue.services.families import end_parents
from tests.taskqueue.connections import at_once, elsewhere, meanwhile, somebody_waits
from tests.taskqueue.factories import FailedTaskFactory, RunningTaskFactory, TaskFactory, claim_of
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


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
