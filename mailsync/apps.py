from __future__ import annotations

from django.apps import AppConfig


class MailSyncConfig(AppConfig):
    name = "mailsync"
    label = "mailsync"
    verbose_name = "Mail"
    default_auto_field = "django.db.models.BigAutoField"
