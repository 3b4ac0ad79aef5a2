"""Where the embedded PostgreSQL puts its data and its socket when the first choice does not do."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.embedded import Embedded, EmbeddedFailed, home
from tests.config.test_embedded import ask, needs_root, pid_of
from tests.conftest import PROJECT


@pytest.fixture
def far(folder: Path) -> Iterator[Embedded]:
    """A server whose path is too long for a socket."""
    throwaway = Embedded(folder / ("long" * 30) / "pg", durable=False)
    yield throwaway
    throwaway.destroy()


def test_a_path_too_long_for_a_socket_gets_a_short_folder_of_its_own(far: Embedded) -> None:
    sockets = far.start()
    assert sockets != far.data
    assert len(os.fsencode(sockets)) < 50
    assert stat.S_IMODE(sockets.stat().st_mode) & 0o027 == 0
    assert ask(far, "SELECT 1") == "1"

    assert far.looks_alive()
    sockets.chmod(0o777)  # whoever may enter it may put a server of their own there
    assert not far.looks_alive()
    assert not far.is_reachable()
    sockets.chmod(0o700)

    far.destroy()
    assert not sockets.exists()


def test_a_folder_with_spaces_quotes_and_commas_works(folder: Path) -> None:
    server = Embedded(folder / "it's a, folder" / "pg", durable=False)
    try:
        server.start()
        assert ask(server, "SELECT 1") == "1"
    finally:
        server.destroy()


def test_a_folder_that_no_shell_can_quote_is_refused_in_words(folder: Path) -> None:
    with pytest.raises(EmbeddedFailed, match="rename the folder"):
        Embedded(folder / "$HOME" / "pg").start()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("plant", ["open to all", "a link", "a file"])
def test_a_planted_socket_folder_is_refused(far: Embedded, folder: Path, plant: str) -> None:
    """Everybody may write to /tmp: a stranger's server there must never be taken for ours."""
    sockets = far.socket_dir()
    match plant:
        case "open to all":
            sockets.mkdir()
            sockets.chmod(0o777)
        case "a link":
            (folder / "theirs").mkdir(mode=0o700)
            sockets.symlink_to(folder / "theirs")
        case "a file":
            sockets.touch(mode=0o600)
    try:
        with pytest.raises(EmbeddedFailed, match="made by somebody else"):
            far.start()
        assert not far.is_reachable()
    finally:
        sockets.rmdir() if plant == "open to all" else sockets.unlink()


@needs_root
def test_a_short_folder_owned_by_another_account_is_refused(far: Embedded) -> None:
    sockets = far.socket_dir()
    sockets.mkdir(mode=0o700)
    os.chown(sockets, 54321, 54321)
    try:
        with pytest.raises(EmbeddedFailed, match="made by somebody else"):
            far.start()
    finally:
        sockets.rmdir()


@needs_root
def test_a_checkout_that_the_server_cannot_enter_stays_as_private_as_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.chmod(0o700)
    server = Embedded(folder / "checkout" / "var" / "pg", durable=False)
    elsewhere = server.socket_dir()
    assert elsewhere.is_relative_to("/var/lib/rolecall")
    try:
        assert server.start() == elsewhere
        assert ask(server, "SELECT 1") == "1"
        assert str(elsewhere) in capsys.readouterr().err
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

        server.stop()
        folder.chmod(0o755)  # opened later: the data is still found
        server.start()
        assert server.socket_dir() == elsewhere
        assert capsys.readouterr().err == ""
    finally:
        server.destroy()
    assert not elsewhere.parent.exists()


@needs_root
def test_binaries_that_the_server_cannot_read_are_copied(server: Embedded, tmp_path: Path) -> None:
    package = home.installed().parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, tmp_path / part.name, ignore=shutil.ignore_patterns("include"))
    tmp_path.chmod(0o700)
    program = "import sys, pathlib, config.embedded as e; e.Embedded(pathlib.Path(sys.argv[1])).start()"
    command = [sys.executable, "-c", program, str(server.data)]
    subprocess.run(command, cwd=PROJECT, env={"PYTHONPATH": str(tmp_path)}, check=True)

    assert ask(server, "SELECT 1") == "1"
    asked = ["ps", "-ww", "-o", "args=", "-p", str(pid_of(server))]
    assert subprocess.check_output(asked, text=True).startswith("/var/lib/rolecall/")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@needs_root
def test_data_that_root_copied_is_handed_to_the_server(server: Embedded) -> None:
    server.start()
    server.stop()
    for path in (server.data, *server.data.rglob("*")):
        os.chown(path, 0, 0, follow_symlinks=False)
    server.start()
    assert ask(server, "SELECT 1") == "1"
    assert server.data.stat().st_uid != 0


@needs_root
def test_an_owner_that_this_machine_does_not_know_keeps_the_data(server: Embedded) -> None:
    """As where root of a container works on a folder of the machine around it."""
    server.start()
    server.stop()
    for path in (server.data, *server.data.rglob("*")):
        os.chown(path, 54321, 54321, follow_symlinks=False)
    server.start()
    assert ask(server, "SELECT 1") == "1"
    assert server.data.stat().st_uid == 54321


@needs_root
def test_a_folder_that_leads_into_a_private_one_does_not_count_as_open(folder: Path) -> None:
    (folder / "private").mkdir(mode=0o700)
    (folder / "private" / "var").mkdir()
    (folder / "var").symlink_to(folder / "private" / "var")
    assert Embedded(folder / "var" / "pg").socket_dir().is_relative_to("/var/lib/rolecall")


@needs_root
def test_a_stranger_is_told_whose_server_it_is(running: Embedded) -> None:
    owner = running.data.owner()
    os.seteuid(54321)
    try:
        with pytest.raises(EmbeddedFailed, match=f"belongs to {owner}"):
            running.start()
        with pytest.raises(psycopg.OperationalError, match="Permission denied"):
            psycopg.connect(running.url())
    finally:
        os.seteuid(0)
