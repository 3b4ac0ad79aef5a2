"""The operators' console: every list and every row opens, for staff alone, at a bounded price."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from boards.models import ManagedBoard
from boards.services.publication import publish_run
from catalog.models import Alert, Listing, Pull, RobotsFile, Source, SourceBundle, SourceRequest
from reviews.models import Decision, FilterRevision, ModelCall, ReviewRun
from taskqueue.models import HostBudget, Task, Worker
from tests.factories import PullFactory, UserFactory, answered_run, make_board, make_posting, make_verdict
from tracker.models import User

pytestmark = pytest.mark.django_db

LISTS = sorted(f"admin:{model._meta.app_label}_{model._meta.model_name}" for model in admin.site._registry)
MOST_QUERIES = 12


@pytest.fixture
def staff() -> User:
    return User.objects.create_superuser("root", "root@example.org", "a long pass phrase")


@pytest.fixture
def rows() -> None:
    """Three of everything: a query per row would show."""
    for number in range(3):
        board = make_board(f"board{number}", roles=["engineer"])
        posting = make_posting()
        make_verdict(posting, board.filter)
        source = Source.objects.latest("pk")
        PullFactory.create(source=source)
        Alert.objects.create(kind=Alert.Kind.EMPTIED, source=source, message="shows nothing")
        RobotsFile.objects.create(host=f"host{number}.example", outcome="none")
        SourceBundle.objects.create(slug=f"bundle{number}", name=f"Bundle {number}")
        SourceRequest.objects.create(user=UserFactory.create(), url=f"https://x.example/{number}")
        run = answered_run(board)
        publish_run(run.pk)
        decision = Decision.objects.create(
            revision=FilterRevision.objects.latest("pk"),
            posting=posting,
            input_hash="",
            policy_digest=str(number),
            stage="review",
            action="review",
        )
        ModelCall.objects.create(
            purpose="review", payer="fleet", provider="openai", model="m", transport="live", decision=decision
        )
        Worker.objects.create(name=f"worker{number}", kinds=[], hostname="h", pid=1)
        HostBudget.objects.create(host=f"host{number}", egress="default")


@pytest.mark.parametrize("name", LISTS)
def test_a_list_and_its_rows_open_without_a_query_per_row(
    client: Client, staff: User, rows: None, name: str, django_assert_max_num_queries: Any
) -> None:
    client.force_login(staff)
    model = next(
        m for m in admin.site._registry if name.endswith(f"{m._meta.app_label}_{m._meta.model_name}")
    )

    with django_assert_max_num_queries(MOST_QUERIES):
        assert client.get(reverse(f"{name}_changelist")).status_code == 200

    first = model._default_manager.first()
    assert first is not None, "the test has no row of this model"
    assert client.get(reverse(f"{name}_change", args=[first.pk])).status_code == 200


@pytest.mark.parametrize("name", LISTS)
def test_nobody_but_staff_sees_a_list(client: Client, name: str) -> None:
    """Q15, V4."""
    path = reverse(f"{name}_changelist")
    assert client.get(path).status_code == 302

    client.force_login(UserFactory.create())
    assert client.get(path).status_code == 302


def test_evidence_cannot_be_edited(client: Client, staff: User, rows: None) -> None:
    client.force_login(staff)
    for model in (Pull, Listing, Decision, ReviewRun):
        row = model._default_manager.first()
        assert row is not None
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
        assert client.post(path, {}).status_code == 403


def test_an_action_queues_a_pull_and_a_second_one_is_the_same_task(client: Client, staff: User) -> None:
    source = make_posting().lead.source  # type: ignore[union-attr]
    client.force_login(staff)
    path = reverse("admin:catalog_source_changelist")

    for _ in range(2):
        answer = client.post(path, {"action": "pull_now", "_selected_action": [source.pk]}, follow=True)
        assert "Pulls queued: 1." in answer.content.decode()

    assert Task.objects.filter(kind="catalog.pull").count() == 1


def test_a_board_is_published_and_taken_down_by_actions(client: Client, staff: User) -> None:
    board = make_board()
    client.force_login(staff)
    path = reverse("admin:boards_managedboard_changelist")

    client.post(path, {"action": "publish_now", "_selected_action": [board.pk]})
    assert board.runs.count() == 1

    client.post(path, {"action": "hide", "_selected_action": [board.pk]})
    assert Client().get("/b/engineers/").status_code == 404
    client.post(path, {"action": "show_to_everybody", "_selected_action": [board.pk]})
    assert Client().get("/b/engineers/").status_code == 200


def test_a_bad_title_pattern_is_refused_where_it_is_typed(client: Client, staff: User) -> None:
    source = make_posting().lead.source  # type: ignore[union-attr]
    client.force_login(staff)
    form = {
        "name": source.name,
        "company": "",
        "title_pattern": "(a+)+$",
        "interval_minutes": "360",
        "is_active": "on",
    }

    answer = client.post(reverse("admin:catalog_source_change", args=[source.pk]), form)

    assert answer.status_code == 200
    source.refresh_from_db()
    assert source.title_pattern == ""


def test_an_interval_that_would_never_let_go_is_refused(client: Client, staff: User) -> None:
    """A6: politeness is no matter of what somebody types."""
    source = make_posting().lead.source  # type: ignore[union-attr]
    client.force_login(staff)
    form = {"name": source.name, "title_pattern": "", "interval_minutes": "0", "is_active": "on"}

    client.post(reverse("admin:catalog_source_change", args=[source.pk]), form)

    source.refresh_from_db()
    assert source.interval_minutes == 360
    with pytest.raises(IntegrityError), transaction.atomic():
        Source.objects.update(interval_minutes=0)


def test_staff_make_a_board_and_change_what_it_asks_for(client: Client, staff: User) -> None:
    """V6: new criteria are a new revision, a new title is none."""
    client.force_login(staff)
    form = {"title": "Nurses", "slug": "nurses", "summary": "", "criteria": '{"roles": ["nurse"]}'}
    client.post(reverse("admin:boards_managedboard_add"), form)
    board = ManagedBoard.objects.get(slug="nurses")
    change = reverse("admin:boards_managedboard_change", args=[board.pk])

    client.post(change, {**form, "title": "Night nurses"})
    board.refresh_from_db()
    assert (board.title, board.revision, board.status) == ("Night nurses", 1, "draft")

    client.post(change, {**form, "criteria": '{"roles": ["midwife"]}'})
    board.refresh_from_db()
    assert (board.revision, board.filter.current().criteria) == (2, {"roles": ["midwife"]})

    refused = client.post(change, {**form, "criteria": '{"rolls": ["midwife"]}'})
    assert "rolls" in refused.content.decode()
    board.refresh_from_db()
    assert board.revision == 2
