"""Personal membership: contracts V1, V3."""

from __future__ import annotations

import pytest

from boards.models import Membership, MembershipRefresh
from boards.services.membership import refresh_membership
from boards.tasks import people_behind
from catalog.models import Posting
from reviews.services.filters import switch_filter
from tests.claims import claimed
from tests.factories import UserFactory, make_filter, make_posting, make_verdict
from tracker.models import User

pytestmark = pytest.mark.django_db


def refresh(person: User) -> set[int]:
    refresh_membership(claim=claimed("boards.refresh"), user_id=person.pk)
    return set(Membership.objects.of(person).values_list("posting_id", flat=True))


def test_a_board_is_what_every_enabled_filter_lets_in() -> None:
    """V1."""
    person = UserFactory.create()
    both, one = make_posting(), make_posting()
    first, second = make_filter(person, roles=["engineer"]), make_filter(person, remote="only")
    for posting, filter_ in ((both, first), (both, second), (one, first)):
        make_verdict(posting, filter_)

    assert refresh(person) == {both.pk}

    switch_filter(filter_id=second.pk, enabled=False)
    assert refresh(person) == {both.pk, one.pk}


def test_nobody_elses_filter_puts_anything_on_a_board() -> None:
    person, stranger = UserFactory.create(), UserFactory.create()
    make_verdict(make_posting(), make_filter(stranger, roles=["engineer"]))
    make_filter(person, roles=["nurse"])

    assert refresh(person) == set()


def test_an_unchanged_board_writes_its_refresh_and_nothing_else() -> None:
    """V3: who stays keeps the row, and with it the day of joining."""
    person = UserFactory.create()
    make_verdict(make_posting(), make_filter(person, roles=["engineer"]))
    refresh(person)
    before = list(Membership.objects.values("pk", "joined_at"))

    refresh(person)

    assert list(Membership.objects.values("pk", "joined_at")) == before
    assert MembershipRefresh.objects.count() == 1


def test_a_posting_that_is_shown_no_more_leaves() -> None:
    person = UserFactory.create()
    posting = make_posting()
    make_verdict(posting, make_filter(person, roles=["engineer"]))
    assert refresh(person) == {posting.pk}
    posting.listings.update(kept=False)

    assert refresh(person) == set()


def test_people_are_due_after_an_edit_a_verdict_or_a_change_of_the_catalog() -> None:
    person = UserFactory.create()
    filter_ = make_filter(person, roles=["engineer"])
    assert [row["payload"] for row in people_behind()] == [{"user_id": person.pk}]

    refresh(person)
    Posting.objects.all().delete()
    MembershipRefresh.objects.update(computed_at="2999-01-01T00:00:00Z")
    assert not list(people_behind())

    MembershipRefresh.objects.update(computed_at="2026-01-01T00:00:00Z")
    assert len(list(people_behind())) == 1
    switch_filter(filter_id=filter_.pk, enabled=False)
    assert len(list(people_behind())) == 1


def test_an_account_without_filters_costs_no_task() -> None:
    UserFactory.create()

    assert not list(people_behind())
