"""Worker processes, and what they and the server cost, as Linux counts it. Elsewhere costs are unknown."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PROC = Path("/proc")
GRACE_SECONDS = 6.0
TAIL_BYTES = 1_500


class Fleet:
    """Processes of one command each, as the leaders of sessions of their own, from enter to exit."""

    def __init__(
        self, commands: Sequence[Sequence[str]], *, folder: Path, logs: Path, environment: Mapping[str, str]
    ) -> None:
        self._commands = commands
        self._folder = folder
        self._logs = logs
        self._environment = environment
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            for number, command in enumerate(self._commands):
                with (self._logs / f"worker-{number}.log").open("wb") as log:
                    self._processes.append(
                        subprocess.Popen(  # noqa: S603 - our own command
                            command,
                            cwd=self._folder,
                            env=self._environment,
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=log,
                            start_new_session=True,
                        )
                    )
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """None of the processes nor of their children runs any more."""
        try:
            for process in self._processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
            for process in self._processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.05, deadline - time.monotonic()))
        finally:
            for process in self._processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def is_whole(self) -> bool:
        return all(process.poll() is None for process in self._processes)

    def cpu_seconds(self) -> float | None:
        return _sum(cpu_seconds(process.pid) for process in self._processes)

    def pss_bytes(self) -> float | None:
        """Resident memory, with pages that several processes share counted in parts."""
        return _sum(pss_bytes(process.pid) for process in self._processes)

    def last_words(self) -> str:
        words = [path.read_bytes()[-TAIL_BYTES:] for path in sorted(self._logs.glob("worker-*.log"))]
        return b"\n".join(filter(None, words)).decode(errors="replace").strip()


def cpu_seconds(root: int) -> float | None:
    """User and system time of a process, of its living descendants and of the children it has reaped."""
    total = 0.0
    for pid in _tree(root):
        with contextlib.suppress(OSError):
            # After the name, which may hold spaces: state is field 3, utime to cstime are 14 to 17.
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            total += sum(int(ticks) for ticks in fields[11 : 15 if pid == root else 13])
    return total / os.sysconf("SC_CLK_TCK") if total else None


def pss_bytes(root: int) -> float | None:
    """The proportional set size of a process and its living descendants."""
    total = 0
    for pid in _tree(root):
        with contextlib.suppress(OSError):
            for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total or None


def pressure() -> float | None:
    """Share (%) of the last ten seconds in which something waited for a processor: others' noise."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return float((PROC / "pressure" / "cpu").read_text().split("avg10=")[1].split()[0])
    return None


def _tree(root: int) -> Iterator[int]:
    yield root
    for path in (PROC / str(root) / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in path.read_text().split():
                yield from _tree(int(child))


def _sum(parts: Iterator[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
