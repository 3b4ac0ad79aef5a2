from __future__ import annotations

from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded responses and corpora beside the project; tests that need it skip without it."""
    folder = PROJECT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the recorded responses and corpora (../shared) are not on this machine")
    return folder
