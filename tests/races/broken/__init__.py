"""Handlers for `loadtest --handlers`, each with a fault that the load test has to find."""
