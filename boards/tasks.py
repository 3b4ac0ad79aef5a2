"""The boards' task kinds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from boards.errors import StaleRevision, Unanswered
from boards.models import BoardRun, ManagedBoard
from boards.services.membership import filters_passed, refresh_membership
from boards.services.publication import answers_are_in, check_board, publish_run
from taskqueue.due import due_rows
from taskqueue.handlers import Claim, Done, Fail, Outcome, Park, handler, schedule

CHECK_EVERY_SECONDS = 15  # how soon after a change of the catalog boards are looked at again
RECHECK_EVERY = timedelta(seconds=2)


@handler("boards.check")
def check(claim: Claim) -> Outcome:
    """Look whether a public list still is its board's selection. Safe to run twice."""
    board = ManagedBoard.objects.public().filter(pk=claim.payload["board_id"]).first()
    if board is None:
        return Done(note="the board is gone or not public")
    run = check_board(board)
    return Done(note=f"run {run.pk}" if run else "the list stands")


@schedule("boards.check")
def boards_behind() -> QuerySet[Any, Any]:
    return due_rows(
        ManagedBoard.objects.behind(),
        about="board",
        key="id",
        payload_name="board_id",
        period=CHECK_EVERY_SECONDS,
    )


@handler("boards.publish")
def publish(claim: Claim) -> Outcome:
    """Publish a run's selection once its answers are in. Safe to run twice."""
    run = BoardRun.objects.select_related("review_run").filter(pk=claim.payload["run_id"]).first()
    if run is None:
        return Fail(reason=f"there is no board run {claim.payload['run_id']}")
    if run.status != BoardRun.Status.RUNNING:
        return Done(note=f"the run is {run.status}")
    if not answers_are_in(run):
        return Park(until=RECHECK_EVERY, note="waiting for answers")
    try:
        published = publish_run(run.pk)
    except StaleRevision as stale:
        return Done(note=str(stale))  # a newer run owns the board: nothing left to do
    except Unanswered as unanswered:
        return Fail(reason=str(unanswered))
    return Done(note=f"{published.joined} joined, {published.left} left")


@handler("boards.refresh")
def refresh(claim: Claim) -> Outcome:
    """Recompute one person's membership. Safe to run twice: only differences are written."""
    refreshed = refresh_membership(claim=claim, user_id=claim.payload["user_id"])
    return Done(note=f"{refreshed.shown} shown, {refreshed.joined} joined, {refreshed.left} left")


@schedule("boards.refresh")
def people_behind() -> QuerySet[Any, Any]:
    return due_rows(
        filters_passed(),
        about="person",
        key="owner_id",
        payload_name="user_id",
        period=CHECK_EVERY_SECONDS,
    )
