"""The product's web application on the test's database, with bounds of the test's choice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from config.asgi import Web
    from config.pages import Pages

CHUNK = 100_000
CHUNKS = 60


def make(database: str, given: dict[str, Any]) -> Web:
    """What gunicorn calls once in each process. What is given and is no setting here is one of `Limits`."""
    _set_up(database)
    settings.QUEUE_NOTIFICATIONS = given.pop("has_notifications", True)

    from config import server
    from config.asgi import Web
    from taskqueue.realtime import Limits

    server.FIRST_REQUEST_SECONDS = given.pop("first_request_seconds", server.FIRST_REQUEST_SECONDS)
    return Web(Limits(**given))


def make_large(database: str, given: dict[str, Any]) -> Pages:
    """Pages of one thread, each a long answer that is made as it is sent."""
    _set_up(database)

    import config.asgi  # noqa: F401 - sets Django up
    from config.pages import Pages

    return Pages(_large, threads=1, hub=None)


def _large(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] == "/healthz":
        return iter([b"alive"])
    return (b"%d" % (number % 10) * CHUNK for number in range(CHUNKS))


def _set_up(database: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    settings.DATABASES["default"]["NAME"] = database
