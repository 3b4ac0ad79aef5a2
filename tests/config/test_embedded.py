"""The embedded PostgreSQL against what really happens to it: killed processes, stale files, full disks."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from config import embedded
from config.embedded import Embedded, EmbeddedFailed
from config.embedded.__main__ import main
from tests.conftest import PROJECT

START = """
import sys
from pathlib import Path
from config.embedded import Embedded
Embedded(Path(sys.argv[1])).start()
print("started", flush=True)
sys.stdin.read()
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another account")


@contextlib.contextmanager
def starter(server: Embedded) -> Iterator[subprocess.Popen[str]]:
    """Another process that starts the server, says so, and stays until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(server.data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ask(server: Embedded, statement: LiteralString, *parameters: object) -> str:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        row = connection.execute(statement, parameters).fetchone()
        assert row is not None
        return str(row[0])


def pid_of(server: Embedded) -> int:
    return int((server.socket_dir() / "postmaster.pid").read_text().split()[0])


def postmasters(server: Embedded) -> int:
    asked = ["ps", "-axww", "-o", "pid=,ppid=,command="]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found = dict(line.split()[:2] for line in listed if f"/postgres -D {server.socket_dir()} " in line)
    # a child that was forked a moment ago still has its parent's command line
    return sum(parent not in found for parent in found.values())


def kill_server(server: Embedded) -> None:
    """As the kernel does when memory runs out. Its files stay behind."""
    pid = pid_of(server)
    os.kill(pid, signal.SIGKILL)
    while server.is_reachable():
        pass


def stranger(server: Embedded) -> subprocess.Popen[bytes]:
    """Somebody else's process under the server's account, the case in which PostgreSQL refuses to start."""
    owner = server.socket_dir().stat()
    return subprocess.Popen(["sleep", "600"], user=owner.st_uid, group=owner.st_gid)


def test_a_started_server_has_the_database_and_answers_where_it_said(server: Embedded, folder: Path) -> None:
    before = server.socket_dir(), server.url(), server.status()
    assert before[2] == "stopped"
    assert list(folder.iterdir()) == []  # asking changes nothing

    assert server.start() == server.socket_dir()
    assert (server.socket_dir(), server.url()) == before[:2]
    assert server.is_reachable()
    assert server.looks_alive()
    assert server.status() == "running"
    with psycopg.connect(server.url()) as connection:
        assert connection.info.dbname == embedded.DATABASE
        assert connection.info.user == embedded.USER
    asked = (
        "SELECT datlocprovider::text || datlocale || pg_encoding_to_char(encoding) FROM pg_database LIMIT 1"
    )
    assert ask(server, asked) == "bC.UTF-8UTF8"
    assert ask(server, "SHOW listen_addresses") == ""


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's list of sockets")
def test_no_tcp_port_is_open(running: Embedded) -> None:
    links = Path(f"/proc/{pid_of(running)}/fd").iterdir()
    sockets = {link.readlink().name for link in links if link.readlink().name.startswith("socket:")}
    assert sockets

    tables = [table for table in ("tcp", "tcp6") if Path("/proc/net", table).exists()]
    rows = [row.split() for table in tables for row in Path("/proc/net", table).read_text().splitlines()[1:]]
    assert sockets.isdisjoint(f"socket:[{row[9]}]" for row in rows)


def test_only_the_owner_and_their_group_reach_the_socket(running: Embedded) -> None:
    sockets = running.socket_dir()
    socket = sockets / f".s.PGSQL.{embedded.PORT}"
    assert stat.S_IMODE(sockets.stat().st_mode) & 0o027 == 0
    assert stat.S_IMODE(socket.stat().st_mode) == 0o770


def test_the_server_never_runs_as_root(running: Embedded) -> None:
    asked = ["ps", "-o", "uid=", "-p", str(pid_of(running))]
    uid = int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    assert uid == (running.socket_dir().stat().st_uid if os.geteuid() == 0 else os.geteuid())
    assert uid != 0


def test_ten_that_start_at_once_get_one_server(server: Embedded) -> None:
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(starter(server)) for _ in range(10)]
        assert [process.stdout and process.stdout.readline() for process in processes] == ["started\n"] * 10
        assert postmasters(server) == 1


def test_the_server_outlives_a_killed_starter(server: Embedded) -> None:
    with starter(server) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert server.is_reachable()
    assert postmasters(server) == 1


@pytest.mark.parametrize("whole_group", [True, False], ids=["with its initdb", "leaving its initdb"])
def test_a_start_killed_in_initdb_is_made_good_by_the_next(
    server: Embedded, folder: Path, whole_group: bool
) -> None:
    with starter(server) as process:
        while not list(folder.glob(".pg.new-*/PG_VERSION")):
            assert process.poll() is None
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
    assert not server.socket_dir().exists()

    server.start()
    assert ask(server, "SELECT 1") == "1"
    assert not whole_group or not list(folder.glob(".pg.new-*"))  # an orphaned initdb may still be writing


def test_a_start_killed_while_the_server_comes_up_is_made_good_by_the_next(running: Embedded) -> None:
    kill_server(running)
    (running.socket_dir() / "postmaster.pid").unlink()
    with starter(running) as process:
        while not (running.socket_dir() / "postmaster.pid").exists():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    running.start()
    assert ask(running, "SELECT 1") == "1"
    assert postmasters(running) == 1


def test_a_killed_server_comes_back_with_what_was_committed(running: Embedded) -> None:
    with psycopg.connect(running.url()) as connection:
        connection.execute("CREATE TABLE kept (answer int)")
    ask(running, "INSERT INTO kept VALUES (42) RETURNING 1")
    kill_server(running)
    assert not running.looks_alive()
    assert running.status() == "stopped"

    running.start()
    assert ask(running, "SELECT answer FROM kept") == "42"


def test_a_start_waits_for_what_a_killed_server_left_running(running: Embedded) -> None:
    """A query that computes does not notice that its server is gone; a second server must not join it."""
    with psycopg.connect(running.url()) as busy:
        busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 6000000)")
        query = "SELECT state FROM pg_stat_activity WHERE pid = %s"
        while ask(running, query, busy.info.backend_pid) != "active":
            pass
        kill_server(running)
        running.start()
        busy.close()
    assert "is still in use" in (running.socket_dir() / "server.log").read_text()
    assert ask(running, "SELECT 1") == "1"


def zombie(server: Embedded) -> subprocess.Popen[bytes]:
    process = stranger(server)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return process


@pytest.mark.parametrize("other", [stranger, zombie])
def test_lock_files_that_name_another_process_do_not_keep_it_down(
    running: Embedded, other: Callable[[Embedded], subprocess.Popen[bytes]]
) -> None:
    """As after a reboot or a container's restart, when the pid has been given to somebody else."""
    kill_server(running)
    with other(running) as process:
        for name in ("postmaster.pid", f".s.PGSQL.{embedded.PORT}.lock"):
            file = running.socket_dir() / name
            file.write_text("\n".join([str(process.pid), *file.read_text().split("\n")[1:]]))
        running.start()
        assert ask(running, "SELECT 1") == "1"
        assert process.poll() is None or other is zombie
        process.kill()


