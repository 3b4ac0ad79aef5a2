"""What the environment says, typed. The only module that reads it; `.env.example` lists every name."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Any

import environ

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

_env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)

DATABASE_URL: str = _env.str("DATABASE_URL", default="")
IS_LOCAL = not DATABASE_URL  # one machine with the embedded database: the only case with defaults for secrets

DEBUG: bool = _env.bool("DEBUG", default=False)
ALLOWED_HOSTS: list[str] = _env.list(
    "ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if IS_LOCAL else []
)
CSRF_TRUSTED_ORIGINS: list[str] = _env.list("CSRF_TRUSTED_ORIGINS", default=[])

STORAGE_BUCKET: str = _env.str("STORAGE_BUCKET", default="")
AWS_S3_ENDPOINT_URL: str | None = _env.str("AWS_S3_ENDPOINT_URL", default="") or None

OPENAI_API_KEY: str = _env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL: str = _env.str("OPENAI_BASE_URL", default="")
REVIEW_PROVIDER: str = _env.str("REVIEW_PROVIDER", default="") or ("openai" if OPENAI_API_KEY else "rules")
REVIEW_MODEL: str = _env.str("REVIEW_MODEL", default="gpt-5-mini")

FETCH_ALLOW_PRIVATE_HOSTS: list[str] = _env.list("FETCH_ALLOW_PRIVATE_HOSTS", default=[])
FETCH_EGRESS: str = _env.str("FETCH_EGRESS", default="default")
CATALOG_RETENTION_DAYS: dict[str, int] = {
    "pages": _env.int("RETENTION_PAGES_DAYS", default=14),
    "pulls": _env.int("RETENTION_PULLS_DAYS", default=90),
    "fetches": _env.int("RETENTION_FETCHES_DAYS", default=180),
    "texts": _env.int("RETENTION_TEXTS_DAYS", default=365),
    "postings": _env.int("RETENTION_POSTINGS_DAYS", default=365),
    "robots": _env.int("RETENTION_ROBOTS_DAYS", default=30),
}

SOURCE_KEYS: dict[str, dict[str, str]] = {
    "usajobs": {
        "api_key": _env.str("USAJOBS_API_KEY", default=""),
        "email": _env.str("USAJOBS_EMAIL", default=""),
    },
    "adzuna": {
        "app_id": _env.str("ADZUNA_APP_ID", default=""),
        "app_key": _env.str("ADZUNA_APP_KEY", default=""),
    },
}

FETCH_CONTACT: str = _env.str("FETCH_CONTACT", default="")

QUEUE_ACCOUNT_TURNS: int = _env.int("QUEUE_ACCOUNT_TURNS", default=1)
QUEUE_NOTIFICATIONS: bool = _env.bool("QUEUE_NOTIFICATIONS", default=True)
QUEUE_WORKER_MAX_MB: int = _env.int("QUEUE_WORKER_MAX_MB", default=600)

METRICS_TOKEN: str = _env.str("METRICS_TOKEN", default="")
LOG_FORMAT: str = _env.str("LOG_FORMAT", default="line")

RELEASE: str = _env.str("RELEASE", default="dev")
IMAGE_DIGEST: str = _env.str("IMAGE_DIGEST", default="")
HOSTNAME = socket.gethostname()


def secret_key() -> str:
    """`SECRET_KEY`; on a local checkout without one, a random key kept under `var/`. "" in production."""
    if given := _env.str("SECRET_KEY", default=""):
        return str(given)
    return _kept_secret(VAR_DIR / "secret-key") if IS_LOCAL else ""


def base_url_overrides() -> dict[str, str]:
    """`FETCH_BASE_URL_OVERRIDES` as {base URL asked for: base URL read instead}."""
    pairs: list[str] = _env.list("FETCH_BASE_URL_OVERRIDES", default=[])
    return {asked.rstrip("/"): read.rstrip("/") for asked, _, read in (pair.partition("=") for pair in pairs)}


def database() -> dict[str, Any]:
    """Django's settings for the one database: `DATABASE_URL`, else the embedded server under `var/`."""
    if DATABASE_URL:
        parsed: dict[str, Any] = {**_env.db_url_config(DATABASE_URL), "ENGINE": "config.postgresql"}
        if host := parsed.get("OPTIONS", {}).pop("host", None):
            parsed["HOST"] = host  # a socket folder: dbshell reads HOST, never OPTIONS
    else:
        from config import embedded

        parsed = {
            "ENGINE": "config.postgresql",
            "NAME": embedded.DATABASE,
            "USER": embedded.USER,
            "HOST": str(embedded.socket_dir()),
        }
    # The pool needs CONN_MAX_AGE 0; without health checks each connection that a database restart
    # broke would fail one request.
    parsed["CONN_MAX_AGE"] = 0
    parsed["CONN_HEALTH_CHECKS"] = True
    # A cursor on the server lives in a session; a pooler may deal out sessions by the transaction.
    parsed["DISABLE_SERVER_SIDE_CURSORS"] = not QUEUE_NOTIFICATIONS
    pool_max: int = _env.int("DATABASE_POOL_MAX", default=8)
    parsed.setdefault("OPTIONS", {})["pool"] = {"min_size": 0, "max_size": pool_max, "timeout": 3}
    return parsed


def _kept_secret(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = path.with_name(f".{path.name}.{os.getpid()}")
        with os.fdopen(os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(mine, path)  # created whole or not at all: of two first processes one wins
        except FileExistsError:
            pass
        finally:
            mine.unlink()
    return path.read_text()
