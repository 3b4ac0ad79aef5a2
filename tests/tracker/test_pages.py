"""A person's own pages: contracts V1, V4."""

from __future__ import annotations

import re

import pytest
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone

from boards.models import Membership, MembershipRefresh
from reviews.models import Filter
from tests.factories import UserFactory, make_filter, make_posting, make_verdict
from tracker.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return UserFactory.create()


@pytest.fixture
def signed_in(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


@pytest.mark.parametrize("path", ["/board/", "/filters/", "/filters/new/", "/sources/", "/jobs/1/"])
def test_a_visitor_is_asked_to_sign_in(client: Client, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 302
    assert answer["Location"] == f"/login/?next={path}"


def test_the_board_shows_members_with_reasons_and_counts_what_is_hidden(
    signed_in: Client, person: User
) -> None:
    filter_ = make_filter(person, roles=["engineer"])
    shown, hidden = make_posting(title="Backend Engineer"), make_posting(title="Night Nurse")
    make_verdict(shown, filter_, reason="the title names the role")
    make_verdict(hidden, filter_, "rejected", reason="the title names another role")
    Membership.objects.create(user=person, posting=shown)
    MembershipRefresh.objects.create(user=person, computed_at=timezone.now())

    page = signed_in.get("/board/").content.decode()
    assert "Backend Engineer" in page
    assert "the title names the role" in page
    assert "Night Nurse" not in page

    others = signed_in.get("/board/?show=hidden").content.decode()
    assert "Night Nurse" in others
    assert "the title names another role" in others


def test_a_board_without_a_filter_invites_to_make_one(signed_in: Client) -> None:
    make_posting()

    assert "/filters/new/" in signed_in.get("/board/").content.decode()


def test_a_posting_is_reached_through_ones_own_board_only(signed_in: Client, person: User) -> None:
    """V4: a stranger's and an unknown one look the same."""
    own, strangers = make_posting(), make_posting()
    Membership.objects.create(user=person, posting=own)
    Membership.objects.create(user=UserFactory.create(), posting=strangers)

    assert signed_in.get(f"/jobs/{own.pk}/").status_code == 200
    answer = signed_in.get(f"/jobs/{strangers.pk}/")
    assert answer.status_code == 404
    assert without_token(answer) == without_token(signed_in.get("/jobs/999999/"))


def without_token(answer: HttpResponseBase) -> bytes:
    """A page but for the token that differs in each answer."""
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", getattr(answer, "content", b""))


def test_a_filter_is_made_read_in_words_and_revised(signed_in: Client, person: User) -> None:
    form = {
        "name": "Mine",
        "roles": "software engineer, data engineer",
        "max_years": "3",
        "on_ambiguous": "keep",
    }

    made = signed_in.post("/filters/new/", form, follow=True)

    filter_ = Filter.objects.get(owner=person)
    revision = filter_.current()
    assert made.status_code == 200
    assert revision.criteria == {"roles": ["software engineer", "data engineer"], "max_years": 3}
    assert revision.on_ambiguous == "keep"

    signed_in.post(f"/filters/{filter_.pk}/", {**form, "max_years": "5"})
    assert filter_.current().number == revision.number + 1


def test_a_filter_that_cannot_be_read_is_sent_back_with_the_reason(signed_in: Client) -> None:
    answer = signed_in.post(
        "/filters/new/",
        {
            "name": "Mine",
            "places": "Atlantis-on-Sea-Nowhere",
            "on_ambiguous": "drop",
            "pay_amount": "5",
            "pay_currency": "??",
        },
    )

    assert answer.status_code == 200
    assert not Filter.objects.exists()
    assert "aria-invalid" in answer.content.decode()


def test_another_persons_filter_looks_like_none(signed_in: Client) -> None:
    """V4."""
    strangers = make_filter(UserFactory.create(), roles=["engineer"])

    for answer in (
        signed_in.get(f"/filters/{strangers.pk}/"),
        signed_in.post(f"/filters/{strangers.pk}/", {"name": "Taken", "on_ambiguous": "drop"}),
        signed_in.post(f"/filters/{strangers.pk}/", {"switch": "1"}),
    ):
        assert answer.status_code == 404
    strangers.refresh_from_db()
    assert strangers.is_enabled


def test_a_pasted_address_is_recognised_or_refused_in_words(signed_in: Client) -> None:
    refused = signed_in.post("/sources/", {"url": "https://example.org/careers"})
    assert refused.status_code == 400
    assert "Greenhouse" in refused.content.decode()

    added = signed_in.post("/sources/", {"url": "https://job-boards.greenhouse.io/acme", "company": "Acme"})
    assert "Acme" in added.content.decode()


@pytest.mark.parametrize("company", ["a\x00b", "a\x01b", "x" * 201])
def test_a_company_that_cannot_be_kept_is_refused_in_words(signed_in: Client, company: str) -> None:
    form = {"url": "https://job-boards.greenhouse.io/acme", "company": company}

    answer = signed_in.post("/sources/", form)

    assert answer.status_code == 400
    assert "printable" in answer.content.decode()


def test_personal_pages_are_kept_by_no_cache(signed_in: Client) -> None:
    assert "private" in signed_in.get("/board/")["Cache-Control"]


def test_signing_in_and_out(client: Client) -> None:
    User.objects.create_user("anna", "anna@example.org", "a long pass phrase")

    wrong = client.post("/login/", {"username": "anna", "password": "no"})
    assert wrong.status_code == 200
    right = client.post("/login/", {"username": "anna", "password": "a long pass phrase"})
    assert right["Location"] == "/board/"
    assert client.post("/logout/")["Location"] == "/"
