"""What workers say of themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from config import env
from taskqueue import sql
from taskqueue.models import Worker


def see_worker(name: str, *, kinds: Sequence[str], task_id: int | None) -> None:
    """The worker's row says that it lives, in this process, and what it runs."""
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SEE_WORKER,
            {
                "name": name,
                "task": task_id,
                "kinds": list(kinds),
                "release": settings.RELEASE[:100],
                "image_digest": settings.IMAGE_DIGEST,
                "hostname": env.HOSTNAME,
                "pid": os.getpid(),
            },
        )


def forget_worker(name: str) -> None:
    """The worker left in good order: no row of it remains."""
    Worker.objects.filter(name=name).delete()
