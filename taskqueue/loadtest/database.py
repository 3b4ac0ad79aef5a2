"""The throw-away database: made beside the configured one, dropped at the end or by the next run."""

from __future__ import annotations

import copy
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
)

from taskqueue.loadtest import LoadTestFailed, tables

PREFIX = "rolecall_loadtest_"
SESSION = "loadtest"  # what the test's own sessions are called: chaos spares them
SESSIONS_A_WORKER = 3  # its line, its handler's, and one of a predecessor that has not gone yet
OTHER_SESSIONS = 12


@contextmanager
def throw_away(
    *,
    workers: int,
    is_kept: bool,
    say: Callable[[str], object],
    fill: Callable[[], object] | None = None,
) -> Iterator[str]:
    """A database made by `fill` is Django's default one until the block ends; yields its name.

    An advisory lock in the configured database says that its owner lives: a database without one is the
    leftover of a run that was killed, and is dropped.
    """
    control = _control()
    try:
        _answer(control)
        _sweep(control, say)
        _refuse_too_many(control, workers)
        name = f"{PREFIX}{secrets.token_hex(5)}"
        _lock(control, name)
        try:
            _create(control, name)
            with _as_default(name):
                (fill or _fill)()
                yield name
        finally:
            if is_kept:
                say(f"The database {name} is left for you to look at; the next run drops it.")
            else:
                _drop_at_last(control, name, say)
    finally:
        control.close()


def _control() -> Any:
    """A session of its own with the configured database."""
    given = copy.deepcopy(connection.settings_dict)
    given["OPTIONS"].pop("pool", None)
    return type(connections[DEFAULT_DB_ALIAS])(given, alias=DEFAULT_DB_ALIAS)


def _answer(control: Any) -> None:
    try:
        control.ensure_connection()
    except OperationalError as error:
        raise LoadTestFailed(f"the database does not answer: {str(error).strip()}") from error


def _sweep(control: Any, say: Callable[[str], object]) -> None:
    names = _ask(
        control,
        "SELECT datname FROM pg_database WHERE starts_with(datname, %s) AND pg_has_role(datdba, 'MEMBER')",
        PREFIX,
    )
    for (name,) in names:
        [(is_ownerless,)] = _ask(control, "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", name)
        if is_ownerless:
            say(f"Dropping {name}, which a killed run has left.")
            _drop(control, name)
            shutil.rmtree(logs_of(name), ignore_errors=True)


def _lock(control: Any, name: str) -> None:
    _ask(control, "SELECT pg_advisory_lock(hashtextextended(%s, 0))", name)


def _refuse_too_many(control: Any, workers: int) -> None:
    [(free,)] = _ask(
        control,
        "SELECT current_setting('max_connections')::integer - count(*)"
        "  FROM pg_stat_activity WHERE backend_type = 'client backend'",
    )
    needed = SESSIONS_A_WORKER * workers + OTHER_SESSIONS
    if free < needed:
        raise LoadTestFailed(
            f"{workers} workers may need {needed} connections and the database has {free} left of its"
            " max_connections: use fewer --workers, or give it more"
        )


def _create(control: Any, name: str) -> None:
    try:
        _tell(control, f'CREATE DATABASE "{name}" TEMPLATE template0')
    except DatabaseError as error:
        if not isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise LoadTestFailed(f"no database could be made: {str(error).strip()}") from error
        [(role,)] = _ask(control, "SELECT current_user")
        raise LoadTestFailed(
            f"the load test makes a database of its own, which the role {role} may not:"
            f' ALTER ROLE "{role}" CREATEDB, or set DATABASE_URL to a server where it may'
        ) from error


def _drop(control: Any, name: str) -> None:
    _tell(control, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _drop_at_last(control: Any, name: str, say: Callable[[str], object]) -> None:
    try:
        _drop(control, name)
    except (DatabaseError, InterfaceError) as error:
        say(f"The database {name} could not be dropped, the next run does it: {str(error).strip()}")


def logs_of(name: str) -> Path:
    """Where the machines that use the database write their logs."""
    return Path(tempfile.gettempdir()) / name


def _fill() -> None:
    """The queue's tables by its migrations, and the test's own."""
    call_command("migrate", "queue", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        cursor.execute(tables.CREATE)


@contextmanager
def _as_default(name: str) -> Iterator[None]:
    """Every thread's default connection is one with that database, outside the pool."""
    settings = connection.settings_dict  # shared by the connections of all threads
    before = dict(settings)
    _close()
    options = {key: value for key, value in before["OPTIONS"].items() if key != "pool"}
    settings.update(NAME=name, OPTIONS={**options, "application_name": SESSION})
    try:
        yield
    finally:
        _close()
        settings.update(before)


def _close() -> None:
    connection.close()
    if close_pool := getattr(connection, "close_pool", None):
        close_pool()


def _ask(control: Any, question: str, *values: Any) -> list[tuple[Any, ...]]:
    with control.cursor() as cursor:
        cursor.execute(question, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _tell(control: Any, statement: str) -> None:
    with control.cursor() as cursor:
        cursor.execute(statement)
