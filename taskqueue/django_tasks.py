"""Django's Tasks API on this queue: the `@task` functions of any app run on the fleet.

    TASKS = {"default": {"BACKEND": "taskqueue.django_tasks.QueueBackend"}}

The package django-tasks brings to Django 5.2 what 6.0 has as `django.tasks`. There the imports of this module
change and nothing else: InvalidTaskError is called InvalidTask, normalize_json is in `django.utils.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from django.dispatch import Signal
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks import task_backends
from django_tasks.backends.base import BaseTaskBackend
from django_tasks.base import Task, TaskContext, TaskError, TaskResult, TaskResultStatus
from django_tasks.exceptions import InvalidTaskError, TaskResultDoesNotExist
from django_tasks.signals import task_enqueued, task_finished, task_started
from django_tasks.utils import normalize_json

from taskqueue.errors import Cancelled, ClaimLost, HostBusy, ShuttingDown
from taskqueue.handlers import Claim
from taskqueue.models import Task as Row
from taskqueue.models import TaskStatus
from taskqueue.services import enqueue

KIND = "django.task"
LONGEST_ID = 19  # digits: a bigint's are as many
NORMAL = 50  # the queue's own middle: there lower goes first, in the API higher

STATUSES = {
    TaskStatus.PENDING: TaskResultStatus.READY,
    TaskStatus.AWAITING_BATCH: TaskResultStatus.READY,
    TaskStatus.WAITING: TaskResultStatus.READY,
    TaskStatus.RUNNING: TaskResultStatus.RUNNING,
    TaskStatus.DONE: TaskResultStatus.SUCCESSFUL,
    TaskStatus.FAILED: TaskResultStatus.FAILED,
    TaskStatus.CANCELLED: TaskResultStatus.FAILED,
}

AnyTask = Task[..., Any]
AnyResult = TaskResult[Any]

_claim: ContextVar[Claim | None] = ContextVar("claim", default=None)


class AttemptFailed(Exception):
    """The attempt failed outside the task's function, as when its worker was lost. Named in results."""


