from __future__ import annotations

from django.apps import AppConfig


class BoardsConfig(AppConfig):
    name = "boards"
    label = "boards"
    verbose_name = "Boards"
    default_auto_field = "django.db.models.BigAutoField"
