"""Rows to the database by COPY, the way of many rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import DatabaseError, connection

from catalog import sql


def copy_rows(statement: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def copy_lines(statement: str, chunks: Iterable[bytes]) -> None:
    """Lines that are written as COPY takes them."""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for chunk in chunks:
            copy.write(chunk)


def run(statement: str, **values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def rows_of(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def refuses_value(error: DatabaseError) -> bool:
    """Whether the database refused a value that it can never hold; asking again would change nothing.

    Classes 22 (data exception) and 54 (program limit exceeded) of PostgreSQL's error codes.
    """
    return (getattr(error.__cause__, "sqlstate", None) or "")[:2] in {"22", "54"}


def new_ids(table: str, count: int) -> list[int]:
    """Ids that no other row of the table will have."""
    return [row[0] for row in rows_of(sql.NEXT_IDS, table=table, count=count)]
