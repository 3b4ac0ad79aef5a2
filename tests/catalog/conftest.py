from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pytest_django import Settings

from tests.catalog.servers import LocalServers


@pytest.fixture
def local(settings: Settings) -> Iterator[LocalServers]:
    with ExitStack() as stack:
        yield LocalServers(settings, stack)
