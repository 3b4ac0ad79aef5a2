"""Every line that is logged while a task runs says which task, attempt, worker and release it comes from."""

from __future__ import annotations

import asyncio
import contextvars
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from config.logs import JsonFormatter, LineFormatter, WorkFilter, working_on
from taskqueue.handlers import Claim, Done, Outcome, Registry
from taskqueue.worker.loop import WorkerLoop
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.lines import SharedLine

library = logging.getLogger("some.library")


class Written:
    """What a handler with the formatter wrote, as the root logger's does."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.addFilter(WorkFilter())
        self.handler.setFormatter(formatter)

    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()

    def line(self, words: str) -> str:
        return next(line for line in self.lines() if words in line)


@pytest.fixture(params=[LineFormatter], ids=["line"])
def written(request: pytest.FixtureRequest) -> Iterator[Written]:
    written = Written(request.param())
    logging.getLogger().addHandler(written.handler)
    yield written
    logging.getLogger().removeHandler(written.handler)


in_json = pytest.mark.parametrize("written", [JsonFormatter], indirect=True, ids=["json"])


def run(work: Any) -> tuple[int, str]:
    """A worker runs one task with `work` as its handler; returns the task's id and the worker's name."""
    registry = Registry()

    def handle(claim: Claim) -> Outcome:
        work()
        return Done()

    registry.handler("test.work")(handle)
    task = TaskFactory.create()
    loop = WorkerLoop(registry, line=SharedLine())
    assert loop.step()
    return task.pk, loop.name


@pytest.mark.django_db
def test_a_library_s_line_says_the_task_that_it_was_logged_for(written: Written) -> None:
    task_id, worker = run(lambda: library.warning("slow answer"))

    line = written.line("slow answer")

    assert f"WARNING some.library slow answer task={task_id} kind=test.work attempt=1 worker=" in line
    assert f"worker={worker} release={settings.RELEASE}" in line
    library.warning("afterwards")
    assert "task=" not in written.line("afterwards")
    assert f"release={settings.RELEASE}" in written.line("afterwards")


@pytest.mark.django_db
@in_json
def test_as_json_a_line_is_one_object_with_the_same_names(written: Written) -> None:
    def work() -> None:
        try:
            raise ValueError("no such\nboard")
        except ValueError:
            library.exception("failed for %s", "source:7")

    task_id, worker = run(work)

    said = json.loads(written.line("failed for"))
    assert (said["level"], said["logger"], said["message"]) == (
        "ERROR",
        "some.library",
        "failed for source:7",
    )
    assert (said["task"], said["kind"], said["attempt"]) == (task_id, "test.work", 1)
    assert (said["worker"], said["release"]) == (worker, settings.RELEASE)
    assert "ValueError: no such\nboard" in said["exception"]
    assert said["at"].endswith("Z")


def test_a_coroutine_says_it_too_and_a_thread_with_a_copy_of_the_context(written: Written) -> None:
    async def fetch() -> None:
        library.info("from a coroutine")

    with working_on(task=7):
        copied, looped = contextvars.copy_context(), contextvars.copy_context()
        threads = [
            # A thread of its own: a test's browser may have a loop that runs in this one.
            threading.Thread(target=lambda: looped.run(asyncio.run, fetch())),
            threading.Thread(target=library.warning, args=["from a bare thread"]),
            threading.Thread(target=copied.run, args=[library.warning, "from a thread with context"]),
        ]
        for thread in threads:
            thread.start()
            thread.join()

    assert "task=7" in written.line("from a coroutine")
    assert "task=7" in written.line("from a thread with context")
    assert "task=7" not in written.line("from a bare thread")


def test_work_inside_work_adds_its_names_and_takes_them_away(written: Written) -> None:
    def fail() -> None:
        with working_on(batch="two words"):
            library.warning("inside")
            raise ZeroDivisionError

    with working_on(task=7):
        with pytest.raises(ZeroDivisionError):
            fail()
        library.warning("outside")

    assert 'task=7 batch="two words"' in written.line("inside")
    assert "batch" not in written.line("outside")


def test_a_name_that_the_message_says_itself_is_not_said_twice(written: Written) -> None:
    with working_on(task=7, attempt=1):
        library.warning("task=7 attempt=12 started")

    line = written.line("started")
    assert line.count("task=7") == 1
    assert line.endswith(f" attempt=1 release={settings.RELEASE}")


def test_what_is_logged_forges_no_line(written: Written) -> None:
    """R9: a title is anybody's text."""
    library.warning("title: %s", "Nurse\n2026-11-29 INFO root all is well\x1b[2J\u2028")
    with working_on(kind='a"b\nc'):
        library.warning("odd name")

    first, second = written.lines()
    assert r"Nurse\n2026-11-29 INFO root all is well\x1b[2J\u2028" in first
    assert r'kind="a\"b\nc"' in second


def test_the_lines_of_a_traceback_follow_indented(written: Written) -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        library.exception("failed")

    first, *rest = written.lines()
    assert first.endswith(f"failed release={settings.RELEASE}")
    assert rest
    assert all(line.startswith("  ") for line in rest)


def test_the_root_logger_writes_so() -> None:
    handlers = [one for one in logging.getLogger().handlers if one.name == "stderr"]

    assert [type(one.formatter) for one in handlers] == [LineFormatter]
    assert [type(one) for one in handlers[0].filters] == [WorkFilter]
