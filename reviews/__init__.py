"""Filters, decisions, reviewers and verdicts. Knows nothing of where a verdict is shown."""
