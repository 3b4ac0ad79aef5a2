"""One attempt: the handler is run, and what came of it is written."""

from __future__ import annotations

import json
import logging
import os
import time
import traceback
from functools import partial

import psycopg
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from taskqueue.errors import Cancelled, ClaimLost, HostBusy, ShuttingDown, UnreadablePayload
from taskqueue.handlers import Claim, Delay, Done, Fail, Kind, Outcome, Park, Retry, WaitForChildren
from taskqueue.models import Token
from taskqueue.services import claims
from taskqueue.services.claiming import Ended
from taskqueue.services.claims import Write
from taskqueue.worker.traces import discard_connection, forget_settings, is_transaction_open

logger = logging.getLogger(__name__)

# Decided by type, never by the words of a message (Q8): the database or the network was not there.
DATABASE_GONE: tuple[type[Exception], ...] = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)
TRANSIENT: tuple[type[Exception], ...] = (*DATABASE_GONE, ConnectionError, TimeoutError)

DATABASE_RETRY_SECONDS = 1.0
LEFT_OPEN = "it left a transaction open: what it wrote there is rolled back"
FRAMES = 5  # of a traceback, kept in the task's history


def attempt(kind: Kind, claim: Claim) -> Write | Ended:
    """Run the handler; returns what came of it, to be recorded. Catches everything, and alone may."""
    process = os.getpid()
    is_within = is_transaction_open()  # the caller's own, which is the caller's to end
    ending = _run(kind, claim)
    if os.getpid() != process:
        os._exit(1)  # a child that the handler forked: nothing in here is its own
    if is_within:
        return ending
    if is_transaction_open():
        discard_connection()
        return partial(claims.fail, error=LEFT_OPEN) if isinstance(ending, Ended) else ending
    if not (isinstance(ending, Ended) and kind.is_short):
        forget_settings()  # before it is recorded in the same session, and before the next task
    return ending


def _run(kind: Kind, claim: Claim) -> Write | Ended:
    try:
        claim.checkpoint()  # the process may have been stopped since the claim for longer than its lease
        if isinstance(claim.payload, UnreadablePayload):
            raise claim.payload
        claim.begin()
        return _ending_of(claim, kind.run(claim))
    except ClaimLost:
        return nothing
    except Cancelled:
        return claims.acknowledge_cancel
    except ShuttingDown:
        return claims.release
    except HostBusy as busy:
        return partial(claims.delay, until=busy.until, reason=_said(busy))
    except TRANSIENT + kind.transient as error:
        return partial(claims.try_again, error=_words(error), detail=_where(error))
    except BaseException as error:  # also SystemExit: a handler must not end the worker
        return partial(claims.fail, error=_words(error), detail=_where(error))
    finally:
        claim.end()


def record(claim: Claim, write: Write) -> bool:
    """Write how the attempt ended; False if the claim was lost.

    A database that is away is waited for while the lease can be proven; after that the reaper decides.
    """
    while True:
        try:
            claim.save_progress()
            return write(claim.token)
        except DATABASE_GONE as gone:
            close_old_connections()
            if not claim.still_mine():
                logger.warning("%s could not be recorded: %s", describe(claim), gone)
                return False
            time.sleep(DATABASE_RETRY_SECONDS)
        except Exception as error:
            # A handler may return what no row can hold. If even that cannot be said, the process ends.
            logger.exception("%s has an outcome that cannot be recorded", describe(claim))
            if getattr(write, "func", None) is claims.fail:
                raise
            write = partial(claims.fail, error=f"the outcome cannot be recorded: {_words(error)}")


def nothing(token: Token) -> bool:
    """The claim was lost: whoever has the task now records it."""
    return False


def _ending_of(claim: Claim, outcome: Outcome) -> Write | Ended:
    """What no row can hold raises here, where it fails the attempt."""
    match outcome:
        case Done(note, result):
            if result is not None:
                json.dumps(result)
            return Ended(claim.token, note and claims.storable(note), result, claim.unsaved_progress)
        case Park(until, note):
            return partial(claims.park, until=until, note=claims.storable(note))
        case Retry(reason, after):
            return partial(claims.try_again, error=claims.storable(reason), after=after)
        case Fail(reason):
            return partial(claims.fail, error=claims.storable(reason))
        case Delay(until, reason):
            return partial(claims.delay, until=until, reason=claims.storable(reason))
        case WaitForChildren(note):
            return partial(claims.wait, note=claims.storable(note))
    raise TypeError(f"the handler returned {outcome!r}, which is no outcome")


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {_said(error)}"


def _said(error: BaseException) -> str:
    """Its text; making it may fail in any way, also by asking a database that is away."""
    try:
        return str(error)
    except BaseException as another:
        return f"(its text cannot be made: {type(another).__name__})"


def _where(error: BaseException) -> str:
    """The frame of the handler and the innermost ones: those between are often a library's."""
    frames = traceback.format_tb(error.__traceback__)[1:]  # the first one is this module's
    if len(frames) > FRAMES:
        frames = [frames[0], "  …\n", *frames[1 - FRAMES :]]
    return "\n" + "".join(frames).rstrip()


def describe(claim: Claim) -> str:
    """The claim in a log line."""
    return f"task={claim.task_id} kind={claim.kind} attempt={claim.attempt} release={settings.RELEASE}"
