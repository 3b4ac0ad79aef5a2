"""Gunicorn's settings; it reads PORT (bind) and WEB_CONCURRENCY (processes) from the environment itself."""

from __future__ import annotations

worker_class = "gthread"
threads = 8  # as many as a process has database connections (DATABASE_POOL_MAX)
timeout = 60
graceful_timeout = 20
keepalive = 5
max_requests = 5000  # a slow leak costs a restart, never the process
max_requests_jitter = 500
accesslog = "-"
# Gunicorn's own would be one socket per user of the machine, shared by every checkout.
control_socket_disable = True
