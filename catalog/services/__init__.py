"""What changes the catalog: one verb a function, one transaction a verb."""

from __future__ import annotations
