"""The main job on recorded responses of real boards, over HTTP: pull, review, publish."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from django.db.models import Count
from django.test import Client
from pytest_django import Settings

from boards.models import ManagedBoard
from boards.services.publication import create_board
from catalog.models import Listing, Posting, Pull, Source
from catalog.services.sources import add_source, request_pull
from reviews.criteria import Criteria
from reviews.models import Verdict
from taskqueue.handlers import known
from taskqueue.models import Task
from taskqueue.worker import WorkerLoop
from tests.pipeline import next_cycle, settle
from tests.taskqueue.lines import SharedLine
from tests.taskqueue.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

HOSTS = ("boards-api.greenhouse.io", "api.lever.co", "api.ashbyhq.com")
# Board, the recording that answers for it, and where its rows are.
RECORDED = {
    "https://job-boards.greenhouse.io/amplitude": ("greenhouse/jobs_amplitude_content.json", "jobs"),
    "https://job-boards.greenhouse.io/smarterdx": ("greenhouse/jobs_smarterdx_content.json", "jobs"),
    "https://jobs.lever.co/GoToGroup": ("lever/postings_gotogroup.json", ""),
    "https://jobs.lever.co/palantir": ("lever/postings_palantir.json", ""),
    "https://jobs.lever.co/jumpcloud": ("lever/postings_jumpcloud_no_lists.json", ""),
    "https://jobs.lever.co/matchgroup": ("lever/postings_matchgroup_salary_korean.json", ""),
    "https://jobs.ashbyhq.com/linear": ("ashby/board_linear.json", "jobs"),
    "https://jobs.ashbyhq.com/lightdash": ("ashby/board_lightdash.json", "jobs"),
    "https://jobs.ashbyhq.com/Coder": ("ashby/board_coder_multicurrency_tiers.json", "jobs"),
    "https://jobs.ashbyhq.com/truelogic": ("ashby/board_truelogic_latam.json", "jobs"),
    "https://jobs.ashbyhq.com/highlightta": ("ashby/board_highlightta_hybrid_cad.json", "jobs"),
}

Replay = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def replaying(shared: Path, settings: Settings) -> Replay:
    """A context in which the recordings answer for the platforms, spoilt by a fault if one is named."""

    @contextmanager
    def replay(fault: str = "") -> Iterator[None]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, str(shared / "tools/replay.py"), "--port", str(port)]
        process = subprocess.Popen(
            [*command, *(["--fault", fault] if fault else [])], stdout=subprocess.DEVNULL
        )
        settings.FETCH_ALLOW_PRIVATE_HOSTS = [f"127.0.0.1:{port}"]
        settings.FETCH_BASE_URL_OVERRIDES = {
            f"https://{host}": f"http://127.0.0.1:{port}/{host}" for host in HOSTS
        }
        try:
            until(lambda: _answers(port))
            yield
        finally:
            process.kill()
            process.wait()

    return replay


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def recorded(shared: Path, recording: str, under: str) -> tuple[str, int]:
    """What a pull of a recording must end as: (outcome, rows). Some recordings were cut, and say so (A2)."""
    content = json.loads((shared / "payloads" / recording).read_text())
    rows = content[under] if under else content
    shown = sum(1 for row in rows if row.get("isListed", True))
    total = content.get("meta", {}).get("total", shown) if under else shown
    return ("complete" if total == shown else "partial"), shown


def test_recorded_boards_are_pulled_reviewed_and_published_with_every_row_explained(
    shared: Path, replaying: Replay, client: Client
) -> None:
    board = create_board(
        slug="engineering",
        title="Engineering",
        summary="",
        criteria=Criteria.parse({"roles": ["software engineer", "data engineer", "data scientist"]}),
        is_public=True,
    )
    for url in RECORDED:
        add_source(url=url)

    with replaying():
        settle()

    for url, (recording, under) in RECORDED.items():
        pull = Pull.objects.get(source__token=url.rsplit("/", 1)[1])
        assert (pull.outcome, pull.seen) == recorded(shared, recording, under), url
    admitted = Listing.objects.filter(kept=True).count()
    assert Posting.objects.count() == admitted > 0
    assert Verdict.objects.values("posting").distinct().count() == Posting.objects.exclude(text=None).count()
    board.refresh_from_db()
    assert board.public_revision == board.revision
    assert board.members.count() == Verdict.objects.filter(status="passed").count() > 0

    member = board.members.select_related("posting").first()
    assert member is not None
    page = client.get(f"/b/engineering/jobs/{member.posting_id}/")
    assert page.status_code == 200
    assert Verdict.objects.get(posting=member.posting).reason in page.content.decode()

    written = _state()
    with replaying():
        for source in Source.objects.all():
            request_pull(source)
        next_cycle()
        settle()
    assert _state() == written  # a second run adds nothing twice


def _state() -> list[object]:
    return [
        list(Listing.objects.order_by("pk").values_list("pk", "fingerprint", "unlisted_at")),
        list(Posting.objects.order_by("pk").values_list("pk", "content_hash", "changed_at", "availability")),
        list(Verdict.objects.order_by("pk").values_list("pk", "status")),
        list(ManagedBoard.objects.annotate(n=Count("members")).values_list("pk", "n", "published_at")),
    ]


FAULTS = {
    "cut": {"truncated", "not_json"},
    "html": {"html_page"},
    "error200": {"error_body", "wrong_shape"},
    "500": {"server_error"},
    "huge": {"too_large"},
    "redirect-private": {"blocked"},
    "slow": {"timeout"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_ends_as_a_named_outcome_closes_nothing_and_the_next_pull_goes_on(
    replaying: Replay, settings: Settings, fault: str
) -> None:
    """A2."""
    settings.FETCH_TIMEOUT_SECONDS = 2 if fault == "slow" else 60
    add_source(url="https://job-boards.greenhouse.io/amplitude")
    with replaying():
        settle()
    source = Source.objects.get()
    before = list(Listing.objects.values_list("pk", "unlisted_at"))

    with replaying(fault):
        request_pull(source)
        settle()

    spoilt = source.pulls.latest("pk")
    assert spoilt.outcome == "failed"
    assert spoilt.fault in FAULTS[fault]
    assert list(Listing.objects.values_list("pk", "unlisted_at")) == before
    assert not Posting.objects.exclude(availability="open").exists()

    with replaying():
        request_pull(source)
        settle()
    source.refresh_from_db()
    assert source.pulls.latest("pk").outcome == source.pulls.earliest("pk").outcome
    assert source.failures == 0


def test_a_host_that_asks_for_time_gets_it_and_no_attempt_is_spent(replaying: Replay) -> None:
    """A6, Q8."""
    add_source(url="https://job-boards.greenhouse.io/amplitude")

    with replaying("429"):
        WorkerLoop(known(), line=SharedLine()).step()

    task = Task.objects.get(kind="catalog.pull")
    assert Pull.objects.get().outcome == "deferred"
    assert task.status == "pending"
    assert task.attempts - task.resumes == 0
    assert Source.objects.get().failures == 0


def test_a_board_that_is_not_there_and_one_that_is_empty_are_two_answers(
    replaying: Replay,
) -> None:
    add_source(url="https://job-boards.greenhouse.io/nobody")
    with replaying():
        settle()
    assert Pull.objects.get().fault == "unknown_board"

    with replaying("empty"):
        request_pull(Source.objects.get())
        settle()
    assert Pull.objects.latest("pk").outcome == "empty"
