"""What changes filters, runs and verdicts: one verb a function, one transaction a verb."""

from __future__ import annotations
