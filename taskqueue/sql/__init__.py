"""Statements that the ORM cannot say.

The clock is statement_timestamp(), which is also Django's Now(): in a long transaction now() stands still.
A row that several statements may change is locked FOR NO KEY UPDATE, which a held claim (HOLD_CLAIM) lets
pass; only the reaper, a failed attempt and the ending of parents lock FOR UPDATE, which it does not.

A task that may start has a `position` in its line: when it was due, plus six seconds for each step of its
priority. Whatever takes it out of the line (a claim, a cancel, a wait) sets the position to NULL.
"""

from __future__ import annotations

WAKE_CHANNEL = "queue"  # something may be claimable
CANCEL_CHANNEL = "queue_cancel"  # something that runs is to stop
CHANGED_CHANNEL = "queue_changed"  # ids of tasks whose state people may be looking at

PATIENCE_SECONDS = 6  # of waiting make up for one step of priority, so that no priority starves
