"""V6: a board edited while its run is under way is not overwritten by the older run."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest
from django.db import transaction

from boards.errors import StaleRevision
from boards.models import BoardMember, BoardRun, ManagedBoard
from boards.services.publication import publish_members, publish_run, revise_board
from reviews.criteria import Criteria
from tests.factories import answered_run, make_board, make_member, make_posting, make_verdict
from tests.taskqueue.connections import at_once, meanwhile, somebody_waits
from tests.taskqueue.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]


def test_a_late_run_cannot_replace_a_newer_selection() -> None:
    board = make_board()
    kept = make_member(board, make_posting())
    run = answered_run(board)
    ManagedBoard.objects.update(revision=2)

    with pytest.raises(StaleRevision, match="no longer at revision 1"):
        publish_members(run_id=run.pk, board_id=board.pk, revision=1, posting_ids=[make_posting().pk])

    assert list(board.members.all()) == [kept]


def test_an_edit_that_commits_first_refuses_the_publication_that_waits_for_it() -> None:
    board = make_board(roles=["engineer"])
    make_verdict(make_posting(), board.filter)
    run = answered_run(board)

    with ExitStack() as stack, transaction.atomic():  # the edit's transaction, still open
        ManagedBoard.objects.select_for_update().get(pk=board.pk)
        publication = stack.enter_context(meanwhile(lambda: publish_run(run.pk)))
        until(somebody_waits)
        ManagedBoard.objects.filter(pk=board.pk).update(revision=2)

    assert isinstance(publication.exception(), StaleRevision)
    run.refresh_from_db()
    assert run.status == BoardRun.Status.SUPERSEDED
    assert not BoardMember.objects.exists()


def test_a_publication_that_commits_first_is_followed_by_the_edit_and_its_own_run() -> None:
    board = make_board(roles=["engineer"])
    posting = make_posting()
    run = answered_run(board)
    nurses = Criteria.parse({"roles": ["nurse"]})

    with ExitStack() as stack, transaction.atomic():
        ManagedBoard.objects.select_for_update().get(pk=board.pk)
        edit = stack.enter_context(meanwhile(lambda: revise_board(board_id=board.pk, criteria=nurses)))
        until(somebody_waits)
        BoardMember.objects.create(board=board, posting=posting, published_revision=1)

    assert edit.result().revision == 2
    with pytest.raises(StaleRevision):
        publish_run(run.pk)


def test_a_reader_never_sees_a_list_between_two_publications() -> None:
    """Readers see old or new: the deletes and inserts of a publication are one commit."""
    board = make_board()
    old = [make_posting().pk for _ in range(3)]
    new = [make_posting().pk for _ in range(3)]
    for pk in old:
        BoardMember.objects.create(board=board, posting_id=pk, published_revision=1)
    run = answered_run(board)

    with ExitStack() as stack, transaction.atomic():
        # A lock that the publication needs last, after all that it writes.
        BoardRun.objects.select_for_update().get(pk=run.pk)
        stack.enter_context(
            meanwhile(lambda: publish_members(run_id=run.pk, board_id=board.pk, revision=1, posting_ids=new))
        )
        until(somebody_waits)
        during = set(board.members.values_list("posting_id", flat=True))

    assert during == set(old)
    assert set(board.members.values_list("posting_id", flat=True)) == set(new)


def test_two_people_who_edit_at_once_get_two_revisions_in_a_row() -> None:
    """R1, E3: concurrent saves never clash, and the second one follows the first."""
    board = make_board(roles=["engineer"])

    def edit(role: str) -> ManagedBoard:
        return revise_board(board_id=board.pk, criteria=Criteria.parse({"roles": [role]}))

    at_once([partial(edit, "nurse"), partial(edit, "welder")])

    board.refresh_from_db()
    assert board.revision == 3
    assert list(board.filter.revisions.order_by("number").values_list("number", flat=True)) == [1, 2, 3]
