"""Other connections beside the test's own: threads, each with one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection

from taskqueue.worker import WorkerLoop

T = TypeVar("T")


def at_once(calls: list[Callable[[], T]]) -> list[T]:
    """What the calls return, each made on a connection of its own and all begun together."""
    barrier = threading.Barrier(len(calls))

    def begin(call: Callable[[], T]) -> T:
        with _connected():
            barrier.wait(timeout=30)
            return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(begin, calls))


@contextmanager
def meanwhile(call: Callable[[], T]) -> Iterator[Future[T]]:
    """The call goes on, on a connection of its own, beside the block, whose end waits for it."""

    def begin() -> T:
        with _connected():
            return call()

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(begin)


@contextmanager
def _connected() -> Iterator[None]:
    """This thread has a connection that waits for no lock for ever: also a test that fails must end."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '20s'")
        yield
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    finally:
        connection.close()


def elsewhere(call: Callable[[], T]) -> T:
    """What the call returns on a connection of its own: it sees only what is committed."""
    with meanwhile(call) as future:
        return future.result(timeout=30)


def somebody_waits() -> bool:
    """Whether another connection waits for a lock in this database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction looks once and remembers
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        return bool(cursor.fetchone()[0])


def cut_connections() -> None:
    """As a restart of the server does to everybody but the test."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@contextmanager
def working(loop: WorkerLoop) -> Iterator[WorkerLoop]:
    """The worker runs in a thread until the block ends."""
    thread = threading.Thread(target=loop.run, name="loop")
    thread.start()
    try:
        yield loop
    finally:
        loop.stop()
        thread.join(timeout=60)
