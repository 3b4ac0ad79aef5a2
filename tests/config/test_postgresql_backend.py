"""Django's connections to the embedded server, which they start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connections
from pytest_django import DjangoDbBlocker

from config import embedded
from config.embedded import Embedded
from config.postgresql.base import DatabaseWrapper
from tests.config.test_embedded import kill_server

ALIAS = "throwaway"  # Django keeps one pool an alias
POOL = {"min_size": 0, "max_size": 2, "timeout": 10}


@contextlib.contextmanager
def connection_to(server: Embedded, **options: object) -> Iterator[DatabaseWrapper]:
    connections.databases[ALIAS] = connections.configure_settings(
        {
            "default": {},
            ALIAS: {
                "ENGINE": "config.postgresql",
                "NAME": embedded.DATABASE,
                "USER": embedded.USER,
                "HOST": str(server.socket_dir()),
                "CONN_HEALTH_CHECKS": True,
                "OPTIONS": options,
            },
        }
    )[ALIAS]
    wrapper = connections[ALIAS]
    assert isinstance(wrapper, DatabaseWrapper)
    try:
        yield wrapper
    finally:
        wrapper.close()
        wrapper.close_pool()
        del connections[ALIAS], connections.databases[ALIAS]


@pytest.fixture(params=["pool", "no pool"])
def connection(
    request: pytest.FixtureRequest,
    shared_server: Embedded,
    django_db_blocker: DjangoDbBlocker,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[DatabaseWrapper]:
    """A connection, not made yet, to a server that does not run yet."""
    shared_server.stop()
    monkeypatch.setattr(DatabaseWrapper, "server", shared_server)
    options = {"pool": POOL} if request.param == "pool" else {}
    with django_db_blocker.unblock(), connection_to(shared_server, **options) as wrapper:
        yield wrapper


def answer(connection: DatabaseWrapper) -> int:
    """One request's worth: connect, ask, give the connection back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 42")
        (found,) = cursor.fetchone()
    connection.close()
    return int(found)


def test_the_first_connection_starts_the_server(connection: DatabaseWrapper) -> None:
    assert not connection.server.is_reachable()
    assert answer(connection) == 42
    assert connection.server.is_reachable()


def test_the_connection_after_a_killed_server_starts_it_again(connection: DatabaseWrapper) -> None:
    answer(connection)
    kill_server(connection.server)
    assert answer(connection) == 42


def test_a_port_in_the_environment_changes_nothing(
    connection: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "1")
    assert answer(connection) == 42


def test_the_maintenance_database_is_reached_as_test_databases_need_it(connection: DatabaseWrapper) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT current_database()")
        assert cursor.fetchone() == ("postgres",)


def test_a_server_that_cannot_start_is_an_ordinary_operational_error(
    server: Embedded, django_db_blocker: DjangoDbBlocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that readiness, workers and pages treat it as any database that is away."""
    server.data.mkdir()
    (server.data / "precious.txt").touch()
    monkeypatch.setattr(DatabaseWrapper, "server", server)
    unblocked, failure = django_db_blocker.unblock(), pytest.raises(OperationalError, match="not a database")
    with unblocked, connection_to(server) as wrapper, failure:
        wrapper.ensure_connection()


def test_dbshell_opens_the_database_where_no_psql_is_installed(
    connection: DatabaseWrapper, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PGPORT", "1")
    connection.client.runshell(["--no-psqlrc", "-Atc", "SELECT current_database(), 6 * 7"])
    assert capfd.readouterr().out == f"{embedded.DATABASE}|42\n"
