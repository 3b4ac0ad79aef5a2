"""What ends a handler early, and what a host's budget answers when it has no slot."""

from __future__ import annotations

from datetime import datetime


class Stopped(BaseException):
    """The handler is to end here. No Exception: its own `except Exception` must not keep it running."""


class ClaimLost(Stopped):
    """The claim is another worker's, or cannot be proven to be this one's: write nothing more."""


class Cancelled(Stopped):
    """Somebody asked for the task to be cancelled."""


class ShuttingDown(Stopped):
    """The worker is told to go: the task is given back and runs again elsewhere."""


class HostBusy(Exception):
    """No request may go to the host before `until` (the database's clock); no slot was taken."""

    def __init__(self, host: str, until: datetime) -> None:
        super().__init__(f"{host} takes no request before {until:%Y-%m-%d %H:%M:%S %Z}")
        self.host = host
        self.until = until


class PayloadTooLarge(ValueError):
    """The payload is not queued: what is large belongs into the object store, and its name into the task."""

    def __init__(self, kind: str, size: int, limit: int) -> None:
        super().__init__(
            f"the payload of a {kind} task is {size:,} bytes long, of {limit:,} allowed;"
            " keep the data elsewhere and queue its name"
        )


class KeyHeld(Exception):
    """A task cannot be retried: another one, queued since with the same key, has it."""

    def __init__(self, task_id: int, holder: int | None) -> None:
        other = "another task" if holder is None else f"task {holder}"
        super().__init__(
            f"task {task_id} is not retried: {other} was queued for the same since and has not ended"
        )
        self.holder = holder


class UnreadablePayload(Exception):
    """The payload in the row is no JSON that this process can read."""
