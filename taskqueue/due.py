"""Rows for a schedule, made from the rows of a table."""

from __future__ import annotations

from typing import Any

from django.db.models import Expression, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, JSONObject


def due_rows(
    queryset: QuerySet[Any, Any],
    *,
    about: str,
    key: str,
    payload_name: str,
    period: Expression | int,
    host: str | None = None,
) -> QuerySet[Any, Any]:
    """(subject, payload, host, period in seconds) for each row of `queryset`, as `@schedule` takes them.

    The subject is "`about`:" and the column `key`; the payload is that column under `payload_name`.
    `host` names the column with the host whose pace the tasks keep to.
    """
    annotations: dict[str, Any] = {
        "subject": Concat(Value(f"{about}:"), Cast(key, TextField()), output_field=TextField()),
        "payload": JSONObject(**{payload_name: key}),
        "period": Value(period) if isinstance(period, int) else period,
    }
    if host is None:
        annotations["no_host"] = Value("")  # "host" may be a column of the table
    rows: QuerySet[Any, Any] = queryset.order_by().annotate(**annotations)
    return rows.values("subject", "payload", host or "no_host", "period").distinct()
