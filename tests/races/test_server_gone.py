"""The database server is killed and starts again under workers that run tasks and workers that are idle."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, connections

from config.embedded import DATABASE, Embedded
from taskqueue.models import Task, Worker
from taskqueue.services import enqueue
from tests.config.conftest import open_folder
from tests.races.fault_kinds import effects, hurry, is_done, is_held, say_go
from tests.races.faulty_worker import Setup, faulty_worker
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

NEVER_SECONDS = 3600.0


@pytest.fixture
def server() -> Iterator[Embedded]:
    """A throw-away server with the queue's tables, to which this test's own connection leads."""
    folder = open_folder()
    throwaway = Embedded(folder / "pg", durable=False)
    try:
        throwaway.start()
        with connected_to(throwaway):
            call_command("migrate", "queue", verbosity=0)
            yield throwaway
    finally:
        throwaway.destroy()
        shutil.rmtree(folder)


@contextmanager
def connected_to(server: Embedded) -> Iterator[None]:
    direct = connections["default"]
    options = {name: value for name, value in direct.settings_dict["OPTIONS"].items() if name != "pool"}
    where = {"HOST": str(server.socket_dir()), "NAME": DATABASE, "OPTIONS": options}
    connections["default"] = type(direct)({**direct.settings_dict, **where}, "default")
    try:
        yield
    finally:
        connection.close()
        connections["default"] = direct


def kill_and_start(server: Embedded) -> None:
    """As after the kernel ran out of memory: no client hears a word of farewell."""
    os.kill(int((server.socket_dir() / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    until(lambda: not server.is_reachable())
    server.start()
    connection.close()


def test_workers_outlive_their_server_and_every_task_ends_once(server: Embedded, tmp_path: Path) -> None:
    """Q5, Q8: the poll is an hour away, so that only notifications tell of new work."""
    go = tmp_path / "go"
    setup = Setup(
        database=DATABASE,
        host=str(server.socket_dir()),
        concurrency=3,
        lease_seconds=60.0,
        poll_seconds=NEVER_SECONDS,
    )
    with faulty_worker(setup):
        until(lambda: Worker.objects.count() == 3)
        outside = enqueue("fault.waits_outside", payload={"file": str(go)}).task_id
        inside = enqueue("fault.holds").task_id
        until(lambda: effects(outside, "begun") == [1] and is_held(inside))
        workers = set(Worker.objects.values_list("name", "pid"))
        for _ in range(2):
            kill_and_start(server)
            woken = enqueue("fault.once").task_id
            until(partial(is_done, woken))
        go.touch()
        say_go()
        until(lambda: hurry(outside, inside) and is_done(outside, inside))

        assert set(Worker.objects.values_list("name", "pid")) == workers
    for task_id in (outside, inside):  # each was in the middle of something, and had a connection
        assert len(effects(task_id)) == 1
        assert [error["error"].split(":")[0] for error in Task.objects.get(pk=task_id).errors] == [
            "OperationalError"
        ]
