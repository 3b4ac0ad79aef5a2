"""Changes to the queue. What other apps call is here; the worker's own verbs are in the modules."""

from __future__ import annotations

from taskqueue.services.tasks import (
    Enqueued,
    New,
    enqueue,
    enqueue_children,
    enqueue_many,
    request_cancel,
    retry,
)

__all__ = ["Enqueued", "New", "enqueue", "enqueue_children", "enqueue_many", "request_cancel", "retry"]
