"""Care of sources and of what is kept: the starter list, search, retention, versions, saved test cases, the
console.
"""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from boards.models import Membership
from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context
from catalog.models import (
    Alert,
    GroupDecision,
    Listing,
    PageFetch,
    Posting,
    PostingText,
    Pull,
    PullPage,
    Source,
    SourceBundle,
    SourceRequest,
)
from catalog.services.retention import forget
from catalog.services.searching import corrected
from catalog.starter import starter_boards
from catalog.text_diff import text_diff
from config import objects
from taskqueue.models import Task
from tests.catalog.test_recording import listing, record
from tests.claims import claimed
from tests.factories import PullFactory, SourceFactory, UserFactory, make_board, make_member

pytestmark = pytest.mark.django_db


def test_the_starter_list_names_boards_that_can_be_read() -> None:
    boards = starter_boards()
    assert len(boards) > 300
    assert len({(board.kind, board.region, board.token) for board in boards}) == len(boards)
    for board in boards:
        adapter = ADAPTERS[board.kind]
        url = adapter.board_url(Context(token=board.token, region=board.region))
        found = adapter.detect(url)
        assert found is None or found.token.casefold() == board.token.casefold(), board
        assert board.name


def test_a_theme_of_the_starter_list_becomes_a_bundle_once() -> None:
    out = StringIO()
    call_command("addstarter", "robotics", stdout=out)
    call_command("addstarter", "robotics", stdout=out)

    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert first["robotics"] == SourceBundle.objects.get(slug="robotics").sources.count() > 10
    assert second == {"robotics": 0}
    assert not Task.objects.exists()  # the schedule pulls them, host by host
    with pytest.raises(CommandError, match="no theme pumps"):
        call_command("addstarter", "pumps")


@pytest.fixture
def catalog() -> None:
    record(
        SourceFactory.create(name="Good Pumps"),
        listing(
            "1", title="Senior Data Engineer", company="Good Pumps", description_text="Kafka and Postgres."
        ),
        listing(
            "2", title="Nurse", company="Clinic", locations=("Basel, Switzerland",), description_text="Care."
        ),
        listing("3", title="Fitter", company="Good Pumps", description_text="Fit pumps with kafka."),
    )


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("engineer", {"Senior Data Engineer"}),
        ("engineers", {"Senior Data Engineer"}),
        ("eng", {"Senior Data Engineer"}),
        ("good pumps", {"Senior Data Engineer", "Fitter"}),
        ("kafka", {"Senior Data Engineer", "Fitter"}),
        ("kafka fitter", {"Fitter"}),
        ("basel", {"Nurse"}),
        ("enginer", set()),
        ("' | ! & :* )(", {"Senior Data Engineer", "Nurse", "Fitter"}),
        ("", {"Senior Data Engineer", "Nurse", "Fitter"}),
    ],
)
def test_a_search_finds_words_and_beginnings_of_words(catalog: None, words: str, titles: set[str]) -> None:
    assert {posting.title for posting in Posting.objects.found_by(words)} == titles


def test_a_search_that_finds_nothing_says_what_may_have_been_meant(catalog: None, client: Client) -> None:
    assert corrected("senior enginer") == "senior engineer"
    assert corrected("engineer") == ""
    assert corrected("qqqq") == ""
    board = make_board(slug="pumps")
    for posting in Posting.objects.all():
        make_member(board, posting)
    text = client.get("/b/pumps/", {"q": "enginer"}).content.decode()
    assert 'Did you mean <a href="?q=engineer">engineer</a>?' in text


def age(model: type, **fields: int) -> None:
    for name, days in fields.items():
        model.objects.update(**{name: F(name) - timedelta(days=days)})  # type: ignore[attr-defined]


def test_what_is_past_its_time_goes_and_what_a_row_stands_on_stays() -> None:
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"), listing("3"))
    for key in ("2", "3"):
        PageFetch.objects.create(
            posting=Posting.objects.get(listings__external_key=key), url="https://x.example/"
        )
    record(source, listing("1", description_text="Better.", description_html="<p>Better.</p>"))
    held = Posting.objects.get(listings__external_key="3")
    make_member(make_board(), held)
    key = objects.keep("pulls", b"old")
    for pull in Pull.objects.order_by("pk"):
        PullPage.objects.create(
            pull=pull, number=1, url="https://x.example/", status=200, size=3, raw_key=key
        )
    age(Pull, started_at=400)
    age(Posting, first_seen_at=400)
    age(PostingText, fetched_at=400)
    age(PageFetch, at=400)
    Listing.objects.exclude(unlisted_at=None).update(unlisted_at=timezone.now() - timedelta(days=400))

    gone = forget(claimed("catalog.forget"))

    assert gone["postings"] == 1
    assert set(Listing.objects.values_list("external_key", flat=True)) == {"1", "3"}
    assert Posting.objects.filter(pk=held.pk).exists()
    assert gone["texts"] == 1
    assert PostingText.objects.filter(posting=held).count() == 1
    assert gone["pages"] == 1
    assert objects.read(key) == b"old"  # the newest reading still has it
    assert Pull.objects.count() == 1
    assert forget(claimed("catalog.forget")) == dict.fromkeys(gone, 0)


