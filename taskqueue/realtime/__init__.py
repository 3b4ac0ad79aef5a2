"""Realtime (Q13): the current state of tasks, as they change, to the people who may see them (Q15).

    NOTIFY queue_changed, '12,15' ──▶ Listener: one connection a process ──▶ Hub ──▶ EventStream, one a client
                                      collects ids, reads rows once          fans out  merges for slow clients

Best effort, and snapshots only: whoever missed one is told to read again, and every page also works without.
"""

from __future__ import annotations

from taskqueue.realtime.hub import Hub, Limits, Refused
from taskqueue.realtime.stream import HUB, EventStream

__all__ = ["HUB", "EventStream", "Hub", "Limits", "Refused"]
