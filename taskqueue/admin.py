"""The queue in the operators' console: what waits and why, what runs, who runs it. Read-only evidence."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q
from django.db.models.functions import Now
from django.http import Http404, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList

from config.console import Evidence
from taskqueue.errors import KeyHeld
from taskqueue.handlers import known
from taskqueue.models import CLAIMABLE, URGENT, HostBudget, Task, TaskStatus, Worker
from taskqueue.overview import HOURS, USUAL_HOURS, overview
from taskqueue.presentation import duration, held, host_state, megabytes, progress, worker_state
from taskqueue.services import request_cancel, retry, watching
from taskqueue.services.waiting import Reason, is_free, run_now, why_they_wait, why_waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

MOST_CHILDREN = 20
MOST_EXPLAINED = 5  # of the tasks that an action could not change

COLOURS = {
    "running": "info",
    "cancelling": "warning",
    "awaiting batch": "info",
    "waiting for children": "info",
    "done": "success",
    "failed": "danger",
}


class NowFilter(admin.SimpleListFilter):
    """Rows that are hot, each set found by its partial index."""

    title = "now"
    parameter_name = "now"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [
            ("claimable", "Claimable"),
            ("in_line", "In line"),
            ("later", "To start later"),
            ("failed", "Failed in the last hour"),
            ("unknown", "Of a kind this release does not know"),
            ("orphans", "Of a kind no live worker runs"),
        ]

    def queryset(self, request: HttpRequest, tasks: QuerySet[Task]) -> QuerySet[Task]:
        chosen = self.value()
        waits = Q(position__isnull=True, status__in=CLAIMABLE)
        if chosen == "claimable":
            return tasks.filter(pk__in=Task.objects.claimable(known().kinds).values("pk"))
        if chosen == "in_line":
            return tasks.filter(position__isnull=False)
        if chosen == "later":
            return tasks.filter(waits)
        if chosen == "failed":
            hour = Now() - timedelta(hours=1)
            return tasks.filter(status=TaskStatus.FAILED, finished_at__gt=hour)
        if chosen == "unknown":
            return tasks.filter(pk__in=Task.objects.unfinished().exclude(kind__in=known().kinds).values("pk"))
        if chosen == "orphans":
            return tasks.filter(position__isnull=False).exclude(kind__in=watching.live_kinds())
        return tasks


class KindFilter(admin.SimpleListFilter):
    """The kinds of this release: those in the table could be told only by reading all of it."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        asked = request.GET.get(self.parameter_name)
        kinds = {*known().kinds, *([asked] if asked else [])}
        return [(kind, kind) for kind in sorted(kinds)]

    def queryset(self, request: HttpRequest, tasks: QuerySet[Task]) -> QuerySet[Task]:
        return tasks.filter(kind=self.value()) if self.value() else tasks


