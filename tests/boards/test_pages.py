"""Public pages: contracts V4, V5, E1."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from boards.listing import ListQuery
from boards.serializers import PublicPosting, PublicPostingPage
from catalog.models import Compensation, Posting
from tests.factories import make_board, make_member, make_posting, make_verdict

pytestmark = pytest.mark.django_db


def test_a_board_lists_its_members_with_the_reason(client: Client) -> None:
    board = make_board(roles=["engineer"])
    posting = make_posting(title="Backend Engineer")
    make_verdict(posting, board.filter, reason="the title names the role")
    make_member(board, posting)

    page = client.get("/b/engineers/").content.decode()

    assert "Backend Engineer" in page
    assert "the title names the role" in page
    assert "1 posting" in page or "<b>1</b>" in page


def test_the_index_shows_public_boards_only(client: Client) -> None:
    make_board("engineers")
    make_board("secret", is_public=False)

    page = client.get("/").content.decode()

    assert "/b/engineers/" in page
    assert "secret" not in page


@pytest.mark.parametrize(
    "path", ["/b/secret/", "/b/none/", "/b/secret/jobs/{pk}/", "/b/engineers/jobs/{pk}/"]
)
def test_what_is_not_public_looks_like_what_is_not_there(client: Client, path: str) -> None:
    """V4: unknown and forbidden look the same."""
    make_board("engineers")
    posting = make_posting()
    make_member(make_board("secret", is_public=False), posting)

    answer = client.get(path.format(pk=posting.pk))

    assert answer.status_code == 404
    assert answer.content == client.get("/b/nothing-here/").content


def test_a_posting_page_explains_itself_step_by_step(client: Client) -> None:
    """E1: each step says whether it was recorded or evaluated now."""
    board = make_board(roles=["engineer"])
    posting = make_posting(text="We build tools. You need two years of Python.")
    make_verdict(
        posting, board.filter, reason="the title names the role", quote="You need two years of Python."
    )
    make_member(board, posting)

    page = client.get(f"/b/engineers/jobs/{posting.pk}/").content.decode()

    for words in ("The title names the role", "You need two years of Python.", "evaluated now", "recorded"):
        assert words in page


def test_hostile_text_in_every_field_stays_text(client: Client) -> None:
    board = make_board()
    evil = "<script>alert(1)</script>"
    posting = make_posting(title=evil, company=evil, locations=[evil], department=evil, text="plain")
    make_verdict(posting, board.filter, reason=evil, quote=evil)
    make_member(board, posting)

    for path in ("/b/engineers/", f"/b/engineers/jobs/{posting.pk}/"):
        assert evil not in client.get(path).content.decode()


def test_pay_is_shown_with_the_sentence_that_states_it(client: Client) -> None:
    board, posting = make_board(), make_posting()
    Compensation.objects.create(
        posting=posting,
        min=95000,
        max=110000,
        currency="USD",
        period="year",
        basis="text",
        sentence="The pay range is $95,000 - $110,000.",
    )
    make_member(board, posting)

    page = client.get(f"/b/engineers/jobs/{posting.pk}/").content.decode()

    assert "The pay range is $95,000 - $110,000." in page


def test_search_and_facets_narrow_list_and_count_alike(client: Client) -> None:
    board = make_board()
    for title, remote in (("Data Engineer", "yes"), ("Data Analyst", "no"), ("Nurse", "no")):
        make_member(board, make_posting(title=title, remote=remote))

    page = client.get("/b/engineers/?q=data&mode=no").content.decode()

    assert "Data Analyst" in page
    assert "Data Engineer" not in page
    assert "Nurse" not in page


def test_an_unknown_parameter_is_named_with_a_guess(client: Client) -> None:
    make_member(make_board(), make_posting())

    page = client.get("/b/engineers/?mod=remote").content.decode()

    assert "mod" in page
    assert "mode" in page


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("countrys", "place"),
        ("country", "place"),
        ("Location", "place"),
        ("seniority", "q"),
        ("employment", "type"),
        ("employment-type", "type"),
        ("remote", "mode"),
        ("search", "q"),
        ("query", "q"),
        ("pag", "page"),
        ("utm_zzz", ""),
    ],
)
def test_another_name_for_a_parameter_suggests_the_one_that_is_meant(name: str, suggested: str) -> None:
    """FLT-01"""
    assert ListQuery.parse(QueryDict(f"{name}=IT")).ignored == ((name, suggested),)


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "page=99999999999", "q=" + "a" * 10_000, "q=%00", "place=%00"]
)
def test_bad_parameters_are_answered_with_a_page(client: Client, query: str) -> None:
    make_member(make_board(), make_posting())

    assert client.get(f"/b/engineers/?{query}").status_code == 200


def test_an_unchanged_board_is_not_sent_again(client: Client) -> None:
    make_member(make_board(), make_posting())
    first = client.get("/b/engineers/")

    again = client.get("/b/engineers/", headers={"if-none-match": first["ETag"]})

    assert (first.status_code, again.status_code) == (200, 304)
    assert "public" in first["Cache-Control"]


def test_a_closed_posting_says_so(client: Client) -> None:
    board, posting = make_board(), make_posting()
    Posting.objects.filter(pk=posting.pk).update(
        availability="closed", availability_reason="the page says so"
    )
    make_member(board, posting)

    assert "closed" in client.get(f"/b/engineers/jobs/{posting.pk}/").content.decode().lower()


def test_a_public_posting_has_no_field_of_a_person() -> None:
    """V5: an allow-list. A field added here must be a posting's own."""
    assert set(PublicPostingPage.__dataclass_fields__) == set(PublicPosting.__dataclass_fields__) | {
        "description_html",
        "description_text",
        "language",
        "text_facts",
        "department",
        "apply_url",
        "apply_host",
        "pay_sentence",
        "checked_at",
    }
    assert set(PublicPosting.__dataclass_fields__) == {
        "id",
        "title",
        "company",
        "places",
        "pay",
        "remote",
        "employment_type",
        "employment_type_label",
        "posted_at",
        "posted_on",
        "first_seen_at",
        "availability",
        "is_closed",
    }


def test_a_list_of_fifty_costs_as_many_queries_as_a_list_of_two(
    client: Client, django_assert_max_num_queries: object
) -> None:
    board = make_board()
    for _ in range(50):
        make_member(board, make_posting(posted_at=timezone.now()))

    with django_assert_max_num_queries(16):  # type: ignore[operator]
        page = client.get("/b/engineers/")

    assert len(page.content) < 60_000
