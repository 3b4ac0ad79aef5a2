"""Tasks, claims and the worker loop. Knows nothing of what a task is about."""
