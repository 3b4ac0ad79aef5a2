"""What a person has in flight, and what the machines that watch ask for."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from taskqueue.errors import KeyHeld
from taskqueue.metrics import Scrape
from taskqueue.models import Task, TaskStatus, account_of
from taskqueue.realtime import HUB
from taskqueue.services import request_cancel, retry

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via")

scrape = Scrape()


@never_cache
@login_required
@require_safe
def tasks(request: HttpRequest) -> HttpResponse:
    """The person's own tasks that have not ended (Q15)."""
    return render(request, "queue/tasks.html", {"has_stream": HUB in request.META})


@login_required
@require_POST
def cancel(request: HttpRequest, task_id: int) -> HttpResponse:
    """An own task that has not ended is cancelled (Q10); another's is as unknown as none (V4)."""
    task = _own_task(request, task_id)
    if not request_cancel(task.pk):
        messages.info(request, "It had just ended by itself.")
    elif task.status == TaskStatus.RUNNING:
        messages.success(request, "It is being cancelled: it stops at its next step.")
    elif task.status == TaskStatus.AWAITING_BATCH:
        messages.success(
            request, "Cancelled. What was submitted is paid for; its answers can still be collected."
        )
    else:
        messages.success(request, "Cancelled.", extra_tags=reverse("queue:restart", args=[task.pk]))
    return _back(request)


@login_required
@require_POST
def restart(request: HttpRequest, task_id: int) -> HttpResponse:
    """An own task that was cancelled waits for its turn again; another's is as unknown as none (V4)."""
    task = _own_task(request, task_id)
    try:
        has_restarted = task.status == TaskStatus.CANCELLED and retry(task.pk)
    except KeyHeld:
        has_restarted = False
    if has_restarted:
        messages.success(request, "It waits for its turn again.")
    else:
        messages.info(request, "There is nothing to take back: it was asked for again, or had ended.")
    return _back(request)


def _own_task(request: HttpRequest, task_id: int) -> Task:
    assert request.user.is_authenticated
    return get_object_or_404(Task, pk=task_id, account=account_of(request.user))


def _back(request: HttpRequest) -> HttpResponse:
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(back if is_ours else reverse("queue:tasks"))


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The queue for Prometheus; whoever may not ask learns nothing, not even that it is here."""
    if not _may_scrape(request):
        raise Http404
    try:
        return HttpResponse(scrape.text(), content_type=CONTENT_TYPE_LATEST)
    except Error as error:
        return HttpResponse(f"the database did not answer: {error}", status=503, content_type="text/plain")


def _may_scrape(request: HttpRequest) -> bool:
    """With METRICS_TOKEN whoever shows it; without, only this very machine, and only on a local checkout.

    A proxy on this machine makes everybody look local: what it forwarded is refused.
    """
    if settings.METRICS_TOKEN:
        shown = request.headers.get("Authorization", "")
        return constant_time_compare(shown, f"Bearer {settings.METRICS_TOKEN}")
    is_forwarded = any(name in request.headers for name in FORWARDED)
    return settings.IS_LOCAL and not is_forwarded and _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:  # a socket file has no address
        return False
