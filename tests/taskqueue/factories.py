"""Rows of the queue as other code left them. Whatever the test is about goes through the services."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import factory
from django.db.models.functions import Now

from taskqueue.handlers import Claim, clock
from taskqueue.models import HostBudget, Task, TaskStatus, Worker


class TaskFactory(factory.django.DjangoModelFactory[Task]):
    """Pending and due. Made without a notification, as by a producer whose NOTIFY got lost."""

    class Meta:
        model = Task

    kind = "test.work"


class RunningTaskFactory(TaskFactory):
    status = TaskStatus.RUNNING
    worker = "worker-1"
    attempts = 1
    started_at = Now()
    lease_expires_at = Now() + timedelta(seconds=60)


class DoneTaskFactory(TaskFactory):
    status = TaskStatus.DONE
    attempts = 1
    finished_at = Now()


class FailedTaskFactory(DoneTaskFactory):
    status = TaskStatus.FAILED
    error = "no such board"


class WorkerFactory(factory.django.DjangoModelFactory[Worker]):
    class Meta:
        model = Worker

    name = "worker-1"


class HostBudgetFactory(factory.django.DjangoModelFactory[HostBudget]):
    class Meta:
        model = HostBudget

    host = "boards.example.com"
    egress = "default"


def claim_of(task: Task, **changes: Any) -> Claim:
    """The claim of a running task, its lease proven for as long as a test may take."""
    task.refresh_from_db()
    return Claim(task, **{"proven_until": clock() + 600, **changes})
