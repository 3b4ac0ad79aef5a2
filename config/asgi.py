"""What the web server runs: pages on threads, streams beside them."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - models are imported from here on
from django.core.wsgi import get_wsgi_application  # noqa: E402

from config.gateway import Receive, Scope, Send  # noqa: E402
from config.pages import Pages  # noqa: E402
from taskqueue.realtime import Hub, Limits  # noqa: E402


class Web:
    """The ASGI application of one process."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.hub = Hub(limits) if settings.QUEUE_NOTIFICATIONS else None
        threads = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
        self.pages = Pages(get_wsgi_application(), threads=threads, hub=self.hub)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self.pages(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            raise ValueError(f"nothing here speaks {scope['type']}")

    def end(self) -> None:
        """The server stops: streams would never end by themselves."""
        if self.hub is not None:
            self.hub.end()

    async def _live(self, receive: Receive, send: Send) -> None:
        while (event := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{event['type']}.complete"})
        self.end()
        await send({"type": "lifespan.shutdown.complete"})


application = Web()
