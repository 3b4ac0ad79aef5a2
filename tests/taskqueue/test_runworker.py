"""What `runworker` makes of its arguments."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("option", ["kinds", "exclude_kinds"])
def test_a_kind_that_nobody_handles_is_named(option: str) -> None:
    with pytest.raises(CommandError, match="no handler for"):
        call_command("runworker", **{option: ["test.misspelt"]})


def test_no_worker_is_no_number_of_workers() -> None:
    with pytest.raises(CommandError, match="1 or more"):
        call_command("runworker", "--concurrency", "0")


def test_a_worker_that_would_run_nothing_is_none() -> None:
    with pytest.raises(CommandError, match="no kind is left"):
        call_command("runworker", kinds=["catalog.pull"], exclude_kinds=["catalog.pull"])
