from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Rolecall"

    def ready(self) -> None:
        import config.checks  # noqa: F401 - registers the checks
