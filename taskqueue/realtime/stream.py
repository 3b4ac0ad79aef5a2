"""Server-sent events: a response that begins as a page's and goes on without its thread."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Hashable, MutableMapping
from functools import partial
from typing import Any

from django.http import HttpResponse

from taskqueue.realtime.hub import Departed, Hub, Refused, Subscription

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HUB = "rolecall.hub"  # in request.META, where the server can stream

# A comment is what keeps proxies from closing a silent connection; scripts cannot see it, and learn from the
# event that the stream is not stuck somewhere.
BEAT = b': beat\ndata: {"type":"beat"}\n\n'
LAST_WORDS_SECONDS = 1.0


class EventStream(HttpResponse):
    """The view's answer. Once it is given, the request is over: thread and database connection are free.

    The server then calls `run` on its event loop.
    """

    streaming = True  # so that no middleware gives it a length

    def __init__(
        self, hub: Hub, *, account: str, is_staff: bool, ticket: Hashable, departed: Departed
    ) -> None:
        super().__init__(content_type="text/event-stream")
        # No proxy may keep the events back: nginx by the second header, others by no-transform, since they
        # would buffer in order to compress.
        self["Cache-Control"] = "no-cache, no-store, no-transform"
        self["X-Accel-Buffering"] = "no"
        self._hub = hub
        self._subscribe = partial(
            hub.subscribe, account=account, is_staff=is_staff, ticket=ticket, departed=departed
        )

    async def run(self, start: Message, receive: Receive, send: Send) -> None:
        """Send events until the client leaves or the stream is ended. `start` is the response's head."""
        try:
            subscription = self._subscribe()
        except Refused:
            await send(_refusal(self._hub.limits.retry_after_seconds))
            await send({"type": "http.response.body", "body": b"Too many streams are open.\n"})
            return
        feeding = asyncio.create_task(self._feed(subscription, start, send))
        ends = [asyncio.create_task(_gone(receive)), asyncio.create_task(subscription.ended.wait())]
        try:
            await asyncio.wait({feeding, *ends}, return_when=asyncio.FIRST_COMPLETED)
            if subscription.ended.is_set():  # the client may be one that reads nothing any more
                await asyncio.wait({feeding}, timeout=LAST_WORDS_SECONDS)
        finally:
            self._hub.unsubscribe(subscription)
            for task in (feeding, *ends):
                task.cancel()
            await asyncio.gather(feeding, *ends, return_exceptions=True)

    async def _feed(self, subscription: Subscription, start: Message, send: Send) -> None:
        # Clients of a process that ended must not return in step.
        retry = b"retry: %d\n\n" % random.randint(2_000, 5_000)  # noqa: S311
        await send(start)
        await send({"type": "http.response.body", "body": retry, "more_body": True})
        while (said := await subscription.next(self._hub.limits.beat_seconds)) is not None:
            await send({"type": "http.response.body", "body": said or BEAT, "more_body": True})
        await send({"type": "http.response.body"})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _refusal(retry_after_seconds: int) -> Message:
    headers = [(b"content-type", b"text/plain"), (b"retry-after", b"%d" % retry_after_seconds)]
    return {"type": "http.response.start", "status": 503, "headers": headers}
