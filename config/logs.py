"""Log lines that say whose work they belong to: task, kind, attempt, worker, and the release that runs.

One record is one line, `key=value` at its end (a traceback's lines follow it, indented); or, with
LOG_FORMAT=json, one JSON object.
"""

from __future__ import annotations

import json
import logging
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from config import env

Names = Mapping[str, str | float]

# Of logging's configuration, what the web server's and Django's have in common.
TO_STDERR: Mapping[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "work": {"()": "config.logs.WorkFilter"},
        "request": {"()": "config.logs.RequestFilter"},
    },
    "formatters": {"line": {"()": "config.logs.LineFormatter"}, "json": {"()": "config.logs.JsonFormatter"}},
    "handlers": {
        name: {
            "class": "logging.StreamHandler",
            "filters": filters,
            "formatter": "json" if env.LOG_FORMAT == "json" else "line",
        }
        for name, filters in (("stderr", ["work"]), ("requests", ["work", "request"]))
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
}

_work: ContextVar[Names] = ContextVar("work", default={})  # noqa: B039 - nobody changes it

_PLAIN = re.compile(r"[\w.:@/+-]+", re.ASCII)
# What would end a line or move a terminal's cursor: logged text may come from anywhere.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@contextmanager
def working_on(**names: str | float) -> Iterator[None]:
    """Every line that is logged inside the block says `names`, whichever library logs it.

    Coroutines included. A thread started inside begins without them, unless it is given a copy of the context
    (`contextvars.copy_context().run`).
    """
    token = _work.set({**_work.get(), **names})
    try:
        yield
    finally:
        _work.reset(token)


class WorkFilter(logging.Filter):
    """Lets everything pass and notes on it, in the thread that logs, what is being worked on."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.work = {**_work.get(), "release": env.RELEASE}
        return True


class RequestFilter(logging.Filter):
    """Makes names of the parts of a line in Gunicorn's access log ("access_log_format" in its settings)."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, Mapping):
            atoms: Mapping[str, Any] = record.args
            record.msg, record.args = "%s %s", (atoms["m"], atoms["U"])
            record.work = {
                **_names(record),
                "status": int(atoms["s"]),
                "seconds": float(atoms["L"]),
                "client": str(atoms["h"]),
            }
        return True


class LineFormatter(logging.Formatter):
    """2026-11-29T10:00:00.123Z INFO catalog.pull 3 listings task=12 kind=catalog.pull attempt=1 …"""

    def format(self, record: logging.LogRecord) -> str:
        message = _CONTROL.sub(_escaped, record.getMessage())
        said = f" {message} "
        rest = [pair for pair in _pairs(tuple(_names(record).items())) if f" {pair} " not in said]
        line = " ".join([_moment(record), record.levelname, record.name, message, *rest])
        trace = _trace(self, record)
        return f"{line}\n{textwrap.indent(trace, '  ', lambda _: True)}" if trace else line


class JsonFormatter(logging.Formatter):
    """{"at", "level", "logger", "message", the names, "exception" if there is one}"""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, Any] = {
            "at": _moment(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_names(record),
        }
        if trace := _trace(self, record):
            values["exception"] = trace
        return json.dumps(values)


@lru_cache(maxsize=64)  # several lines are about one task
def _pairs(names: tuple[tuple[str, str | float], ...]) -> list[str]:
    return [f"{name}={_quoted(value)}" for name, value in names]


def _names(record: logging.LogRecord) -> Names:
    names: Names = getattr(record, "work", {})
    return names


def _moment(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts)


def _quoted(value: str | float) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
