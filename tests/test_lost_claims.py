"""Q5: a worker whose task was taken over meanwhile writes nothing, whatever it was about to write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boards.models import Membership, MembershipRefresh
from boards.services.membership import refresh_membership
from catalog.models import Listing, Posting, Pull
from catalog.services.listings import record_listings
from catalog.services.pulls import finish_pull
from catalog.services.spool import Spool
from reviews.models import Decision, Outcome, ReviewRun, Verdict
from reviews.services.answers import answer_decision
from reviews.services.runs import begin_answering, plan_run
from taskqueue.errors import ClaimLost
from tests.catalog.test_recording import listing
from tests.claims import claimed, lost
from tests.factories import PullFactory, UserFactory, make_filter, make_posting, make_verdict

pytestmark = pytest.mark.django_db


def refused(write: Callable[[], object]) -> None:
    with pytest.raises(ClaimLost):
        write()


def test_a_reading_is_not_recorded() -> None:
    pull = PullFactory.create()
    claim = lost("catalog.pull")
    with Spool() as spool:
        spool.add([listing()])
        refused(
            lambda: record_listings(
                claim=claim, source_id=pull.source_id, pull_id=pull.pk, spool=spool, complete=True
            )
        )

    assert not Listing.objects.exists()
    assert not Posting.objects.exists()


def test_a_pull_is_not_closed() -> None:
    pull = PullFactory.create()
    pull.outcome = Pull.Outcome.FAILED

    refused(lambda: finish_pull(lost("catalog.pull"), pull.source, pull))

    pull.refresh_from_db()
    pull.source.refresh_from_db()
    assert (pull.outcome, pull.source.failures) == ("running", 0)


def test_nothing_is_decided_and_no_run_moves_on() -> None:
    make_posting()
    run = ReviewRun.objects.create(revision=make_filter(roles=["engineer"]).current())

    refused(lambda: plan_run(lost("reviews.plan"), run))
    refused(lambda: begin_answering(lost("reviews.plan"), run.pk))

    run.refresh_from_db()
    assert not Decision.objects.exists()
    assert run.status == ReviewRun.Status.PLANNED


def test_no_answer_is_written() -> None:
    make_posting()
    plan_run(
        claimed("reviews.plan"),
        ReviewRun.objects.create(revision=make_filter(roles=["engineer"]).current()),
    )

    refused(lambda: answer_decision(lost("reviews.answer.test"), Decision.objects.get()))

    assert (Verdict.objects.count(), Outcome.objects.count()) == (0, 0)


def test_no_membership_is_refreshed() -> None:
    person = UserFactory.create()
    make_verdict(make_posting(), make_filter(person, roles=["engineer"]))

    refused(lambda: refresh_membership(claim=lost("boards.refresh"), user_id=person.pk))

    assert not Membership.objects.exists()
    assert not MembershipRefresh.objects.exists()
