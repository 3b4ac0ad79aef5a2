"""Rows of the queue as other code left them. Whatever the test is about goes through the services."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import factory
from django.db.models.functions import Now
from django.utils import timezone

from taskqueue.handlers import Claim, clock
from taskqueue.models import CLAIMABLE, HostBudget, Task, TaskStatus, Worker
from taskqueue.services.claiming import claim_next
from taskqueue.sql import PATIENCE_SECONDS


class TaskFactory(factory.django.DjangoModelFactory[Task]):
    """Pending, and in line if due. Made without a notification, as by a producer whose NOTIFY got lost."""

    class Meta:
        model = Task

    kind = "test.work"
    status = TaskStatus.PENDING
    priority = 50

    position = factory.LazyAttribute(lambda made: _position(made))


def _position(made: Any) -> datetime | None:
    due = getattr(made, "not_before", None) or timezone.now()
    is_due = made.status in CLAIMABLE and due <= timezone.now()
    return due + timedelta(seconds=PATIENCE_SECONDS * made.priority) if is_due else None


class RunningTaskFactory(TaskFactory):
    """In the hands of a worker that lives."""

    status = TaskStatus.RUNNING
    worker = "worker-1"
    attempts = 1
    started_at = Now()

    @classmethod
    def _create(cls, model_class: type[Task], *args: Any, **kwargs: Any) -> Task:
        alive(kwargs["worker"])
        task: Task = super()._create(model_class, *args, **kwargs)
        return task


class DoneTaskFactory(TaskFactory):
    status = TaskStatus.DONE
    attempts = 1
    finished_at = Now()


class FailedTaskFactory(DoneTaskFactory):
    status = TaskStatus.FAILED
    error = "no such board"


def alive(name: str) -> Worker:
    """The worker's row, made if it has none, with a lease that outlasts the test."""
    lease = {"lease_expires_at": timezone.now() + timedelta(minutes=10)}
    return Worker.objects.get_or_create(name=name, defaults=lease)[0]


def lose(name: str = "worker-1") -> None:
    """The lease of the worker is over; nobody has found out yet."""
    Worker.objects.filter(name=name).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


class WorkerFactory(factory.django.DjangoModelFactory[Worker]):
    class Meta:
        model = Worker

    name = "worker-1"
    lease_expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(minutes=10))


class HostBudgetFactory(factory.django.DjangoModelFactory[HostBudget]):
    class Meta:
        model = HostBudget

    host = "boards.example.com"
    egress = "default"


def claim(worker: str = "worker-1", kinds: Mapping[str, int] | None = None) -> Task | None:
    """The next task for a worker that lives."""
    return claim_next(worker=alive(worker).name, kinds={"test.work": 5} if kinds is None else kinds)


def claim_of(task: Task, **changes: Any) -> Claim:
    """The claim of a running task, its lease proven for as long as a test may take."""
    task.refresh_from_db()
    return Claim(task, **{"proven_until": clock() + 600, **changes})
