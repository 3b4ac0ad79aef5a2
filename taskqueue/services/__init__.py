"""Changes to the queue. What other apps call is here; the worker's own verbs are in the modules."""

from __future__ import annotations

from taskqueue.services.tasks import Enqueued, enqueue, enqueue_children, request_cancel, retry

__all__ = ["Enqueued", "enqueue", "enqueue_children", "request_cancel", "retry"]
