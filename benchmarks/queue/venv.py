"""The peers' own Python environment, made once under `var/benchmarks/venv` from the pinned requirements."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import BenchmarkFailed

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
STAMP = ".requirements-sha256"  # written last: without it an install was cut short
INSTALL_SECONDS = 600


def peers_python(folder: Path, say: Callable[[str], object]) -> Path:
    """An interpreter that has the peers as pinned; installs them where that was not done yet.

    Raises BenchmarkFailed when they cannot be had.
    """
    python, stamp = folder / "bin" / "python", folder / STAMP
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"installing the peers into {folder} …")
        shutil.rmtree(folder, ignore_errors=True)
        uv = Path(sys.executable).with_name("uv")  # what bin/bootstrap installs with
        _run([str(uv), "venv", "--quiet", "--python", sys.executable, str(folder)])
        install = ["pip", "install", "--quiet", "--python", str(python), "--require-hashes"]
        _run([str(uv), *install, "-r", str(REQUIREMENTS)])
        stamp.write_text(wanted)
    return python


def versions(python: Path) -> dict[str, str]:
    """The installed packages."""
    code = "from importlib.metadata import distributions as d; [print(p.name, p.version) for p in d()]"
    return dict(line.split() for line in sorted(_run([str(python), "-c", code]).splitlines()))


def _run(command: list[str]) -> str:
    try:
        ended = subprocess.run(  # noqa: S603 - our own installer and interpreter
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchmarkFailed(f"the peers could not be installed: {error}") from error
    if ended.returncode:
        raise BenchmarkFailed(f"the peers could not be installed: {ended.stderr.strip()[-800:]}")
    return ended.stdout