class Raised(Exception):
    """What a task's function raised, on its way into the task's history: no other attempt follows."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(words(error))
        self.__traceback__ = error.__traceback__  # the history keeps the innermost frames


class QueueBackend(BaseTaskBackend):
    """Tasks are rows of this queue, of the one kind `django.task`; a result's id is its row's.

    A task is queued in the caller's transaction: rolled back with it, visible to workers once it commits.
    A queue's name is kept and shown, but every worker of the kind serves every queue.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def enqueue(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> AnyResult:
        """The task is queued when the caller's transaction commits.

        Raises InvalidTaskError for a task that no worker would find, TypeError or ValueError for arguments
        that are not JSON. The result's `enqueued_at` is this machine's time until it is refreshed.
        """
        self.validate_task(task)
        _refuse_unreachable(task)
        payload = {
            "task": task.module_path,
            "args": plain(args),
            "kwargs": plain(kwargs),
            "backend": self.alias,
            "queue": task.queue_name,
            "priority": task.priority,
            "run_after": task.run_after and task.run_after.isoformat(),
        }
        queued = enqueue(
            KIND,
            payload=payload,
            subject=task.module_path[:200],
            priority=NORMAL - task.priority,
            not_before=task.run_after,
        )
        result: AnyResult = TaskResult(
            task=task,
            id=str(queued.task_id),
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            finished_at=None,
            last_attempted_at=None,
            args=payload["args"],
            kwargs=payload["kwargs"],
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> AnyResult:
        """The result as its row says now. Raises TaskResultDoesNotExist, also once retention removed the row.

        Raises ImportError when this release has no such function any more.
        """
        known = str(result_id)
        if known.isascii() and known.isdigit() and len(known) < LONGEST_ID:
            rows = Row.objects.filter(pk=int(known), kind=KIND, payload__backend=self.alias)
            if row := rows.first():
                return _result_of(row, task_of(row.payload))
        raise TaskResultDoesNotExist(result_id)


def task_of(payload: Mapping[str, Any]) -> AnyTask:
    """The task that the payload names, with the options it was queued with.

    Raises InvalidTaskError for whatever is not a task of a QueueBackend: nothing else is ever called.
    Raises ImportError when this release has no such module or name.
    """
    task = _find(payload["task"])
    if not isinstance(task_backends[payload["backend"]], QueueBackend):
        raise InvalidTaskError(f"{payload['backend']!r} is not a backend of this queue")
    run_after = payload["run_after"] and datetime.fromisoformat(payload["run_after"])
    return task.using(
        backend=payload["backend"],
        queue_name=payload["queue"],
        priority=payload["priority"],
        run_after=run_after,
    )


def perform(claim: Claim, task: AnyTask) -> Mapping[str, Any]:
    """Call the task's function under the claim; returns what the row keeps: what it returned, and who ran it.

    Raises Raised for whatever the function raises, and for a return value that is not JSON. The signals are
    sent here: that of the end when the function has ended, a moment before the row says so.
    """
    result = _result_of(Row.objects.get(pk=claim.task_id), task)
    _tell(task_started, result)
    try:
        value = _call(claim, result)
    except (ClaimLost, ShuttingDown, HostBusy):
        raise  # no end: it runs again, here or elsewhere
    except Cancelled as cancelled:
        _end(claim, result, TaskResultStatus.FAILED, errors=[*result.errors, _error(words(cancelled))])
        raise
    except BaseException as error:  # as the API has it, also SystemExit and a cancelled coroutine
        _end(claim, result, TaskResultStatus.FAILED, errors=[*result.errors, _error(words(error))])
        raise Raised(error) from error
    _end(claim, result, TaskResultStatus.SUCCESSFUL, _return_value=value)
    return {"value": value, "worker": claim.token.worker}


def current_claim() -> Claim | None:
    """The claim under which the caller's task function runs; None where no worker of this queue called it.

    For what the API has no words for: `progress`, `checkpoint`, `hold`.
    """
    return _claim.get()


def plain(value: Any) -> Any:
    """The value as it comes back from the row: JSON, tuples as lists, keys as strings.

    Raises TypeError or ValueError for what PostgreSQL keeps in no JSON: NaN, NUL characters and halves of
    surrogate pairs among it.
    """
    text = json.dumps(normalize_json(value), allow_nan=False, ensure_ascii=False)
    text.encode()
    if r"\u0000" in text.replace(r"\\", ""):
        raise ValueError("a NUL character cannot be kept")
    return json.loads(text)


def words(error: BaseException) -> str:
    """The error as the history keeps it, its class named so that a result finds it again."""
    kind = type(error)
    return f"{kind.__module__}.{kind.__qualname__}: {error}"


def _refuse_unreachable(task: AnyTask) -> None:
    if task.func.__module__ == "__main__":
        raise InvalidTaskError(f"{task.module_path} is in a script: a worker's __main__ is another one")
    try:
        is_found = _find(task.module_path).func is task.func
    except ImportError as error:
        raise InvalidTaskError(f"a worker would not find {task.module_path}: {error}") from error
    if not is_found:
        raise InvalidTaskError(f"{task.module_path} names another task")


def _find(path: str) -> AnyTask:
    found = import_string(path)
    if not isinstance(found, Task):
        raise InvalidTaskError(f"{path} is not a task")
    return found


def _call(claim: Claim, result: AnyResult) -> Any:
    task = result.task
    context = [TaskContext(task_result=result)] if task.takes_context else []
    token = _claim.set(claim)
    try:
        return plain(task.call(*context, *result.args, **result.kwargs))
    finally:
        _claim.reset(token)


def _end(claim: Claim, result: AnyResult, status: TaskResultStatus, **values: Any) -> None:
    """Tell the receivers, unless the end is another worker's to tell."""
    for name, value in {"status": status, "finished_at": timezone.now(), **values}.items():
        object.__setattr__(result, name, value)  # frozen for its readers; backends write it so
    if claim.still_mine():
        _tell(task_finished, result)


def _tell(signal: Signal, result: AnyResult) -> None:
    """A receiver that fails is logged: its fault is not the task's."""
    signal.send_robust(type(result.task.get_backend()), task_result=result)


def _result_of(row: Row, task: AnyTask) -> AnyResult:
    errors = [_error(failed["error"]) for failed in row.errors]
    if row.status == TaskStatus.CANCELLED:
        errors.append(_error(words(Cancelled())))
    result: AnyResult = TaskResult(
        task=task,
        id=str(row.pk),
        status=STATUSES[TaskStatus(row.status)],
        enqueued_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        last_attempted_at=row.started_at,
        args=row.payload["args"],
        kwargs=row.payload["kwargs"],
        backend=task.backend,
        errors=errors,
        worker_ids=_workers(row),
    )
    if row.result:
        object.__setattr__(result, "_return_value", row.result["value"])
    return result


def _workers(row: Row) -> list[str]:
    """Who ran each attempt, "" where the row does not say: an attempt that was given back leaves no name."""
    known = {failed["attempt"]: failed["worker"] for failed in row.errors}
    known[row.attempts] = row.worker or (row.result or {}).get("worker") or known.get(row.attempts, "")
    return [known.get(attempt, "") for attempt in range(1, row.attempts + 1)]


def _error(text: str) -> TaskError:
    """An entry of the history. `words` named the class, unless the queue itself ended the attempt."""
    text = text.removeprefix(f"{Raised.__name__}: ")
    named = re.match(r"((?:\w+\.)+[\w.<>]+): ", text)
    path = named[1] if named else f"{AttemptFailed.__module__}.{AttemptFailed.__qualname__}"
    return TaskError(exception_class_path=path, traceback=text)
