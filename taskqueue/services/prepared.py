"""Statements that the server plans once a connection, not at every call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection


def execute_prepared(statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """The rows of a statement on Django's connection, in its transaction. Raises as its cursors do.

    For what is asked often and always in one way: Django's own cursors write the values into the text, which
    is then analysed and planned each time. So is this one behind a pooler that deals out sessions by the
    transaction (QUEUE_NOTIFICATIONS off).
    """
    numbered, names = numbered_of(statement)
    connection.validate_no_broken_transaction()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        session = connection.connection
        session.prepare_threshold = 0 if settings.QUEUE_NOTIFICATIONS else None  # None: never
        cursor = psycopg.RawCursor(session)
        cursor.execute(numbered, [values[name] for name in names])
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return rows


@lru_cache(maxsize=64)
def numbered_of(statement: str) -> tuple[str, list[str]]:
    """The statement with $1, $2, … as the server numbers its parameters, and their names in that order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return re.sub(r"%\((\w+)\)s", number, statement).replace("%%", "%"), names
