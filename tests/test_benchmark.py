"""The benchmarks: their arithmetic, their verdicts, and what a person sees who asks for the wrong thing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils.module_loading import import_string

from benchmarks import BENCHMARKS
from benchmarks.queue import cases, recorder, report
from benchmarks.queue.cases import Run
from benchmarks.queue.figures import median, per_task, percentile, rate, ratio, rounded
from benchmarks.queue.lines import Line, judge
from benchmarks.queue.parts import PARTS
from config.settings import BASE_DIR

MILLISECOND = 1_000_000


def test_a_rate_leaves_out_the_start_and_the_end() -> None:
    steady = [number * MILLISECOND for number in range(1_000)]
    slow_start = [0, *(10**12 + at for at in steady)]

    assert rate(steady) == pytest.approx(1_000)
    assert rate(slow_start) == pytest.approx(1_000)


@pytest.mark.parametrize("times", [[], [5] * 1_000, list(range(20))])
def test_too_little_to_tell_has_no_rate(times: list[int]) -> None:
    assert rate(times) is None


def test_a_percentile_is_a_value_that_was_measured() -> None:
    hundred = list(range(1, 101))

    assert [percentile(hundred, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert percentile([7], 0.95) == 7
    assert percentile([], 0.95) is None


def test_what_was_not_measured_stays_unknown() -> None:
    assert median([None, 3.0, 1.0]) == 2.0
    assert median([None]) is None
    assert ratio(1.0, None) is None
    assert ratio(1.0, 0.0) is None
    assert per_task(None, 5.0, 100) is None
    assert per_task(1.0, 5.0, 2) is None
    assert per_task(1.0, 201.0, 100) == 2.0


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.123456, 0.123), (12.3456, 12.3), (123456.7, 123457), (0.0, 0.0), (None, None)]
)
def test_figures_are_rounded_to_what_they_are_worth(exact: float | None, shown: float | None) -> None:
    assert rounded(exact) == shown


def drained(number: int, case: cases.Case, rate: float, **figures: float | None) -> Run:
    return Run("drain", number, case.name, figures={"tasks_per_s": rate, **figures})


def test_systems_are_compared_within_a_round_and_rounds_by_their_median() -> None:
    runs = [
        drained(0, cases.OURS, 1_000, pair_per_s=1_000),
        drained(0, cases.PROCRASTINATE, 250),
        drained(1, cases.OURS, 100, pair_per_s=400),
        drained(1, cases.PROCRASTINATE, 100),
        drained(2, cases.OURS, 900, pair_per_s=1_800),
        drained(2, cases.PROCRASTINATE, 300),
    ]

    lines = {line.name: line for line in judge(runs)}

    assert lines["drain, 1 worker: x procrastinate"].value == 3.0
    assert lines["drain, 1 worker: x procrastinate"].verdict == "pass"
    assert lines["drain, 1 worker: x pgbench pair"].value == 0.5
    assert lines["drain, 1 worker: commits a task"].verdict == "not measured"
    assert not any(name.startswith("pickup") for name in lines)


def test_a_round_in_which_one_side_failed_is_no_comparison() -> None:
    runs = [
        drained(0, cases.OURS, 1_000),
        Run("drain", 0, cases.PROCRASTINATE.name, error="it did not start"),
        drained(1, cases.OURS, 100),
        drained(1, cases.PROCRASTINATE, 50),
    ]

    assert judge(runs)[0].value == 2.0
    assert "it did not start" in report.table(runs, judge(runs))


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (Line("a", 2.0, 2.0), "pass"),
        (Line("a", 1.9, 2.0), "fail"),
        (Line("a", 1.5, 1.5, at_least=False), "pass"),
        (Line("a", 1.6, 1.5, at_least=False), "fail"),
        (Line("a", None, 1.5), "not measured"),
        (Line("a", 1.5), "reported"),
    ],
)
def test_a_bound_itself_is_met(line: Line, verdict: str) -> None:
    assert line.verdict == verdict


def test_every_part_has_lines_and_a_report_can_be_written() -> None:
    runs = [Run(part, 0, cases.OURS.name) for part in PARTS]

    lines = judge(runs)

    assert {line.verdict for line in lines} == {"not measured"}
    assert len(lines) > 15
    assert "not measured" in report.table(runs, lines)
    json.dumps([report.medians(runs), [line.as_json() for line in lines]])


FORKING = """
import os, pathlib, sys
from benchmarks.queue.recorder import Recorder

recorder = Recorder(pathlib.Path(sys.argv[1]))
recorder.note(1)
if child := os.fork():
    os.waitpid(child, 0)
    recorder.note(3)
else:
    recorder.note(2)
"""


def test_a_forked_worker_notes_beside_its_parent_and_all_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKING, str(tmp_path)], cwd=BASE_DIR, check=True, timeout=60)

    events = recorder.read(tmp_path)

    assert recorder.count(tmp_path) == 3
    assert [event.number for event in events] == [1, 2, 3]
    assert events[0].pid == events[2].pid != events[1].pid


def test_every_registered_benchmark_can_be_imported() -> None:
    assert all(callable(import_string(path)) for path in BENCHMARKS.values())


def test_an_unknown_benchmark_is_named_beside_those_there_are() -> None:
    with pytest.raises(CommandError, match="no benchmark nothing; there are queue"):
        call_command("benchmark", "nothing")


def test_an_unknown_part_is_named_before_anything_is_started() -> None:
    with pytest.raises(CommandError, match=r"no part nothing .* there are drain, short"):
        call_command("benchmark", "queue", "--only", "drain,nothing")


def test_help_names_the_benchmarks_and_rounds_are_at_least_one() -> None:
    told = manage("--help")
    refused = manage("queue", "--rounds", "0")

    assert told.returncode == 0
    assert "queue" in told.stdout
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "benchmark", *arguments]
    return subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True, timeout=60)