def test_postings_that_a_person_decided_about_stay() -> None:
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"), listing("3"), listing("4"))
    record(source, listing("4"))
    first, second = Posting.objects.order_by("pk")[:2]
    GroupDecision.objects.create(first=first, second=second, is_same=True, decided_by="staff")
    age(Posting, first_seen_at=400)
    Listing.objects.exclude(unlisted_at=None).update(unlisted_at=timezone.now() - timedelta(days=400))

    assert forget(claimed("catalog.forget"))["postings"] == 1

    assert set(Listing.objects.values_list("external_key", flat=True)) == {"1", "2", "4"}


def test_two_versions_are_told_apart_sentence_by_sentence() -> None:
    pieces = [
        (piece.kind, piece.text)
        for piece in text_diff("Build pumps. Pay is low.", "Build pumps. Pay is high.")
    ]
    assert pieces == [("same", "Build pumps. "), ("gone", "Pay is low."), ("new", "Pay is high.")]


def test_a_person_sees_the_versions_of_a_text_and_a_stranger_does_not(client: Client) -> None:
    source = SourceFactory.create()
    record(source, listing())
    record(source, listing(description_text="Build pumps.", description_html="<p>Build pumps.</p>"))
    posting = Posting.objects.get()
    reader = UserFactory.create()
    Membership.objects.create(user=reader, posting=posting)
    client.force_login(reader)

    text = client.get(f"/jobs/{posting.pk}/texts/").content.decode()

    assert "2 versions kept" in text
    assert "<del>Build pipelines.</del><ins>Build pumps.</ins>" in text
    client.force_login(UserFactory.create())
    assert client.get(f"/jobs/{posting.pk}/texts/").status_code == 404


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


def test_staff_save_an_answer_as_a_test_case(staff: Client) -> None:
    source = SourceFactory.create(kind="lever", token="goodco")
    content = json.dumps(
        [{"id": "a", "text": "Engineer", "hostedUrl": "https://jobs.lever.co/goodco/a"}]
    ).encode()
    page = PullPage.objects.create(
        pull=PullFactory.create(source=source),
        number=1,
        url="https://api.lever.co/v0/postings/goodco?mode=json",
        status=200,
        size=len(content),
        raw_key=objects.keep("pulls", content),
    )

    saved = staff.get(f"/admin/catalog/pull/page/{page.pk}/")

    files = zipfile.ZipFile(io.BytesIO(saved.getvalue()))
    assert files.read("response.bin") == content
    said = json.loads(files.read("expected.json"))
    assert (said["kind"], said["complete"], len(said["listings"])) == ("lever", True, 1)


def test_staff_answer_wishes_settle_alerts_and_decide_about_copies(staff: Client) -> None:
    source = SourceFactory.create()
    record(source, listing("1"), listing("2"))
    wish = SourceRequest.objects.create(user=UserFactory.create(), url="https://x.example/jobs")
    Alert.objects.create(kind="source_emptied", source=source, message="empty")
    ids = list(Posting.objects.values_list("pk", flat=True))

    staff.post(f"/admin/catalog/sourcerequest/{wish.pk}/change/", {"answer": "Added.", "source": source.pk})
    staff.post("/admin/catalog/alert/", {"action": "resolve", "_selected_action": [Alert.objects.get().pk]})
    for action in ("different_roles", "closed"):
        staff.post("/admin/catalog/posting/", {"action": action, "_selected_action": ids})

    wish.refresh_from_db()
    assert (wish.status, wish.answer, wish.source) == ("added", "Added.", source)
    assert Alert.objects.get().resolved_at is not None
    assert GroupDecision.objects.get().is_same is False
    assert set(Posting.objects.values_list("availability", flat=True)) == {"closed"}


@pytest.mark.parametrize(
    "page", ["source", "pull", "listing", "posting", "sourcebundle", "sourcerequest", "alert", "robotsfile"]
)
def test_the_consoles_pages_open(staff: Client, page: str) -> None:
    record(SourceFactory.create(), listing())
    assert staff.get(f"/admin/catalog/{page}/").status_code == 200


def test_two_thousand_due_sources_are_queued_by_one_statement() -> None:
    """Q2."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from catalog.tasks import due_pulls
    from taskqueue.services.schedules import enqueue_due

    rows = [
        Source(
            name=f"s{number}",
            kind="lever",
            token=f"t{number}",
            url="https://x.example/",
            host=f"h{number % 50}",
        )
        for number in range(2_000)
    ]
    Source.objects.bulk_create(rows)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        count = enqueue_due("catalog.pull", due_pulls())
    assert count == 2_000
    assert len([query for query in seen.captured_queries if "queue_task" in query["sql"]]) == 1
