from __future__ import annotations

from django.apps import AppConfig


class TaskQueueConfig(AppConfig):
    name = "taskqueue"
    label = "queue"
    verbose_name = "Queue"
    default_auto_field = "django.db.models.BigAutoField"
