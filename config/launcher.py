"""One command that runs everything on one machine: database, sample, web and workers, with progress."""

from __future__ import annotations

import contextlib
import copy
import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction

from boards.sample import SAMPLE_BOARDS
from boards.services.sample import load_sample, sample_loaded_at
from catalog.sample import SAMPLE_BASE
from catalog.sample.server import SampleServer
from config.env import BASE_DIR, VAR_DIR
from config.pipeline import Pipeline
from reviews.criteria import Criteria
from reviews.services.filters import create_filter
from tracker.models import User

POLL_SECONDS = 1.0
GRACE_SECONDS = 20
INTERRUPTED = 130  # as shells say it
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SET_UP_LOCK = 0x526F6C65  # any number that no other advisory lock of the database uses


class LaunchFailed(Exception):
    """Something that the person has to put right, in words."""


@dataclass
class Launcher:
    """`bind` is HOST:PORT of the pages, `say` prints a line."""

    bind: str
    workers: int
    with_sample: bool
    say: Callable[[str], object]

    def run(self, *, until_idle: bool) -> int:
        """Run until Ctrl-C, or until nothing is left to do. Returns the exit status."""
        _refuse_taken(self.bind)
        with _interruptible(), contextlib.ExitStack() as running:
            self.say("Setting the database up …")
            with _alone():
                call_command("migrate", verbosity=0, interactive=False)
                self._prepare_first_run()
            environment = {**os.environ, **self._sample_environment(running)}
            processes = self._start(environment)
            running.callback(_stop, processes)
            running.callback(self.say, "Stopping: workers finish or hand back what they run …")
            self._greet()
            return self._watch(processes, until_idle)
        return INTERRUPTED if until_idle else 0

    def _prepare_first_run(self) -> None:
        if self.with_sample and load_sample():
            self.say("First run: the sample's sources and boards are loaded.")
        if not User.objects.exists():
            _make_first_account()

    def _sample_environment(self, running: contextlib.ExitStack) -> dict[str, str]:
        """The sample's employers answer on a loopback port that only these processes may reach."""
        loaded_at = sample_loaded_at()
        if loaded_at is None:
            return {}
        server = SampleServer(today=loaded_at.date())
        server.start()
        running.callback(server.stop)
        given = {f"{asked}={read}" for asked, read in settings.FETCH_BASE_URL_OVERRIDES.items()}
        overrides = sorted(given | {f"{SAMPLE_BASE}={server.url}"})
        allowed = [*settings.FETCH_ALLOW_PRIVATE_HOSTS, server.url.removeprefix("http://")]
        return {
            "FETCH_BASE_URL_OVERRIDES": ",".join(overrides),
            "FETCH_ALLOW_PRIVATE_HOSTS": ",".join(allowed),
        }

    def _start(self, environment: dict[str, str]) -> dict[str, subprocess.Popen[bytes]]:
        for folder in ("log", "static"):
            (VAR_DIR / folder).mkdir(parents=True, exist_ok=True)
        commands = {
            "web": ["-m", "gunicorn", "config.asgi", "-c", "config/gunicorn.py", "--bind", self.bind],
            "worker": ["manage.py", "runworker", "--concurrency", str(self.workers)],
        }
        connection.close()
        return {name: _spawn(command, environment, name) for name, command in commands.items()}

    def _greet(self) -> None:
        self.say(f"Pages:   http://{self.bind}/")
        self.say(f"Admin:   http://{self.bind}/admin/")
        kept = _first_login()
        if kept.exists():
            self.say(f"Sign in: {kept.read_text().strip()}  (kept in {kept.relative_to(BASE_DIR)})")
        self.say("Logs:    var/log/web.log, var/log/worker.log")
        self.say("Ctrl-C stops web and workers; make stop also the database.")

    def _watch(self, processes: dict[str, subprocess.Popen[bytes]], until_idle: bool) -> int:
        """Say what changed, once a second, until the end."""
        said = ""
        told_boards: set[str] = set()
        while True:
            for name, process in processes.items():
                if process.poll() is not None:
                    raise LaunchFailed(
                        f"the {name} process ended with {process.returncode}; see var/log/{name}.log"
                    )
            try:
                state = Pipeline.now()
            except DatabaseError as error:
                connection.close()
                self.say(f"The database does not answer: {error}")
                time.sleep(POLL_SECONDS)
                continue
            if (line := state.line()) != said:
                self.say(line)
                said = line
            for board in sorted(state.published - told_boards):
                self.say(f"Published: http://{self.bind}{board}")
                told_boards.add(board)
            if until_idle and state.is_idle:
                self.say("Nothing is left to do.")
                return 0
            time.sleep(POLL_SECONDS)


def _spawn(command: list[str], environment: dict[str, str], name: str) -> subprocess.Popen[bytes]:
    with (VAR_DIR / "log" / f"{name}.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, *command],
            cwd=BASE_DIR,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _stop(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    """Ask each to end, give it the grace a worker needs to hand its task back, then make it."""
    for process in processes.values():
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for process in processes.values():
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Two first runs at once follow one another. The lock ends with its connection, outside the pool."""
    own = copy.deepcopy(connection.settings_dict)
    own["OPTIONS"].pop("pool", None)
    locking = type(connections[DEFAULT_DB_ALIAS])(own, alias=DEFAULT_DB_ALIAS)
    try:
        with locking.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [SET_UP_LOCK])
        yield
    finally:
        locking.close()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and a closed terminal end the run as Ctrl-C does; all stop everything that was started.

    Both are set by hand: a shell starts a job in the background with SIGINT ignored, and Python leaves it so.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDINGS}
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse_taken(bind: str) -> None:
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise LaunchFailed(f"--bind takes HOST:PORT, not {bind!r}")
    if (why := _why_not(host, int(port))) is None:
        return
    others = range(int(port) + 1, min(int(port) + 100, 65_536)) if why.errno == errno.EADDRINUSE else ()
    free = next((f"{host}:{other}" for other in others if _why_not(host, other) is None), "127.0.0.1:8000")
    raise LaunchFailed(f'{bind} cannot be used ({why.strerror}); try: make run ARGS="--bind {free}"')


def _why_not(host: str, port: int) -> OSError | None:
    """Why nobody can listen there; None if somebody can."""
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError as error:
            return error
    return None


@transaction.atomic
def _make_first_account() -> None:
    """A staff account with a password of its own, and a filter, so that the personal board is not empty."""
    password = secrets.token_urlsafe(12)
    person = User.objects.create_superuser("admin", "", password)
    create_filter(
        name="Early-career software",
        criteria=Criteria.parse(SAMPLE_BOARDS[0].criteria),
        owner=person,
        by="first run",
    )
    kept = _first_login()
    kept.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"admin / {password}\n")


def _first_login() -> Path:
    """Where the first account's password is kept: each database has one of its own."""
    return VAR_DIR / f"first-login-{connection.settings_dict['NAME']}.txt"
