"""The place where runs happen: the server, the interpreters and the databases that runs start from."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks import BenchmarkFailed
from benchmarks.queue.cases import Case
from benchmarks.queue.cluster import Cluster
from benchmarks.queue.processes import Fleet
from config.embedded import USER

PROJECT = Path(__file__).resolve().parents[2]
STEP_SECONDS = 420.0  # the longest step is to queue a million tasks


@dataclass
class Workshop:
    """`peers` is the interpreter that has the peers, ours is the one that runs this."""

    cluster: Cluster
    peers: Path
    say: Callable[[str], object]
    _made: set[str] = field(default_factory=set)

    # Databases to start from. Each is made once and only copied afterwards.

    def installed(self, case: Case) -> str:
        """A database with the system's tables and nothing in them."""
        return self.made(f"empty-{case.system}", lambda name: self.step("install", case, name))

    def filled(self, case: Case, count: int) -> str:
        """The same with `count` tasks pending."""

        def fill(name: str) -> None:
            self.say(f"queueing {count:,} tasks: {case.name}")
            self.hastily("fill", case, name, count=count)
            self.cluster.tidy(name)

        return self.made(f"{case.load}-{count}-{case.system}", fill, template=self.installed(case))

    def made(self, name: str, make: Callable[[str], object], *, template: str = "template1") -> str:
        """The database `name`, which `make` completed; after a failure the next caller begins anew."""
        if name not in self._made:
            self.cluster.drop(name)
            self.cluster.create(name, template=template)
            make(name)
            self._made.add(name)
        return name

    # Processes

    def step(self, verb: str, case: Case, database: str, **options: Any) -> Any:
        """Have the system take one step (driver.py); returns its answer."""
        return self._step(verb, case, database, options, {})

    def hastily(self, verb: str, case: Case, database: str, **options: Any) -> Any:
        """The same without waiting for the disk: queueing a backlog is not what is measured."""
        return self._step(verb, case, database, options, {"PGOPTIONS": "-c synchronous_commit=off"})

    def fleet(self, case: Case, database: str, *, workers: int, record: Path) -> Fleet:
        """`workers` workers: of ours one supervisor that forks them, of the peers so many processes."""
        commands = 1 if case.is_ours else workers
        options = {"workers": workers // commands, "mode": case.mode, "record": record}
        command = self._command("work", case, database, options)
        environment = self._environment(case, database)
        return Fleet([command] * commands, folder=PROJECT, logs=record, environment=environment)

    def folder(self) -> tempfile.TemporaryDirectory[str]:
        """For what the workers of one run note and log."""
        return tempfile.TemporaryDirectory(prefix="rolecall-benchmark-", ignore_cleanup_errors=True)

    def _step(
        self, verb: str, case: Case, database: str, options: Mapping[str, Any], extra: Mapping[str, str]
    ) -> Any:
        try:
            ended = subprocess.run(  # noqa: S603 - our own command
                self._command(verb, case, database, options),
                cwd=PROJECT,
                env={**self._environment(case, database), **extra},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=STEP_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BenchmarkFailed(f"{case.name}, {verb}: not within {STEP_SECONDS:.0f} s") from error
        if ended.returncode:
            raise BenchmarkFailed(f"{case.name}, {verb}: {ended.stderr.strip()[-800:]}")
        return json.loads(ended.stdout.splitlines()[-1])

    def _command(self, verb: str, case: Case, database: str, options: Mapping[str, Any]) -> list[str]:
        named = {
            "socket-dir": self.cluster.socket_dir,
            "user": USER,
            "database": database,
            "load": case.load,
            **options,
        }
        listed = [part for name, value in named.items() for part in (f"--{name}", str(value))]
        return [self._python(case), "-m", "benchmarks.queue.driver", verb, case.system, *listed]

    def _python(self, case: Case) -> str:
        return sys.executable if case.is_ours else str(self.peers)

    def _environment(self, case: Case, database: str) -> dict[str, str]:
        if not case.is_ours:
            return {**os.environ, "PYTHONWARNINGS": "ignore"}
        # A machine with a database of its own, as the operations page describes it.
        url = f"postgres://{USER}@/{database}?host={quote(str(self.cluster.socket_dir), safe='')}"
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": url,
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ALLOWED_HOSTS": "localhost",
            "DEBUG": "off",
        }