class TaskList(ChangeList):
    """The page's tasks, each with the reasons why it waits."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        reasons = why_they_wait(task for task in self.result_list if task.status in CLAIMABLE)
        for task in self.result_list:
            task.reasons = reasons.get(task.pk, [])


@admin.register(Task)
class TaskAdmin(Evidence, ModelAdmin):
    list_display = ["id", "state", "kind", "subject", "waits", "error", "advance", "tried", "worker", "age"]
    list_fullwidth = True
    list_filter = [NowFilter, "status", KindFilter]
    search_fields = ["=id", "subject", "kind", "worker", "host", "account", "release", "error"]
    ordering = ["-id"]
    fieldsets = [
        (None, {"fields": ["state", "kind", "subject", "account", "host", "priority", "parent", "children"]}),
        ("Time", {"fields": ["created_at", "not_before", "position", "started_at", "finished_at"]}),
        ("Attempts", {"fields": ["tries", "worker", "release", "progress", "note", "history"]}),
        ("Data", {"fields": ["payload", "result", "dedupe_key", "key_until", "cancel_requested_at"]}),
    ]
    readonly_fields = ["state", "created_at", "position", "children", "tries", "history"]
    raw_id_fields = ["parent"]
    actions = ["retry", "run_now", "cancel"]
    paginator = InfinitePaginator  # a count would read everything that is kept, on every page
    show_full_result_count = False
    change_form_outer_before_template = "admin/queue/task_why.html"

    class Media:
        css = {"all": ["console.css"]}

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **kwargs: Any
    ) -> Paginator[Any]:
        """A task's history is short: it is counted."""
        if queryset.model is LogEntry:
            return Paginator(queryset, *args, **kwargs)
        unpaged: Paginator[Any] = super().get_paginator(request, queryset, *args, **kwargs)
        return unpaged

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return TaskList

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("overview/", view(self.overview), name="queue_overview"),
            path("<int:task_id>/do/<slug:verb>/", view(require_POST(self.do)), name="queue_task_do"),
            *super().get_urls(),
        ]

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
        return progress(task) or "-"

    @admin.display(description="Attempts", ordering="attempts")
    def tried(self, task: Task) -> str:
        return f"{task.retries_spent} of {task.max_attempts}"

    @admin.display(description="Attempts", ordering="attempts")
    def tries(self, task: Task) -> str:
        given_back = f", {task.resumes} of them given back" if task.resumes else ""
        return f"{task.attempts}{given_back}; at most {task.max_attempts} may fail"

    @admin.display(description="Waits because", ordering="not_before")
    def waits(self, task: Any) -> str | SafeString:
        if not task.reasons:
            return "-"
        return "nothing: a free worker takes it" if is_free(task.reasons) else said(task.reasons)

    @admin.display(description="Children")
    def children(self, task: Task) -> str | SafeString:
        """Links to the first ones, and how many there are."""
        first = list(task.children.order_by("pk").only("pk", "kind", "status")[: MOST_CHILDREN + 1])
        links = format_html_join(
            ", ",
            '<a href="{}">{}</a> {}',
            (
                (reverse("admin:queue_task_change", args=[child.pk]), child.pk, child.get_status_display())
                for child in first[:MOST_CHILDREN]
            ),
        )
        more = " …" if len(first) > MOST_CHILDREN else ""
        return format_html('<span class="q-links">{}{}</span>', links, more) if first else "-"

    @admin.display(description="Failed attempts")
    def history(self, task: Task) -> str | SafeString:
        """Newest first: when, where, and what was said."""
        blocks = format_html_join(
            "",
            "<div>attempt {}, {}, {}<pre>{}</pre></div>",
            (
                (one.get("attempt"), one.get("at"), one.get("worker") or "no worker", one.get("error"))
                for one in reversed(task.errors)
            ),
        )
        return format_html('<div class="q-history">{}</div>', blocks) if blocks else "-"

    @admin.action(description="Retry what failed or was cancelled", permissions=["operate"])
    def retry(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        self._apply(request, tasks, "retry")

    @admin.action(description="Run now what waits for its time", permissions=["operate"])
    def run_now(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        self._apply(request, tasks, "run-now")

    @admin.action(description="Cancel", permissions=["operate"])
    def cancel(self, request: HttpRequest, tasks: QuerySet[Task]) -> None:
        self._apply(request, tasks, "cancel")

    def overview(self, request: HttpRequest) -> HttpResponse:
        """The whole queue on one page."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        hours = request.GET.get("hours", "")
        chosen = int(hours) if hours.isdecimal() and int(hours) in HOURS else USUAL_HOURS
        context = {
            **self.admin_site.each_context(request),
            **overview(chosen),
            "title": "Queue",
            "may_operate": self.has_operate_permission(request),
        }
        return TemplateResponse(request, "admin/queue/overview.html", context)

    def do(self, request: HttpRequest, task_id: int, verb: str) -> HttpResponse:
        """One task, by a button of its page or of the overview; back to where that was."""
        if not self.has_operate_permission(request):
            raise PermissionDenied
        if verb not in VERBS:
            raise Http404
        self._apply(request, Task.objects.filter(pk=task_id), verb)
        back = request.POST.get("next", "")
        if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
            back = reverse("admin:queue_task_change", args=[task_id])
        return HttpResponseRedirect(back)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        task = self.get_object(request, object_id)
        extra: dict[str, Any] = {
            "reasons": [said([reason]) for reason in why_waiting(task)] if task else [],
            "verbs": verbs_for(task) if task and self.has_operate_permission(request) else [],
        }
        answer: HttpResponse = super().change_view(
            request, object_id, form_url, {**(extra_context or {}), **extra}
        )
        return answer

    def _apply(self, request: HttpRequest, tasks: QuerySet[Task], verb: str) -> None:
        change, words, _ = VERBS[verb]
        rows = list(tasks.only("pk", "kind", "subject").order_by("pk"))  # parents first, as everybody locks
        unchanged: list[Task] = []
        for task in rows:
            try:
                has_changed = change(task.pk)
            except KeyHeld as held:
                has_changed = False
                self.message_user(request, f"{held}.", messages.WARNING)
            if has_changed:
                self.log_change(request, task, words)
            else:
                unchanged.append(task)
        changed = len(rows) - len(unchanged)
        level = messages.SUCCESS if changed else messages.WARNING
        self.message_user(request, f"{words}: {changed} of {len(rows)}.", level)
        reasons = why_they_wait(unchanged[:MOST_EXPLAINED])
        for task_id, why in reasons.items():
            self.message_user(request, f"Task {task_id} is as it was: {_words(why)}.", messages.WARNING)


# What an operator may do with a task: the service, its words for several tasks, and the button's.
VERBS: dict[str, tuple[Callable[[int], bool], str, str]] = {
    "retry": (retry, "Tasks pending again", "Retry"),
    "run-now": (run_now, "Tasks that are due now, before others", "Run now"),
    "cancel": (request_cancel, "Tasks cancelled or asked to stop", "Cancel"),
}


def verbs_for(task: Task) -> list[tuple[str, str]]:
    """The buttons that could change the task as it is."""
    if task.status in (TaskStatus.FAILED, TaskStatus.CANCELLED):
        fit = ["retry"]
    elif task.status in CLAIMABLE:
        is_first = task.position is not None and task.priority <= URGENT
        fit = ["cancel"] if is_first else ["run-now", "cancel"]
    else:
        fit = [] if task.status == TaskStatus.DONE or task.is_cancelling else ["cancel"]
    return [(verb, VERBS[verb][2]) for verb in fit]


def _words(reasons: list[Reason]) -> str:
    return "; ".join(reason.words for reason in reasons)


def said(reasons: list[Reason]) -> SafeString:
    """The reasons as text with links to the tasks that they name."""
    return format_html_join("; ", "{}", ((_linked(reason),) for reason in reasons))


def _linked(reason: Reason) -> SafeString:
    parts = re.split(r"\btask (\d+)", reason.words)
    words = [
        format_html('<a href="{}">task {}</a>', reverse("admin:queue_task_change", args=[part]), part)
        if number % 2 and int(part) in reason.task_ids
        else format_html("{}{}", "task " if number % 2 else "", part)
        for number, part in enumerate(parts)
    ]
    return mark_safe("".join(words))  # noqa: S308 - each part is escaped


@admin.register(Worker)
class WorkerAdmin(Evidence, ModelAdmin):
    list_display = ["name", "state", "heard", "current", "memory", "release", "hostname", "pid", "started_at"]
    list_filter = ["release", "hostname"]
    search_fields = ["name", "hostname"]
    fields = ["name", "state", "current", "memory", "heard", "started_at", "lease_expires_at", "lost_at"]
    fields += ["kinds", "release", "image_digest", "hostname", "pid"]
    readonly_fields = ["state", "current", "memory", "heard", "started_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        return watching.workers()

    @display(description="State", ordering="lease_expires_at", label={"alive": "success"})
    def state(self, worker: Any) -> str:
        return worker_state(worker, timezone.now())

    @admin.display(description="Heartbeat", ordering="last_seen_at")
    def heard(self, worker: Worker) -> str:
        return f"{duration((timezone.now() - worker.last_seen_at).total_seconds())} ago"

    @admin.display(description="In hand")
    def current(self, worker: Any) -> str | SafeString:
        if not worker.tasks:
            return "-"
        url = reverse("admin:queue_task_change", args=[worker.tasks[0]["id"]])
        return format_html('<a href="{}">{}</a>', url, held(worker.tasks))

    @admin.display(description="Memory", ordering="memory_bytes")
    def memory(self, worker: Worker) -> str:
        return megabytes(worker.memory_bytes)


@admin.register(HostBudget)
class HostBudgetAdmin(Evidence, ModelAdmin):
    list_display = ["host", "egress", "state", "pace", "floor", "ceiling", "accepted", "refused"]
    list_filter = ["egress"]
    search_fields = ["host"]
    ordering = ["-next_slot_at"]

    @display(description="State", ordering="next_slot_at", label={"open": "success"})
    def state(self, budget: HostBudget) -> str:
        return host_state(budget, timezone.now())

    @admin.display(description="Seconds between requests", ordering="pace_seconds")
    def pace(self, budget: HostBudget) -> str:
        return f"{budget.pace_seconds:.2f}"
