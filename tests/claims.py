"""Claims on real tasks, for services that write under one."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import F

from taskqueue.handlers import Claim, clock
from taskqueue.models import Task
from taskqueue.services import enqueue
from taskqueue.services.claiming import claim_next
from tests.taskqueue.factories import alive


def claimed(kind: str, *, worker: str = "", **payload: Any) -> Claim:
    """A task of `kind`, just queued and claimed. It must be the only claimable one of its kind."""
    task_id = enqueue(kind, payload=payload, priority=0).task_id
    task = claim_next(worker=alive(worker or f"test-{uuid.uuid4().hex}").name, kinds={kind: 5})
    assert task is not None
    assert task.pk == task_id
    return Claim(task, proven_until=clock() + 60)


def lost(kind: str) -> Claim:
    """A claim whose task another worker has by now; the claim itself has not heard of it."""
    claim = claimed(kind)
    Task.objects.filter(pk=claim.task_id).update(attempts=F("attempts") + 1, worker="successor")
    return claim
