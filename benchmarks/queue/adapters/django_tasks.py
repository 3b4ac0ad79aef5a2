"""django-tasks-db: one task at a time by design; its best is a connection that is kept between tasks."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from benchmarks.queue.adapters import Place
from benchmarks.queue.recorder import Recorder


class DjangoTasks:
    def __init__(self, place: Place) -> None:
        self._place = place

    def install(self) -> None:
        self._set_up()
        call_command("migrate", verbosity=0)

    def open(self) -> None:
        self._set_up(keeps_connection=True)

    def close(self) -> None:
        connections.close_all()

    def enqueue(self, number: int) -> None:
        self._noop.noop.enqueue(number)

    def enqueue_many(self, numbers: Sequence[int]) -> None:
        for number in numbers:  # it has no other way
            self.enqueue(number)

    def work(self, recorder: Recorder, *, mode: str, workers: int) -> None:
        self._set_up(keeps_connection=mode == "best")
        self._noop.recorders.append(recorder)
        call_command("db_worker", startup_delay=False, reload=False, verbosity=0)

    def _set_up(self, *, keeps_connection: bool = False) -> None:
        database = {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": self._place.socket_dir,
            "USER": self._place.user,
            "NAME": self._place.database,
            "CONN_MAX_AGE": None if keeps_connection else 0,  # 0 is Django's own default
        }
        settings.configure(
            SECRET_KEY="benchmark",  # noqa: S106
            USE_TZ=True,
            DATABASES={"default": database},
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
            INSTALLED_APPS=["django_tasks", "django_tasks_db"],
            TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
            LOGGING={"version": 1, "loggers": {"django_tasks": {"level": "ERROR"}}},
        )
        django.setup()
        self._noop: Any = import_module("benchmarks.queue.adapters.django_tasks_noop")
