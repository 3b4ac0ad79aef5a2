"""Workers behind PgBouncer in transaction mode, without notifications: what there is to do they ask for."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from config import embedded
from taskqueue.models import Task, TaskStatus, Worker
from taskqueue.services import New, enqueue, enqueue_many, request_cancel
from tests.config.conftest import open_folder
from tests.races.fault_kinds import effects, hurry, is_done, is_held, say_go
from tests.races.faulty_worker import Setup, faulty_worker
from tests.taskqueue.waiting import until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.races,
    pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed"),
    pytest.mark.skipif(not settings.IS_LOCAL, reason="the server of DATABASE_URL may ask for a password"),
]

# Fewer sessions than clients, so that each transaction may get another one.
INI = """
[databases]
* = host={server} port={port}
[pgbouncer]
pool_mode = transaction
default_pool_size = 3
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
unix_socket_mode = 0777
auth_type = trust
auth_file = {folder}/users
admin_users = {user}
"""


@pytest.fixture(scope="module")
def pooler() -> Iterator[Path]:
    """The folder of the socket of a PgBouncer before the tests' server. It refuses to run as root."""
    folder, server = open_folder(), embedded.socket_dir()
    (folder / "users").write_text(f'"{embedded.USER}" ""\n')
    ini = folder / "pgbouncer.ini"
    ini.write_text(INI.format(server=server, port=embedded.PORT, folder=folder, user=embedded.USER))
    owner = server.stat()
    os.chown(folder, owner.st_uid, owner.st_gid)
    is_root = os.geteuid() == 0
    process = subprocess.Popen(
        [str(PGBOUNCER), "--quiet", str(ini)],
        user=owner.st_uid if is_root else None,
        group=owner.st_gid if is_root else None,
    )
    try:
        until((folder / f".s.PGSQL.{embedded.PORT}").is_socket)
        yield folder
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


@contextmanager
def workers(
    pooler: Path, *, concurrency: int = 1, lease_seconds: float = 30.0
) -> Iterator[subprocess.Popen[bytes]]:
    """As an operator starts them: with a DATABASE_URL."""
    url = f"postgres://{embedded.USER}@/{connection.settings_dict['NAME']}?host={quote(str(pooler), safe='')}"
    environment = {
        "DATABASE_URL": url,
        "QUEUE_NOTIFICATIONS": "false",
        "SECRET_KEY": "for a test that signs nothing",
        "ALLOWED_HOSTS": "localhost",
    }
    with faulty_worker(Setup(concurrency=concurrency, lease_seconds=lease_seconds), environment) as process:
        until(lambda: Worker.objects.alive().count() >= concurrency)
        yield process


def clients(pooler: Path) -> int:
    """How many connections of workers the pooler has; its console knows nothing but the simplest protocol."""
    console = psycopg.connect(host=str(pooler), port=embedded.PORT, dbname="pgbouncer", user=embedded.USER)
    console.autocommit = True
    with console, psycopg.ClientCursor(console) as cursor:
        cursor.execute("SHOW CLIENTS")
        return sum(connection.settings_dict["NAME"] in row for row in cursor.fetchall())


def test_tasks_of_all_sorts_are_done_once(pooler: Path) -> None:
    with workers(pooler, concurrency=3) as process:
        assert clients(pooler) >= 4  # more than there are sessions
        enqueue_many("fault.once", [New(account=str(number % 3)) for number in range(15)])
        enqueue_many("fault.short", [New() for _ in range(15)])
        for number in range(5):
            enqueue("fault.split", subject=f"page:{number}")
        enqueue("fault.once", host="boards.example.com", priority=1)
        enqueue("fault.once", not_before=timezone.now() + timedelta(seconds=1))
        until(lambda: not Task.objects.unfinished().exists())
        process.terminate()
        assert process.wait(30) == 0

    tasks = Task.objects.filter(kind__in=["fault.once", "fault.short", "fault.split"])
    assert tasks.count() == 15 + 15 + 5 * 3 + 2
    assert all(effects(task.pk) == [1] for task in tasks)
    assert not Worker.objects.exists()


def test_a_long_task_keeps_its_lease_and_a_cancel_arrives(pooler: Path) -> None:
    """Q6, Q10: with the heartbeat."""
    long, cancelled = enqueue("fault.waits").task_id, enqueue("fault.checks").task_id
    with workers(pooler, concurrency=2, lease_seconds=2.0):
        until(lambda: effects(long, "begun") == effects(cancelled, "begun") == [1])
        request_cancel(cancelled)
        until(Task.objects.filter(pk=cancelled, status=TaskStatus.CANCELLED).exists)
        worker = Worker.objects.get(name=Task.objects.get(pk=long).worker)
        renewed = worker.lease_expires_at + timedelta(seconds=4)
        until(Worker.objects.filter(pk=worker.pk, lease_expires_at__gt=renewed).exists)
        say_go()
        until(lambda: is_done(long))

    assert effects(long) == [1]


def test_the_task_of_a_fleet_that_was_killed_is_taken_over(pooler: Path) -> None:
    """Q9: in the middle of a transaction, too."""
    tasks = [enqueue("fault.waits").task_id, enqueue("fault.holds").task_id]
    with workers(pooler, concurrency=2, lease_seconds=2.0) as process:
        until(lambda: effects(tasks[0], "begun") == [1] and is_held(tasks[1]))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    say_go()
    with workers(pooler):
        until(lambda: hurry(*tasks) and is_done(*tasks))

    assert [effects(task_id) for task_id in tasks] == [[2], [2]]


def holder_of(task_id: int) -> Worker | None:
    """Who holds the task's claim; nobody, for a moment, where a busy machine outlasted the short lease."""
    if not is_held(task_id):
        return None
    return Worker.objects.filter(name=Task.objects.get(pk=task_id).worker).first()


def test_the_session_of_a_worker_that_froze_in_a_transaction_is_cut(pooler: Path) -> None:
    """Q9: the pooler passes on who it is."""
    task_id = enqueue("fault.holds").task_id
    with workers(pooler, concurrency=2, lease_seconds=2.0):
        late = until(lambda: holder_of(task_id))
        os.kill(late.pid, signal.SIGSTOP)
        say_go()
        until(lambda: hurry(task_id) and is_done(task_id))
        os.kill(late.pid, signal.SIGCONT)
        until(lambda: not Worker.objects.filter(pk=late.pk).exists())

    task = Task.objects.get(pk=task_id)
    assert task.attempts >= 2
    assert effects(task_id) == [task.attempts]
