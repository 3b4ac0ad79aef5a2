"""Alerts: what somebody has to look at, raised once and open until it is over."""

from __future__ import annotations

from django.db.models.functions import Now

from catalog.models import Alert, Source


def raise_alert(kind: str, source: Source, message: str) -> None:
    """Open the alert, or leave it open with what it is about by now."""
    text = message[:500]
    if not Alert.objects.filter(kind=kind, source=source, resolved_at=None).update(message=text):
        Alert.objects.create(kind=kind, source=source, message=text)


def resolve_alerts(kind: str, source: Source) -> None:
    Alert.objects.filter(kind=kind, source=source, resolved_at=None).update(resolved_at=Now())
