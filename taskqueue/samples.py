"""What the queue looked like, minute by minute."""

from __future__ import annotations

from django.db import models


class Sample(models.Model):
    """One minute. Whichever ticker comes first takes it; a minute in which none ran has no row.

    NULL is unknown: the row was made for what the reaper found, and nobody has counted the rest.
    """

    at = models.DateTimeField(primary_key=True, help_text="The minute's beginning.")
    depth = models.IntegerField(null=True, help_text="Tasks in line.")
    oldest_seconds = models.FloatField(null=True, help_text="For how long the oldest of them has been due.")
    running = models.IntegerField(null=True)
    not_due = models.IntegerField(null=True, help_text="Pending, to start later.")
    awaiting_batch = models.IntegerField(null=True, help_text="Not to be looked at yet.")
    waiting = models.IntegerField(null=True, help_text="For children.")
    failed = models.IntegerField(null=True, help_text="In the minute before it was taken.")
    workers = models.IntegerField(null=True, help_text="Alive.")
    reaped = models.IntegerField(
        db_default=0, help_text="Attempts lost with their worker, to be tried again."
    )
    lost = models.IntegerField(db_default=0, help_text="Those that were the last: the task failed.")

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
