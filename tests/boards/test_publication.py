from __future__ import annotations

import pytest

from boards.models import BoardRun, ManagedBoard
from boards.services.publication import (
    check_board,
    publish_members,
    publish_run,
    revise_board,
    start_board_run,
)
from reviews.criteria import Criteria
from taskqueue.models import Task
from tests.factories import answered_run, make_board, make_member, make_posting, make_verdict

pytestmark = pytest.mark.django_db


def test_publishing_writes_only_what_changed() -> None:
    """V3: who stays keeps the row, and with it the day of joining."""
    board = make_board()
    stays, leaves, joins = make_posting(), make_posting(), make_posting()
    kept = make_member(board, stays)
    make_member(board, leaves)
    run = answered_run(board)

    published = publish_members(
        run_id=run.pk, board_id=board.pk, revision=1, posting_ids=[stays.pk, joins.pk]
    )

    assert (published.joined, published.left) == (1, 1)
    assert set(board.members.values_list("posting_id", flat=True)) == {stays.pk, joins.pk}
    assert board.members.filter(pk=kept.pk, joined_at=kept.joined_at).exists()


def test_a_run_publishes_what_its_verdicts_let_in() -> None:
    board = make_board(roles=["engineer"])
    passed, rejected, unsure = make_posting(), make_posting(), make_posting()
    make_verdict(passed, board.filter)
    make_verdict(rejected, board.filter, "rejected")
    make_verdict(unsure, board.filter, "unsure")
    run = answered_run(board)

    publish_run(run.pk)

    run.refresh_from_db()
    board.refresh_from_db()
    assert list(board.members.values_list("posting_id", flat=True)) == [passed.pk]
    assert (run.status, run.joined) == (BoardRun.Status.PUBLISHED, 1)
    assert board.public_revision == board.revision


def test_only_an_edit_that_changes_the_selection_raises_the_revision() -> None:
    """V6."""
    board = make_board(roles=["engineer"])

    same = revise_board(board_id=board.pk, criteria=Criteria.parse({"roles": ["engineer"]}))
    assert same.revision == 1

    other = revise_board(board_id=board.pk, criteria=Criteria.parse({"roles": ["nurse"]}))
    assert other.revision == 2


def test_a_second_request_while_a_run_is_under_way_is_the_same_run() -> None:
    board = make_board()

    first, second = start_board_run(board.pk), start_board_run(board.pk)

    assert first.pk == second.pk
    assert Task.objects.filter(kind="boards.publish").count() == 1


def test_a_run_for_an_older_revision_gives_way_to_one_for_the_newer() -> None:
    board = make_board(roles=["engineer"])
    old = start_board_run(board.pk)
    revise_board(board_id=board.pk, criteria=Criteria.parse({"roles": ["nurse"]}))

    new = start_board_run(board.pk)

    old.refresh_from_db()
    assert (old.status, new.revision) == (BoardRun.Status.SUPERSEDED, 2)


def test_a_run_whose_publisher_died_for_good_does_not_block_the_board() -> None:
    board = make_board()
    stuck = start_board_run(board.pk)
    Task.objects.filter(kind="boards.publish").delete()

    fresh = start_board_run(board.pk)

    assert fresh.pk != stuck.pk


def test_a_board_that_stands_is_looked_at_without_a_run() -> None:
    board = make_board(roles=["engineer"])
    posting = make_posting()
    make_verdict(posting, board.filter)
    publish_run(answered_run(board).pk)
    board.refresh_from_db()

    assert check_board(board) is None
    assert board.runs.count() == 1


def test_boards_are_behind_until_looked_at_and_again_after_a_change() -> None:
    board = make_board()
    assert not ManagedBoard.objects.behind().exists()  # an empty catalog is nothing to choose from

    make_posting()
    assert list(ManagedBoard.objects.behind()) == [board]


def test_a_draft_is_never_selected_for() -> None:
    make_board(is_public=False)
    make_posting()

    assert not ManagedBoard.objects.behind().exists()
