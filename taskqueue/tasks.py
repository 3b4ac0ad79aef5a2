"""The queue's own task kinds."""

from __future__ import annotations

from datetime import timedelta

from taskqueue.django_tasks import KIND, perform, task_of, words
from taskqueue.handlers import Claim, Done, Outcome, Retry, handler

NEXT_RELEASE = timedelta(minutes=1)  # five attempts outlast the minutes in which two releases overlap


@handler(KIND)
def run(claim: Claim) -> Outcome:
    """Call the function that the payload names. What it raises is final: the API knows no second try.

    The attempts are for what is not the function's fault: a worker that was lost, and a function that this
    release does not have, as when a newer one queued it. So it may be called twice.
    """
    try:
        task = task_of(claim.payload)
    except ImportError as missing:
        return Retry(reason=words(missing), after=NEXT_RELEASE)
    return Done(result=perform(claim, task))
