"""The processes that run tasks, one at a time each, and the one beside them that ticks."""

from __future__ import annotations

from taskqueue.worker.loop import WorkerLoop
from taskqueue.worker.supervisor import Supervisor
from taskqueue.worker.ticks import Ticker

__all__ = ["Supervisor", "Ticker", "WorkerLoop"]
