"""System checks: a combination of settings that cannot work is refused at start, with an id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from config import env

PROVIDERS = ("rules", "openai")


@register()
def check_production(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    """With a database of its own, nothing falls back to a development default.

    Django itself refuses to start without SECRET_KEY.
    """
    if settings.IS_LOCAL:
        return
    if not settings.ALLOWED_HOSTS:
        yield Error("ALLOWED_HOSTS is not set", hint="Name the host that people type.", id="rolecall.E001")
    if settings.DEBUG:
        yield Warning("DEBUG is on with a DATABASE_URL", id="rolecall.W001")
    if not env.STORAGE_BUCKET:
        yield Warning(
            "STORAGE_BUCKET is not set: objects are files of this machine",
            hint="Several machines need one bucket.",
            id="rolecall.W002",
        )


@register()
def check_reviewer(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    if settings.REVIEW_PROVIDER not in PROVIDERS:
        yield Error(
            f"REVIEW_PROVIDER is {settings.REVIEW_PROVIDER!r}",
            hint=f"It is one of: {', '.join(PROVIDERS)}.",
            id="rolecall.E002",
        )
    if settings.REVIEW_PROVIDER == "openai" and not settings.OPENAI_API_KEY:
        yield Error(
            "REVIEW_PROVIDER is openai and OPENAI_API_KEY is not set",
            hint="Set the key, or leave REVIEW_PROVIDER out to use the embedded rules.",
            id="rolecall.E003",
        )


@register()
def check_queue(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    if settings.QUEUE_HEARTBEAT_SECONDS * 3 > settings.QUEUE_LEASE_SECONDS:
        yield Error(
            "a lease must outlast three heartbeats: one late beat would lose the task",
            id="rolecall.E004",
        )
    if settings.QUEUE_ACCOUNT_TURNS < 1:
        yield Error(
            f"QUEUE_ACCOUNT_TURNS is {settings.QUEUE_ACCOUNT_TURNS}: nobody's tasks would run",
            hint="How many tasks of one account may run at once; 1 is the default.",
            id="rolecall.E007",
        )


@register()
def check_logs(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    if env.LOG_FORMAT not in ("line", "json"):
        yield Error(f"LOG_FORMAT is {env.LOG_FORMAT!r}", hint="It is line or json.", id="rolecall.E008")


@register()
def check_overrides(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    for asked, read in settings.FETCH_BASE_URL_OVERRIDES.items():
        if not read.startswith(("http://", "https://")) or not asked.startswith(("http://", "https://")):
            yield Error(
                f"FETCH_BASE_URL_OVERRIDES has {asked}={read}",
                hint="Write pairs of base URLs: https://api.example=http://127.0.0.1:9100/api.example",
                id="rolecall.E005",
            )


@register()
def check_private_hosts(app_configs: Any, **kwargs: Any) -> Iterable[CheckMessage]:
    for pair in settings.FETCH_ALLOW_PRIVATE_HOSTS:
        host, _, port = pair.rpartition(":")
        if not host or not port.isdigit():
            yield Error(
                f"FETCH_ALLOW_PRIVATE_HOSTS has {pair!r}",
                hint="Write host:port pairs: 127.0.0.1:9100",
                id="rolecall.E006",
            )
