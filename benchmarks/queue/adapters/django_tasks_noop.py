"""The task of `adapters.django_tasks`: found by this module's path, and declared when settings are there."""

from __future__ import annotations

from django_tasks import task

from benchmarks.queue.recorder import Recorder

recorders: list[Recorder] = []  # a worker's own; a producer has none


@task()
def noop(number: int) -> None:
    for recorder in recorders:
        recorder.note(number)
