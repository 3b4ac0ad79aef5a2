"""Q14: what a handler returns is in the row, or the row says why not."""

from __future__ import annotations

from typing import Any

import pytest

from taskqueue.handlers import Claim, Done, Outcome, Registry
from taskqueue.models import Task, TaskStatus
from taskqueue.services import claims
from taskqueue.worker import WorkerLoop, loop
from taskqueue.worker.line import Line
from tests.taskqueue.factories import RunningTaskFactory, TaskFactory
from tests.taskqueue.lines import SharedLine

pytestmark = pytest.mark.django_db


def run(*results: Any, line: Line | None = None) -> list[Task]:
    """A task for each, which returns it: short ones, run and recorded together."""
    registry = Registry()

    @registry.handler("test.work", short=True)
    def body(claim: Claim) -> Outcome:
        return Done(result=results[claim.payload["number"]])

    made = [TaskFactory.create(payload={"number": number}) for number in range(len(results))]
    worker = WorkerLoop(registry, line=line or SharedLine())
    worker._short_seconds = 0.0  # as quick as can be: as many as can be
    while worker.step():
        pass
    return [Task.objects.get(pk=task.pk) for task in made]


@pytest.fixture(autouse=True)
def _in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SHORT_SECONDS", 600.0)


@pytest.mark.parametrize(
    "result",
    [None, 0, False, "", "50% of ‘it’\n", 1.5, [], [1, None], {"rows": 12, "names": ["ä", "b"]}],
    ids=repr,
)
def test_a_result_is_what_the_row_holds(result: Any) -> None:
    [task] = run(result)

    assert (task.status, task.error) == (TaskStatus.DONE, "")
    assert task.result == result


def test_a_result_that_is_recorded_by_itself_is_the_same() -> None:
    task = RunningTaskFactory.create()

    assert claims.finish(task.token, result={"rows": 12})

    assert Task.objects.get().result == {"rows": 12}


def test_a_result_that_is_no_json_fails_its_task_with_the_reason() -> None:
    endless: list[Any] = []
    endless.append(endless)

    an_object, a_circle, fine = run(object(), endless, "fine")

    assert (an_object.status, a_circle.status) == (TaskStatus.FAILED, TaskStatus.FAILED)
    assert "TypeError: Object of type object is not JSON serializable" in an_object.error
    assert "ValueError: Circular reference" in a_circle.error
    assert (fine.status, fine.result) == (TaskStatus.DONE, "fine")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("bad", ["page \x00", {"\x00": 1}, float("nan"), "\ud800"], ids=ascii)
def test_a_result_that_no_row_can_hold_fails_its_task_and_spoils_no_other(bad: Any) -> None:
    """JSON in Python, and none that PostgreSQL keeps: the statement that records many is refused whole."""
    line = Line("results")
    tasks = run("first", "second", bad, "last", line=line)
    line.close()

    assert [task.status for task in tasks] == ["done", "done", "failed", "done"]
    assert [task.result for task in tasks] == ["first", "second", None, "last"]
    assert "cannot be recorded" in tasks[2].error
    assert {task.attempts for task in tasks} == {1}
