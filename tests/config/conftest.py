from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import Embedded


def open_folder() -> Path:
    """A short folder that any account can enter; pytest's own is long, and private when root runs it."""
    path = Path(tempfile.mkdtemp(prefix="rc-"))
    path.chmod(0o755)
    return path


@pytest.fixture
def folder() -> Iterator[Path]:
    path = open_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def server(folder: Path) -> Iterator[Embedded]:
    """A throw-away server, not started yet."""
    throwaway = Embedded(folder / "pg", durable=False)
    yield throwaway
    throwaway.destroy()


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Embedded]:
    path = open_folder()
    throwaway = Embedded(path / "pg", durable=False)
    yield throwaway
    throwaway.destroy()
    shutil.rmtree(path)


@pytest.fixture
def running(shared_server: Embedded) -> Embedded:
    """A running throw-away server, for tests that leave a server that starts again."""
    shared_server.start()
    return shared_server
