"""What the documents promise is there."""

from __future__ import annotations

import re

import pytest
from django.core.management import get_commands

from config.settings import BASE_DIR
from taskqueue.handlers import known

OPERATIONS = (BASE_DIR / "OPERATIONS.md").read_text()
OURS = ("config", "taskqueue", "catalog", "reviews", "boards", "tracker", "mailsync")


def test_every_environment_name_is_in_the_operations_page() -> None:
    read = re.findall(r'_env\.\w+\(\s*"([A-Z_]+)"', (BASE_DIR / "config/env.py").read_text())

    assert len(read) > 15
    assert [name for name in read if f"`{name}`" not in OPERATIONS] == []


def test_every_command_is_in_the_operations_page() -> None:
    commands = [name for name, app in get_commands().items() if app in OURS]

    assert len(commands) > 8
    assert [name for name in commands if f"`{name}`" not in OPERATIONS] == []


@pytest.mark.parametrize("page", ["OPERATIONS.md", "ARCHITECTURE.md"])
def test_every_kind_of_task_is_named(page: str) -> None:
    text = (BASE_DIR / page).read_text()

    assert known().kinds
    assert [kind for kind in known().kinds if f"`{kind}`" not in text] == []


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "OPERATIONS.md", "CONTRIBUTING.md"])
def test_links_and_paths_lead_somewhere(page: str) -> None:
    text = (BASE_DIR / page).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    named = re.findall(
        r"`((?:catalog|reviews|boards|tracker|taskqueue|config|static|templates|tests)/[\w./]+)`", text
    )

    assert [path for path in (*links, *named) if not (BASE_DIR / path).exists()] == []


def test_the_list_of_other_queues_reports_names_tests_that_exist_and_leaves_none_out() -> None:
    named = re.findall(r"`(test_\w+)`", (BASE_DIR / "docs/peers.md").read_text())
    pages = [path.read_text() for path in (BASE_DIR / "tests/races").glob("test_peer_*.py")]
    there = [name for page in pages for name in re.findall(r"^def (test_\w+)", page, re.MULTILINE)]

    assert len(there) > 60
    assert set(named) == set(there)
