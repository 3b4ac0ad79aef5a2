"""What a handler leaves behind, on its database connection and in its process: no next task is to find it."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from psycopg.pq import TransactionStatus

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM)


def is_transaction_open() -> bool:
    """Whether somebody in this thread began a transaction and has not ended it. Asks nobody."""
    here = connections[DEFAULT_DB_ALIAS]
    if here.in_atomic_block:
        return True
    session = here.connection
    if session is None or session.closed:
        return False
    return not here.autocommit or session.info.transaction_status != TransactionStatus.IDLE


def forget_settings() -> None:
    """What the handler SET is as it was. A session that cannot do that goes."""
    try:
        connections[DEFAULT_DB_ALIAS].forget_settings()  # type: ignore[attr-defined]
    except (DatabaseError, InterfaceError):
        discard_connection()


def signal_handlers() -> Mapping[int, Any]:
    """What the process does when it is told to stop."""
    return {number: signal.getsignal(number) for number in STOPS}


def restore_signals(handlers: Mapping[int, Any]) -> None:
    """A library that a handler called may have put its own in their place: nobody could stop the worker."""
    if threading.current_thread() is threading.main_thread():  # no other can change them
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler is not None:
                signal.signal(number, handler)


def discard_connection() -> None:
    """What was open is rolled back, and the next statement has a session of its own.

    A block that was never left (a generator in a reference cycle) would end whenever its object is collected,
    in another task's transaction: it ends now.
    """
    if is_transaction_open():
        gc.collect()
    here = connections[DEFAULT_DB_ALIAS]
    session = here.connection
    here.in_atomic_block = here.closed_in_transaction = here.needs_rollback = False
    here.savepoint_ids = []
    here.run_on_commit = []
    if session is not None:
        session.close()  # first: the pool throws away what is closed
    here.close()
