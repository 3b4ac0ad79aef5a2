"""What workers say of themselves."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from config import env
from taskqueue.services.claims import reap
from taskqueue.sql import claiming as sql

logger = logging.getLogger(__name__)


def registration(name: str, *, kinds: Sequence[str]) -> dict[str, Any]:
    """What REGISTER says of this process."""
    return {
        "worker": name,
        "lease": settings.QUEUE_LEASE_SECONDS,
        "kinds": list(kinds),
        "release": settings.RELEASE[:100],
        "image_digest": settings.IMAGE_DIGEST,
        "hostname": env.HOSTNAME,
        "pid": os.getpid(),
    }


def register(name: str, *, kinds: Sequence[str] = ()) -> None:
    """The worker has a row and with it a lease: it may claim."""
    with connection.cursor() as cursor:
        cursor.execute(sql.REGISTER, registration(name, kinds=kinds))


def bury(incarnation: str) -> None:
    """The process of that worker has ended, seen by its supervisor: nobody needs to wait for its lease.

    Best effort: a database that is away leaves it to the reaper.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql.BURY, {"name": f"%:{incarnation}"})
            if cursor.rowcount:
                reap()
    except (OperationalError, InterfaceError) as gone:
        logger.warning("the tasks of worker %s wait for its lease: %s", incarnation, gone)


def forget_worker(name: str) -> None:
    """The worker left in good order: no row of it remains."""
    with connection.cursor() as cursor:
        cursor.execute(sql.FORGET, {"worker": name})


def memory_bytes() -> int | None:
    """What this process has in memory; None where the system does not say (it is not Linux)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
