"""Parents and children: ended together, cancelled together."""

from __future__ import annotations

import logging

from django.db import connection, transaction

from taskqueue.models import Task, TaskStatus
from taskqueue.sql import families as sql

logger = logging.getLogger(__name__)


@transaction.atomic
def end_parents(only: int | None = None) -> int:
    """Waiting parents show their children's progress; those with no live child end (Q11): returns how many.

    The parents are locked first and their children read by a later statement: a child that is being retried
    under the same lock is seen as it will be. Parents that another worker has locked are its to end. `only`
    one of them is looked at, if it is named.
    """
    waiting = Task.objects.filter(status=TaskStatus.WAITING)
    if only is not None:
        waiting = waiting.filter(pk=only)
    waiting = waiting.order_by("pk").select_for_update(skip_locked=True)
    parents = list(waiting.values_list("pk", flat=True))
    if not parents:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(sql.END_PARENTS, {"parents": parents})
        return sum(status != TaskStatus.WAITING for _, status in cursor.fetchall())


def end_parent(task_id: int) -> None:
    """The parent has ended if no child is live: as every tick sees to, but at once."""
    if not Task.objects.unfinished().filter(parent=task_id).exists():
        end_parents(task_id)


@transaction.atomic
def cancel_family(task_id: int) -> int:
    """What waits in the family has ended and what runs is flagged (Q10); returns how many tasks that changed.

    Each round sees what committed before it: a parent may be adding children while it is flagged.
    """
    changed = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(sql.CANCEL_FAMILY, {"task": task_id})
            if not cursor.rowcount:
                return changed
            changed += cursor.rowcount
