"""What of a task leaves the server, and to whom."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from taskqueue.models import Task

COLUMNS = (
    "id",
    "kind",
    "status",
    "cancel_requested_at",
    "attempts",
    "progress",
    "error",
    "subject",
    "account",
)
ERROR_CHARACTERS = 500
PROGRESS_NOTE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a task when it was read. No payload, no worker and no traceback is ever in it.

    `status` is the state in words, as `Task.state` says it.
    """

    id: int
    kind: str
    status: str
    attempts: int
    progress: dict[str, Any] | None
    error: str
    subject: str
    account: str

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """From the values of COLUMNS."""
        values = dict(zip(COLUMNS, row, strict=True))
        state = Task(status=values["status"], cancel_requested_at=values.pop("cancel_requested_at")).state()
        return cls(**{**values, "status": state, "progress": _progress(values["progress"])})

    def message(self, *, is_staff: bool) -> bytes:
        """The event. Who is not staff reads the first line of an error: where it rose is not theirs."""
        error = self.error if is_staff else self.error.strip().partition("\n")[0]
        return event(
            {
                "type": "task",
                "id": self.id,
                "kind": self.kind,
                "status": self.status,
                "attempts": self.attempts,
                "progress": self.progress,
                "error": error[:ERROR_CHARACTERS],
                "subject": self.subject,
            }
        )


def event(said: dict[str, Any]) -> bytes:
    """One server-sent event. JSON escapes the line breaks that would end it."""
    return b"data: " + json.dumps(said, separators=(",", ":")).encode() + b"\n\n"


def query(ids: Iterable[int], accounts: Iterable[str] | None) -> tuple[str, tuple[Any, ...]]:
    """SQL and parameters for the COLUMNS of these tasks; with `accounts`, only of theirs."""
    tasks = Task.objects.filter(pk__in=list(ids))
    if accounts is not None:
        tasks = tasks.filter(account__in=list(accounts))
    return tasks.order_by("pk").values_list(*COLUMNS).query.sql_with_params()


def _progress(saved: Any) -> dict[str, Any] | None:
    if not isinstance(saved, dict):
        return None
    note = str(saved.get("note") or "")[:PROGRESS_NOTE_CHARACTERS]
    return {"done": saved.get("done"), "total": saved.get("total"), "note": note}
