"""A PostgreSQL of the benchmark's own: databases, counters and a snapshot that is held open.

Never the product's server: an own data folder, made for one run and removed after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from benchmarks.queue.processes import cpu_seconds
from config.embedded import DATABASE, USER, Embedded
from config.embedded.home import installed

SETTINGS = (
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "shared_buffers",
    "wal_level",
)


@dataclass(frozen=True, slots=True)
class Counters:
    """What the server has spent so far: bytes of write-ahead log, seconds of processor time."""

    wal_bytes: float
    cpu_seconds: float | None


class Cluster:
    """The server over `folder`, from `running` to its end. Databases are named by their users."""

    def __init__(self, folder: Path) -> None:
        self._embedded = Embedded(folder)
        self._folder = folder

    @contextlib.contextmanager
    def running(self) -> Iterator[Cluster]:
        self._embedded.destroy()  # what a killed run left behind
        try:
            self.socket_dir = self._embedded.start()
            self._control = self.connect(DATABASE)
            self._postmaster = self._pid()
            yield self
        finally:
            self._embedded.destroy()

    def connect(self, database: str) -> psycopg.Connection[Any]:
        return psycopg.connect(host=str(self.socket_dir), user=USER, dbname=database, autocommit=True)

    def settings(self) -> dict[str, str]:
        return {name: self.ask(f"SELECT current_setting('{name}')") for name in SETTINGS}

    def ask(self, question: str, *values: Any) -> Any:
        """The one value that the query returns."""
        row = self._control.execute(question, values).fetchone()
        return row[0] if row else None

    # Databases

    def create(self, database: str, *, template: str = "template1") -> None:
        """An empty database, or a copy of one that nobody is connected to."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        self._control.execute(statement.format(sql.Identifier(database), sql.Identifier(template)))

    def drop(self, database: str) -> None:
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        self._control.execute(statement.format(sql.Identifier(database)))

    @contextlib.contextmanager
    def copy(self, template: str, database: str = "run") -> Iterator[str]:
        self.create(database, template=template)
        try:
            yield database
        finally:
            self.drop(database)

    def tidy(self, database: str) -> None:
        """As autovacuum would leave it: statistics are known, pages are marked."""
        with self.connect(database) as connection:
            connection.execute("VACUUM (ANALYZE)")

    def settle(self) -> None:
        """What earlier runs dirtied is on disk, so that no later run pays for it."""
        self._control.execute("CHECKPOINT")

    # Counters

    def counters(self) -> Counters:
        wal = self.ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")
        return Counters(wal_bytes=float(wal), cpu_seconds=cpu_seconds(self._postmaster))

    def commits(self, database: str) -> int:
        """Transactions of sessions that have ended; living ones report late."""
        return int(self.ask("SELECT xact_commit FROM pg_stat_database WHERE datname = %s", database))

    def connections(self, database: str) -> int:
        return int(
            self.ask(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE datname = %s AND backend_type = 'client backend'",
                database,
            )
        )

    @contextlib.contextmanager
    def held_snapshot(self, database: str) -> Iterator[None]:
        """A transaction reads once and stays open: a report, a dump, somebody's forgotten console."""
        with self.connect(database) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            connection.execute("SELECT count(*) FROM pg_class")
            yield
            connection.execute("ROLLBACK")

    def pgbench(self) -> list[str]:
        """The command line of the wheel's pgbench, up to its options."""
        return [str(installed() / "pgbench"), "-h", str(self.socket_dir), "-U", USER]

    def _pid(self) -> int:
        return int(self.ask("SELECT pg_read_file('postmaster.pid')").split()[0])
