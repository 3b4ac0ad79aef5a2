"""What changes boards: one verb a function, one transaction a verb."""

from __future__ import annotations
