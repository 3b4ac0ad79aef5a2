"""The queue in the operators' console: what waits, what runs and who runs it. Read-only evidence."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import admin
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from unfold.admin import ModelAdmin
from unfold.decorators import display

from config.console import Evidence
from taskqueue.handlers import known
from taskqueue.models import HostBudget, Task, TaskStatus, Worker
from taskqueue.services import request_cancel, retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest

COLOURS = {
    "running": "info",
    "cancelling": "warning",
    "awaiting batch": "info",
    "waiting for children": "info",
    "done": "success",
    "failed": "danger",
}


class NowFilter(admin.SimpleListFilter):
    """What a worker of this release could do next, and what none of it can."""

    title = "now"
    parameter_name = "now"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("claimable", "Claimable"), ("unknown", "Of a kind this release does not know")]

    def queryset(self, request: HttpRequest, tasks: QuerySet[Task]) -> QuerySet[Task]:
        if self.value() == "claimable":
            return tasks.filter(pk__in=Task.objects.claimable(known().kinds))
        if self.value() == "unknown":
            return tasks.filter(pk__in=Task.objects.unfinished().exclude(kind__in=known().kinds))
        return tasks


@admin.register(Task)
class TaskAdmin(Evidence, ModelAdmin):
    list_display = ["id", "state", "kind", "subject", "age", "advance", "tries", "worker", "due", "error"]
    list_filter = [NowFilter, "status", "kind", "host", "release"]
    search_fields = ["=id", "subject", "kind", "worker", "error"]
    ordering = ["-id"]
    raw_id_fields = ["parent"]
    actions = ["retry", "cancel"]
    show_full_result_count = False  # it would count everything that is kept, on every page

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("queue.change_task")

    @display(description="Status", ordering="status", label=COLOURS)
    def state(self, task: Task) -> str:
        return task.state()

    @admin.display(description="Age", ordering="created_at")
    def age(self, task: Task) -> str:
        return timesince(task.created_at, depth=1)

    @admin.display(description="Progress", ordering="progress_at")
    def advance(self, task: Task) -> str:
        if not task.progress:
            return "-"
        total = task.progress.get("total")
        return f"{task.progress['done']}{f' of {total}' if total else ''} {task.progress.get('note', '')}"

    @admin.display(description="Attempts", ordering="attempts")
    def tries(self, task: Task) -> str:
        given_back = f", {task.resumes} given back" if task.resumes else ""
        return f"{task.attempts}{given_back}; {task.retries_spent} of {task.max_attempts} spent"

    @admin.display(description="Next due", ordering="not_before")
    def due(self, task: Task) -> str | datetime:
        if task.status not in (TaskStatus.PENDING, TaskStatus.AWAITING_BATCH):
            return "-"
        return "now" if task.not_before <= timezone.now() else task.not_before

    @admin.action(description="Retry what failed or was cancelled", permissions=["operate"])
    def retry(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        self._apply(request, tasks, retry, "Tasks pending again")

    @admin.action(description="Cancel", permissions=["operate"])
    def cancel(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        self._apply(request, tasks, request_cancel, "Tasks cancelled or asked to stop")

    def _apply(
        self, request: HttpRequest, tasks: QuerySet[Task], change: Callable[[int], bool], words: str
    ) -> None:
        ids = sorted(tasks.values_list("pk", flat=True))  # parents before children, as everybody locks them
        changed = sum(change(task_id) for task_id in ids)
        self.message_user(request, f"{words}: {changed} of {len(ids)}.")


@admin.register(Worker)
class WorkerAdmin(Evidence, ModelAdmin):
    list_display = ["name", "state", "last_seen_at", "current", "release", "hostname", "pid", "started_at"]
    list_filter = ["release", "hostname"]
    list_select_related = ["task"]
    search_fields = ["name", "hostname"]
    ordering = ["-last_seen_at"]

    @display(description="State", ordering="last_seen_at", label={"alive": "success"})
    def state(self, worker: Worker) -> str:
        silence = timezone.now() - worker.last_seen_at
        if silence < timedelta(seconds=settings.QUEUE_LEASE_SECONDS):
            return "alive"
        return f"silent for {timesince(worker.last_seen_at, depth=1)}: it died or lost the database"

    @admin.display(description="Task")
    def current(self, worker: Worker) -> str:
        task = worker.task
        if task is None:
            return "-"
        url = reverse("admin:queue_task_change", args=[task.pk])
        return format_html('<a href="{}">{} {}</a>', url, task.kind, task.subject)


@admin.register(HostBudget)
class HostBudgetAdmin(Evidence, ModelAdmin):
    list_display = ["host", "egress", "state", "pace_seconds", "floor", "ceiling", "accepted", "refused"]
    list_filter = ["egress"]
    search_fields = ["host"]
    ordering = ["-next_slot_at"]

    @display(description="State", ordering="next_slot_at", label={"open": "success"})
    def state(self, budget: HostBudget) -> str:
        horizon = timezone.now() + timedelta(seconds=HostBudget.LONGEST_WAIT_SECONDS)
        if budget.next_slot_at <= horizon:
            return "open"
        return f"closed until {budget.next_slot_at:%Y-%m-%d %H:%M:%S} UTC"
