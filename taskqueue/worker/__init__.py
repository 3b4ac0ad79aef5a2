"""The process that runs tasks, one at a time, while a pulse keeps the claim alive and a ticker the queue."""

from __future__ import annotations

from taskqueue.worker.loop import WorkerLoop
from taskqueue.worker.supervisor import Supervisor

__all__ = ["Supervisor", "WorkerLoop"]
