"""Gunicorn's settings; it reads PORT (bind) and WEB_CONCURRENCY (processes) from the environment itself."""

from __future__ import annotations

from config import logs

# Streams are open for hours and cost no thread (config/pages.py has the threads of the pages).
worker_class = "config.server.Worker"
asgi_loop = "asyncio"
worker_connections = 900  # below the 1,024 files that many systems let a process open
timeout = 60
graceful_timeout = 15
keepalive = 5
max_requests = 5000  # a slow leak costs a restart, never the process
max_requests_jitter = 500
accesslog = "-"
logconfig_dict = {
    **logs.TO_STDERR,
    "loggers": {
        "gunicorn.error": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "gunicorn.access": {"handlers": ["requests"], "level": "INFO", "propagate": False},
    },
}
# Gunicorn's own would be one socket per user of the machine, shared by every checkout.
control_socket_disable = True