@pytest.mark.parametrize("content", ["", "31", "not a number\n"])
def test_half_written_lock_files_do_not_keep_it_down(running: Embedded, content: str) -> None:
    kill_server(running)
    for name in ("postmaster.pid", f".s.PGSQL.{embedded.PORT}.lock"):
        (running.socket_dir() / name).write_text(content)
    running.start()
    assert ask(running, "SELECT 1") == "1"


@pytest.mark.parametrize("content", [None, ""], ids=["deleted", "emptied"])
def test_a_server_that_lost_its_pid_file_is_replaced(running: Embedded, content: str | None) -> None:
    """As when a start was killed in the moment between making the file and writing it."""
    pid_file = running.socket_dir() / "postmaster.pid"
    pid_file.unlink()
    if content is not None:
        pid_file.write_text(content)
    running.start()
    assert ask(running, "SELECT 1") == "1"
    assert postmasters(running) == 1


def test_data_deleted_under_a_running_server_gives_way_to_new_data(server: Embedded) -> None:
    server.start()
    shutil.rmtree(server.data)
    server.start()
    assert ask(server, "SELECT 1") == "1"
    assert postmasters(server) == 1


def test_a_server_whose_socket_was_deleted_is_replaced(running: Embedded) -> None:
    (running.socket_dir() / f".s.PGSQL.{embedded.PORT}").unlink()
    assert not running.looks_alive()
    running.start()
    assert ask(running, "SELECT 1") == "1"
    assert postmasters(running) == 1


def test_stop_disconnects_clients_and_destroy_leaves_nothing(server: Embedded, folder: Path) -> None:
    server.start()
    with psycopg.connect(server.url()) as connection:
        server.stop()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert server.status() == "stopped"
    assert postmasters(server) == 0
    server.stop()  # a second time changes nothing

    server.start()
    server.destroy()
    assert list(folder.iterdir()) == []


def test_data_of_another_major_version_is_left_alone_with_the_way_out(server: Embedded) -> None:
    server.data.mkdir(mode=0o700)
    (server.data / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedFailed, match=r"made by PostgreSQL 17, and this release runs 18.*destroy"):
        server.start()
    assert (server.data / "PG_VERSION").read_text() == "17\n"


def test_a_folder_that_holds_something_else_is_not_overwritten(server: Embedded) -> None:
    server.data.mkdir()
    (server.data / "precious.txt").write_text("mine")
    with pytest.raises(EmbeddedFailed, match="not a database: move it away"):
        server.start()
    assert (server.data / "precious.txt").read_text() == "mine"


@needs_root
def test_a_full_disk_is_named_and_a_later_start_works(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", disk], check=False
    ).returncode:
        pytest.skip("this machine does not let root mount a small disk")
    server = Embedded(disk / "pg")  # durable, as people have it
    try:
        assert main(["start"], server) == 1
        assert "No space left on device" in capsys.readouterr().err
        assert [left.name for left in disk.iterdir()] == [".pg.lock"]

        subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
        assert main(["start"], server) == 0
        assert capsys.readouterr().out == f"{server.data}\n"
        assert ask(server, "SHOW fsync") == "on"
    finally:
        server.destroy()
        subprocess.run(["umount", disk], check=True)
