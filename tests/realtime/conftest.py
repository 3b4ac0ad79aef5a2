from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.factories import UserFactory
from tests.realtime.server import Server, web
from tracker.models import User


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for the tests of a module, with quick beats and looks."""
    with web(tmp_path_factory.mktemp("web"), beat_seconds=0.2, recheck_seconds=0.3) as server:
        yield server


@pytest.fixture
def anna(transactional_db: None) -> User:
    return UserFactory.create(username="anna")


@pytest.fixture
def ben(transactional_db: None) -> User:
    return UserFactory.create(username="ben")


@pytest.fixture
def staff(transactional_db: None) -> User:
    return UserFactory.create(username="staff", is_staff=True)
