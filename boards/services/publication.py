"""Managed boards: edited, selected for by runs, published under the revision a run started from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from boards.errors import StaleRevision, Unanswered
from boards.models import BoardMember, BoardRun, ManagedBoard
from reviews.criteria import Criteria
from reviews.models import ReviewRun
from reviews.services.filters import create_filter, revise_filter
from reviews.services.runs import (
    abandon_run,
    answered_count,
    is_resting,
    run_subject,
    selected,
    start_run,
    unanswered,
    why_unanswered,
)
from taskqueue.models import Task
from taskqueue.services import enqueue


@dataclass(frozen=True, slots=True)
class Published:
    joined: int
    left: int


@transaction.atomic
def create_board(
    *, slug: str, title: str, summary: str, criteria: Criteria, is_public: bool, by: str = ""
) -> ManagedBoard:
    """A board with criteria of its own."""
    return ManagedBoard.objects.create(
        slug=slug,
        title=title,
        summary=summary,
        filter=create_filter(name=title, criteria=criteria, by=by),
        status=ManagedBoard.Status.PUBLISHED if is_public else ManagedBoard.Status.DRAFT,
    )


@transaction.atomic
def describe_board(*, board_id: int, title: str, slug: str, summary: str) -> None:
    """How the board is called and found; what it selects is not touched, and neither is its revision."""
    ManagedBoard.objects.filter(pk=board_id).update(title=title, slug=slug, summary=summary)


@transaction.atomic
def revise_board(*, board_id: int, criteria: Criteria, by: str = "") -> ManagedBoard:
    """The board asks for `criteria` from now on; runs under way for older criteria can publish no more.

    Invariant: the board's revision rises exactly when what is selected may change, in the transaction
    that writes the filter's revision. Lock order: board, then filter.
    """
    board = ManagedBoard.objects.select_for_update().get(pk=board_id)
    before = board.filter.current()
    after = revise_filter(filter_id=board.filter_id, criteria=criteria, by=by)
    if after.pk != before.pk:
        ManagedBoard.objects.filter(pk=board_id).update(revision=F("revision") + 1)
        board.refresh_from_db()
    return board


@transaction.atomic(durable=True)
def start_board_run(board_id: int, *, asked_by: str = "") -> BoardRun:
    """A run under the board's revision as it stands; one under way for that revision is returned instead.

    A run for an older revision ends as superseded: its selection could not be published any more.
    """
    board = ManagedBoard.objects.select_for_update().get(pk=board_id)
    under_way = board.runs.filter(status=BoardRun.Status.RUNNING).first()
    if under_way is not None:
        if under_way.revision == board.revision and _has_publisher(under_way):
            return under_way
        _end(under_way, BoardRun.Status.SUPERSEDED, f"revision {board.revision} started its own run")
        if under_way.revision != board.revision:
            abandon_run(under_way.review_run)
    review_run = start_run(board.filter.current(), asked_by=asked_by or f"board {board.slug}")
    run = BoardRun.objects.create(board=board, revision=board.revision, review_run=review_run)
    enqueue(
        "boards.publish",
        payload={"run_id": run.pk},
        subject=f"board:{board.pk}",
        key=publisher_key(run.pk),
        priority=30,
    )
    return run


def check_board(board: ManagedBoard) -> BoardRun | None:
    """Start a run where the public list may differ from the selection; note as of when it does not."""
    looked_at = timezone.now()
    revision = board.filter.current()
    if board.public_revision == board.revision and not unanswered(revision).exists():
        chosen = set(selected(revision).values_list("pk", flat=True))
        if chosen == set(board.members.values_list("posting_id", flat=True)):
            ManagedBoard.objects.filter(pk=board.pk, revision=board.revision).update(checked_at=looked_at)
            return None
    return None if is_resting(revision) else start_board_run(board.pk, asked_by="schedule")


def publish_run(run_id: int) -> Published:
    """Publish the run's selection; its verdicts are in.

    Raises StaleRevision where the board has moved on, and Unanswered, leaving the list as it is, where the
    questions were not answered: a reviewer's silence is no rejection.
    """
    run = BoardRun.objects.select_related("review_run__revision__filter", "board").get(pk=run_id)
    if problem := why_unanswered(run.review_run):
        _end(run, BoardRun.Status.FAILED, problem)
        raise Unanswered(problem)
    revision = run.review_run.revision
    chosen = selected(revision).values_list("pk", flat=True)
    try:
        return publish_members(
            run_id=run.pk, board_id=run.board_id, revision=run.revision, posting_ids=chosen
        )
    except StaleRevision as stale:
        _end(run, BoardRun.Status.SUPERSEDED, str(stale))
        raise


@transaction.atomic(durable=True)
def publish_members(*, run_id: int, board_id: int, revision: int, posting_ids: Iterable[int]) -> Published:
    """Make `posting_ids` the board's members, as selected under `revision` (V6).

    Invariant: the members are one selection, made under the board's current revision. The row lock
    keeps that revision still until they commit, so readers see the old list or the new one, and a run
    that finishes late cannot undo a newer one. Only what changed is written (V3).

    Raises StaleRevision, having written nothing, when the board has moved on.
    """
    board = ManagedBoard.objects.select_for_update().filter(pk=board_id, revision=revision).first()
    if board is None:
        raise StaleRevision(f"board {board_id} is no longer at revision {revision}")
    run = BoardRun.objects.get(pk=run_id)
    wanted = set(posting_ids)
    left, _ = board.members.exclude(posting_id__in=wanted).delete()
    present = set(board.members.values_list("posting_id", flat=True))
    BoardMember.objects.bulk_create(
        BoardMember(board=board, posting_id=posting_id, published_revision=revision)
        for posting_id in sorted(wanted - present)
    )
    ManagedBoard.objects.filter(pk=board_id).update(
        public_revision=revision,
        published_at=Now(),
        reviewed_count=answered_count(run.review_run.revision),
    )
    joined = len(wanted - present)
    _end(run, BoardRun.Status.PUBLISHED, "", joined=joined, left=left)
    return Published(joined, left)


def publisher_key(run_id: int) -> str:
    return f"boards.publish:{run_id}"


def _has_publisher(run: BoardRun) -> bool:
    return Task.objects.unfinished().filter(dedupe_key=publisher_key(run.pk)).exists()


def _end(run: BoardRun, status: BoardRun.Status, note: str, *, joined: int = 0, left: int = 0) -> None:
    BoardRun.objects.filter(pk=run.pk, status=BoardRun.Status.RUNNING).update(
        status=status, note=note[:500], joined=joined, left=left, finished_at=Now()
    )


def answers_are_in(run: BoardRun) -> bool:
    """Whether nothing is left to wait for: the review run is finished, or its tasks ended before it was."""
    if run.review_run.status == ReviewRun.Status.FINISHED:
        return True
    return not Task.objects.unfinished().filter(subject=run_subject(run.review_run_id)).exists()


def set_public(*, board_id: int, is_public: bool) -> None:
    """Show the board to everybody, or to nobody but staff."""
    status = ManagedBoard.Status.PUBLISHED if is_public else ManagedBoard.Status.UNPUBLISHED
    ManagedBoard.objects.filter(pk=board_id).update(status=status)
