"""Dates as the console writes them: short, sortable, the same in every column."""

from __future__ import annotations

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
