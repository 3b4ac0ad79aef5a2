"""One PostgreSQL data folder and the server over it: create, launch, end. The caller holds the lock."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from config.embedded import home
from config.embedded.home import Account, EmbeddedFailed

MAJOR = "18"
USER = "rolecall"
DATABASE = "rolecall"
PORT = 5432  # only a part of the socket's file name: nothing listens on TCP
SOCKET = f".s.PGSQL.{PORT}"

PROGRAM_SECONDS = 120
START_SECONDS = 60
STOP_SECONDS = 30
PID_FILE_SECONDS = 3  # a server writes it within milliseconds of its start
LONGEST_LOG = 20 * 1024 * 1024

# Linux flushes a file system in one call; a flush for each of a thousand files takes seconds on a busy disk.
SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
# On the command line rather than in the data folder, so that an old data folder follows edits made here.
SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0770",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "recovery_init_sync_method": SYNC_METHOD,
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_duration_statement": "2s",
    "idle_in_transaction_session_timeout": "10min",
    "client_connection_check_interval": "5s",  # a killed client's long query ends, and its locks with it
}
PROC = Path("/proc/self")  # macOS has none
# Nothing of the caller's environment: PGPORT, PGDATA or a locale would change what the programs do.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
# What a start reports when it only came too early: the last server's processes are still going away.
TOO_EARLY = ("is still in use", '" already exists', '" is empty')


@dataclass(frozen=True, slots=True)
class Cluster:
    """`folder` holds the data, `sockets` the socket; `account` is as whom it runs, None the caller."""

    folder: Path
    sockets: Path
    binaries: Callable[[], Path]  # called under the lock: the first call may have to copy them
    account: Account | None
    durable: bool

    # Questions, asked without the lock

    def is_ready(self) -> bool:
        """A server answers and has finished its recovery. Costs two file reads and a connect."""
        return self.server_status() == "ready" and self._accepts()

    def looks_alive(self) -> bool:
        """The same at no cost to the server, which forks a process for every connect."""
        if not PROC.exists():
            return self.is_ready()
        return (
            self.server_status() == "ready"
            and self.postmaster() is not None
            and self._has_sockets()
            and (self.sockets / SOCKET).exists()
        )

    def server_status(self) -> str:
        """PostgreSQL's own word in its pid file: starting, ready, stopping; "" without a file."""
        lines = self._pid_file().split("\n")
        return lines[7].strip() if len(lines) > 7 else ""

    def postmaster(self) -> int | None:
        """The pid of the live server over this folder.

        The pid file alone does not tell. After a crash or a reboot it is empty, or names a zombie or somebody
        else's process; and a server may not have written it yet, or it was deleted.
        """
        first = self._pid_file().partition("\n")[0].strip()
        if first.isdigit() and self._is_served_by(_command_line(int(first))):
            return int(first)
        return next((pid for pid, line in _command_lines() if self._is_served_by(line)), None)

    def check_owner(self) -> None:
        """Raises EmbeddedFailed for a caller who may not read the data."""
        if self.account is None and self.folder.exists() and self.folder.stat().st_uid != os.geteuid():
            raise EmbeddedFailed(
                f"{self.folder} belongs to {Account.owner_of(self.folder).name}: use it as that user "
                "or as root, or use another checkout or DATABASE_URL"
            )

    def check_path(self) -> None:
        if set('"$`\\\n') & set(str(self.folder)):  # pg_ctl hands the path to a shell between double quotes
            raise EmbeddedFailed(f"PostgreSQL cannot be started in {self.folder}: rename the folder")

    # Changes, made under the lock

    def make_socket_folder(self) -> None:
        """A folder for the socket is there, and nobody else's."""
        if self.sockets == self.folder:
            return
        with contextlib.suppress(FileExistsError):
            self.sockets.mkdir(mode=0o700)
        if self.sockets.lstat().st_uid == os.geteuid():
            self._give(self.sockets)
        if not self._owns(self.sockets):
            raise EmbeddedFailed(f"{self.sockets} was made by somebody else: remove it")

    def create(self) -> None:
        """Data with an empty database in it, made beside and renamed: it is whole or it does not exist."""
        if self.folder.exists() and any(self.folder.iterdir()):
            raise EmbeddedFailed(f"{self.folder} holds something that is not a database: move it away")
        home.make_folder(self.folder.parent)
        self._sweep()
        if self.postmaster() is not None:
            self.end()  # its data was deleted under it: it would write its own state into the new data
        fresh = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}.new-", dir=self.folder.parent))
        self._give(fresh)
        try:
            self._initialise(fresh)
            fresh.rename(self.folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def launch(self) -> None:
        """A server answers. One that is starting is waited for; one that cannot answer is replaced."""
        self._check_data()
        begun = time.monotonic()
        while not self.is_ready():
            waited = time.monotonic() - begun
            if waited > START_SECONDS:
                raise EmbeddedFailed(f"PostgreSQL did not start in {START_SECONDS} s:\n{self._log_since(0)}")
            status = self.server_status()
            if self.postmaster() is None:
                self._spawn()
            elif status in ("ready", "stopping") or (not status and waited > PID_FILE_SECONDS):
                self.end()  # it lost its socket or its pid file, or waits for its last client to leave
            time.sleep(0.05)

    def end(self) -> None:
        """No server runs over the data; its clients are disconnected."""
        # A fast shutdown; where that hangs an immediate one, after which the next start recovers.
        for number in (signal.SIGINT, signal.SIGQUIT):
            if (pid := self.postmaster()) is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            deadline = time.monotonic() + STOP_SECONDS
            while self.postmaster() == pid and time.monotonic() < deadline:
                time.sleep(0.02)
        if (pid := self.postmaster()) is not None:
            raise EmbeddedFailed(f"PostgreSQL (process {pid}) does not stop")

    def remove(self) -> None:
        """The data is gone. It is renamed first: killed half-way, no half of a database is left."""
        if self.folder.exists():
            doomed = tempfile.mkdtemp(prefix=f".{self.folder.name}.old-", dir=self.folder.parent)
            self.folder.rename(doomed)
        self._sweep()
        if self.sockets != self.folder and self._owns(self.sockets):
            shutil.rmtree(self.sockets)

    # Steps

    def _sweep(self) -> None:
        """Remove what a killed create or remove left behind."""
        for kind in ("new", "old"):
            for left in self.folder.parent.glob(f".{self.folder.name}.{kind}-*"):
                shutil.rmtree(left, ignore_errors=True)  # an orphaned initdb may still be writing

    def _initialise(self, fresh: Path) -> None:
        access = ["--username", USER, "--auth-local=trust", "--auth-host=reject"]
        locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        self._must_run("initdb", "-D", str(fresh), "--no-sync", *access, *locale)
        # Without a server, so that no client can ever meet one that has no database yet.
        single = ["--single", "-D", str(fresh), "-c", "fsync=off", "-c", "exit_on_error=on", "postgres"]
        self._must_run("postgres", *single, feed=f"CREATE DATABASE {DATABASE}\n")
        if self.durable:
            self._must_run("initdb", "-D", str(fresh), "--sync-only", f"--sync-method={SYNC_METHOD}")

    def _must_run(self, program: str, *arguments: str, feed: str = "") -> None:
        code, output = self._run(program, *arguments, feed=feed)
        if code:
            raise EmbeddedFailed(f"{program} failed:\n{_tail(output)}")

    def _spawn(self) -> None:
        """Start a postmaster, detached from this process; returns too when it is too early for one."""
        self._clear_stale_files()
        log = self.folder / "server.log"
        written = log.stat().st_size if log.exists() else 0
        if written > LONGEST_LOG:
            log.replace(log.with_name("server.log.1"))
            written = 0
        settings = {
            **SETTINGS,
            "fsync": "on" if self.durable else "off",
            "unix_socket_directories": f'"{self.sockets}"',
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        where = ["-D", str(self.folder), "-l", str(log), "-o", options]
        code, output = self._run("pg_ctl", "start", "-w", "-t", str(START_SECONDS), *where)
        if code and self.postmaster() is None:
            said = self._log_since(written)
            if not any(sign in said for sign in TOO_EARLY):
                raise EmbeddedFailed(f"PostgreSQL did not start:\n{_tail(output)}\n{said}")

    def _clear_stale_files(self) -> None:
        """PostgreSQL refuses to start while its lock files name any process that exists, even a zombie.

        Only called when `postmaster` is None, so whatever they name is not a server over this data.
        """
        for name in (self.folder / "postmaster.pid", self.sockets / f"{SOCKET}.lock"):
            name.unlink(missing_ok=True)

    def _check_data(self) -> None:
        found = (self.folder / "PG_VERSION").read_text().strip()
        if found != MAJOR:
            raise EmbeddedFailed(
                f"{self.folder} was made by PostgreSQL {found}, and this release runs {MAJOR}. Dump it with "
                "the release that made it, or give it up with `python -m config.embedded destroy`."
            )
        if self.account is None:
            return
        if not self.account.can_enter(self.folder.parent):
            raise EmbeddedFailed(
                f"PostgreSQL runs as {self.account.name}, who can no longer enter {self.folder.parent}"
            )
        if self.folder.stat().st_uid == 0:  # a checkout that root copied
            self._give(self.folder, *self.folder.rglob("*"))

    def _has_sockets(self) -> bool:
        return self.sockets == self.folder or self._owns(self.sockets)

    def _owns(self, folder: Path) -> bool:
        """A real folder of the server's own that no stranger can enter or replace."""
        try:
            found = folder.lstat()
        except FileNotFoundError:
            return False
        owner = self.account.uid if self.account else os.geteuid()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o027

    def _give(self, *paths: Path) -> None:
        if self.account is not None:
            for path in paths:
                os.chown(path, self.account.uid, self.account.gid, follow_symlinks=False)

    def _accepts(self) -> bool:
        if not self._has_sockets():
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            try:
                probe.connect(str(self.sockets / SOCKET))
            except BlockingIOError:
                return True  # its queue of new connections is full: busy, not gone
            except OSError:
                return False
        return True

    def _is_served_by(self, command_line: str) -> bool:
        return f"/postgres -D {self.folder} " in f"{command_line} "

    def _pid_file(self) -> str:
        try:
            return (self.folder / "postmaster.pid").read_text(errors="replace")
        except OSError:
            return ""

    def _log_since(self, offset: int) -> str:
        try:
            return _tail((self.folder / "server.log").read_bytes()[offset:].decode(errors="replace"))
        except FileNotFoundError:
            return ""

    def _run(self, program: str, *arguments: str, feed: str = "") -> tuple[int, str]:
        """Exit status and output of one of PostgreSQL's programs, run as the server's account."""
        who = self.account
        # A file and no pipe: the server inherits it, and a pipe's end would never come.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(  # noqa: S603
                [str(self.binaries() / program), *arguments],
                input=feed.encode(),
                stdout=output,
                stderr=output,
                cwd="/",
                env=ENVIRONMENT,
                user=who.uid if who else None,
                group=who.gid if who else None,
                extra_groups=who.groups() if who else None,
                timeout=PROGRAM_SECONDS,
                check=False,
            )
            output.seek(0)
            return done.returncode, output.read().decode(errors="replace")


def _command_line(pid: int) -> str:
    """Empty for a process that is gone or a zombie."""
    if not PROC.exists():
        return dict(_command_lines()).get(pid, "")
    try:
        return os.fsdecode((PROC.parent / str(pid) / "cmdline").read_bytes().replace(b"\0", b" "))
    except OSError:
        return ""


def _command_lines() -> Iterator[tuple[int, str]]:
    """Every process of the machine."""
    if PROC.exists():
        pids = (int(entry.name) for entry in PROC.parent.iterdir() if entry.name.isdigit())
        yield from ((pid, _command_line(pid)) for pid in pids)
        return
    asked = ["/bin/ps", "-axww", "-o", "pid=,command="]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True)  # noqa: S603
    for line in listed.stdout.splitlines():
        pid, _, command = line.strip().partition(" ")
        yield int(pid), command


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-20:])
