"""How far everything is, in a line."""

from __future__ import annotations

import pytest

from config.pipeline import Pipeline
from tests.taskqueue.factories import TaskFactory

pytestmark = pytest.mark.django_db


def test_what_only_another_release_can_run_is_named_and_waited_for_by_nobody() -> None:
    """`start --exit-when-idle` waited for it for ever, without a word."""
    before = Pipeline.now()
    TaskFactory.create(kind="legacy.kind")

    now = Pipeline.now()

    assert (now.tasks, now.is_idle) == (before.tasks, before.is_idle)
    assert "only another release can run: legacy.kind" in now.line()


def test_what_this_release_can_run_is_waited_for() -> None:
    TaskFactory.create(kind="catalog.pull")

    assert Pipeline.now().tasks == 1
    assert not Pipeline.now().is_idle
