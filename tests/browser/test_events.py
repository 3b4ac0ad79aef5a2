"""Pages that follow their reader's work, with the stream, without it, and with one that is stuck (Q13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from boards.models import Membership, MembershipRefresh
from reviews.models import ReviewRun
from reviews.services.runs import run_subject
from taskqueue.models import Task, account_of
from tests.factories import UserFactory, make_filter, make_posting
from tests.realtime.server import Server, web
from tests.realtime.streams import notify, signed_in
from tests.taskqueue.factories import TaskFactory
from tests.taskqueue.waiting import LONGEST_SECONDS, until
from tracker.models import User

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with web(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def person() -> User:
    """Somebody whose board has one posting."""
    person = User.objects.create_user("anna", "anna@example.org")
    make_filter(person, roles=["engineer"])
    Membership.objects.create(user=person, posting=make_posting(title="Backend Engineer"))
    MembershipRefresh.objects.create(user=person, computed_at=timezone.now())
    return person


@pytest.fixture
def review(person: User) -> Task:
    """A run of the person's filter, a third done."""
    run = ReviewRun.objects.create(revision=person.filters.get().current())
    return TaskFactory.create(
        kind="reviews.plan",
        subject=run_subject(run.pk),
        account=account_of(person),
        status=Task.Status.WAITING,
        progress={"done": 10, "total": 30, "note": ""},
    )


@pytest.fixture
def context(browser: Browser, person: User) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(LONGEST_SECONDS * 1000)
    sign_in(context, person)
    yield context
    context.close()


def sign_in(context: BrowserContext, person: User) -> None:
    name, _, value = signed_in(person).partition("=")
    for host in ("127.0.0.1", "localhost"):  # ours, and Django's test server
        context.add_cookies([{"name": name, "value": value, "domain": host, "path": "/"}])


def work(page: Page, count: str) -> Locator:
    """The line of work that has come so far."""
    return page.locator("[data-task-id]", has_text=count)


def change(task: Task, **fields: object) -> None:
    Task.objects.filter(pk=task.pk).update(**fields)
    notify(task.pk)


def follow(page: Page, url: str, path: str = "/board/") -> None:
    """Open the page, and wait until its stream misses nothing more."""
    told: list[str] = []
    page.expose_function("heard", lambda data: told.append(data))
    page.add_init_script(
        "const Given = EventSource; window.EventSource = class extends Given {"
        " constructor(url) { super(url); this.addEventListener('message', (e) => heard(e.data)); } }"
    )
    page.goto(f"{url}{path}")
    until(lambda: page.title() and any("resync" in event for event in told))  # asking lets the page tell


def test_progress_moves_and_finished_work_leaves_without_a_reload(
    context: BrowserContext, server: Server, review: Task, person: User
) -> None:
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    follow(page, server.url)
    line = page.locator(f'[data-task-id="{review.pk}"]')
    assert "Reading postings for Engineers: waiting for children" in line.inner_text()
    assert line.locator("progress").get_attribute("value") == "10"

    change(review, progress={"done": 20, "total": 30, "note": ""})
    work(page, "20 of 30").wait_for()
    assert line.locator("progress").evaluate("bar => bar.value") == 20

    # The list itself is not exchanged under the reader's eyes: it is offered.
    Membership.objects.create(user=person, posting=make_posting(title="Platform Engineer"))
    change(review, status=Task.Status.DONE, finished_at=timezone.now())
    line.wait_for(state="detached")
    notice = page.locator("[data-live-changed]")
    notice.wait_for()
    assert page.get_by_text("Platform Engineer").count() == 0
    notice.get_by_role("link").click()
    page.get_by_text("Platform Engineer").wait_for()
    assert wrong == []


def test_work_that_begins_appears_and_a_reload_finds_it(
    context: BrowserContext, server: Server, person: User
) -> None:
    page = context.new_page()
    follow(page, server.url)
    assert page.locator("[data-task-id]").count() == 0

    task = TaskFactory.create(
        kind="boards.refresh", subject=f"person:{person.pk}", account=account_of(person)
    )
    notify(task.pk)
    page.locator(f'[data-task-id="{task.pk}"]').wait_for()

    page.reload()
    assert "Putting your board together: pending" in page.inner_text("main")


def test_a_first_board_shows_itself_when_it_is_there(
    context: BrowserContext, server: Server, person: User
) -> None:
    MembershipRefresh.objects.all().delete()
    task = TaskFactory.create(
        kind="boards.refresh", subject=f"person:{person.pk}", account=account_of(person)
    )
    page = context.new_page()
    follow(page, server.url)
    assert "Your board is being put together" in page.inner_text("main")

    MembershipRefresh.objects.create(user=person, computed_at=timezone.now())
    change(task, status=Task.Status.DONE, position=None, finished_at=timezone.now())

    page.get_by_text("Backend Engineer").wait_for()


def test_a_server_without_streams_is_asked_for_none_and_the_page_asks_by_itself(
    context: BrowserContext, live_server: LiveServer, review: Task
) -> None:
    """Here Django's own test server."""
    context.route(re.compile("/events/$"), lambda route: pytest.fail("a stream was asked for"))
    page = context.new_page()
    page.goto(f"{live_server.url}/board/")
    assert page.locator("progress").get_attribute("value") == "10"

    Task.objects.filter(pk=review.pk).update(progress={"done": 25, "total": 30, "note": ""})

    work(page, "25 of 30").wait_for()


@pytest.mark.parametrize("stream", ["stuck", "refused"])
def test_with_a_stream_that_tells_nothing_the_page_asks_by_itself(
    context: BrowserContext, server: Server, review: Task, stream: str
) -> None:
    """As behind a proxy that keeps everything back, and from a server that is full."""
    asked: list[Route] = []

    def answer(route: Route) -> None:
        asked.append(route)
        if stream == "refused":
            route.fulfill(status=503)

    context.route(re.compile("/events/$"), answer)
    page = context.new_page()
    page.goto(f"{server.url}/board/")

    Task.objects.filter(pk=review.pk).update(progress={"done": 25, "total": 30, "note": ""})

    work(page, "25 of 30").wait_for()
    [route] = asked
    if stream == "stuck":
        route.abort()


def test_without_scripts_the_page_shows_the_state_at_load(
    browser: Browser, server: Server, review: Task, person: User
) -> None:
    context = browser.new_context(java_script_enabled=False)
    sign_in(context, person)
    page = context.new_page()

    page.goto(f"{server.url}/board/")

    assert "10 of 30" in page.inner_text("main")
    assert not page.locator("[data-live-changed]").is_visible()
    context.close()


def test_the_page_of_somebody_who_signed_out_elsewhere_stays_as_it_is(
    context: BrowserContext, server: Server, review: Task
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/board/")
    context.clear_cookies()

    with page.expect_response(re.compile("/board/work/$")) as answered:
        pass

    assert answered.value.status == 302
    assert page.locator("progress").get_attribute("value") == "10"


def test_the_page_of_own_tasks_advances_changes_its_words_and_keeps_the_focus(
    context: BrowserContext, server: Server, review: Task, person: User
) -> None:
    """Q13, Q15: what begins appears, what ends leaves, and what is another's never shows."""
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    follow(page, server.url, "/tasks/")
    line = page.locator(f'[data-task-id="{review.pk}"]')
    assert "in several parts" in line.inner_text()
    line.get_by_role("button").focus()

    started = TaskFactory.create(subject="source:1", account=account_of(person))
    theirs = TaskFactory.create(subject="source:2", account=account_of(UserFactory.create()))
    notify(started.pk, theirs.pk)
    begun = page.locator(f'[data-task-id="{started.pk}"]')
    begun.get_by_text("waits for its turn").wait_for()
    assert line.get_by_role("button").evaluate("button => button === document.activeElement")

    held: list[Route] = []  # so that the stream alone can move the line
    page.route(re.compile("/tasks/$"), lambda route: held.append(route))
    change(review, progress={"done": 20, "total": 30, "note": "reading"})
    line.get_by_text("20 of 30 reading", exact=True).wait_for()
    page.unroute(re.compile("/tasks/$"))
    for route in held:
        route.continue_()

    change(started, status=Task.Status.AWAITING_BATCH, position=None)
    begun.get_by_text("the answers are being waited for").wait_for()

    change(review, status=Task.Status.DONE, finished_at=timezone.now())
    line.wait_for(state="detached")
    assert page.locator("[data-task-id]").count() == 1
    assert wrong == []


def test_the_page_of_own_tasks_asks_by_itself_without_a_stream(
    context: BrowserContext, server: Server, review: Task
) -> None:
    context.route(re.compile("/events/$"), lambda route: route.fulfill(status=503))
    page = context.new_page()
    page.goto(f"{server.url}/tasks/")

    Task.objects.filter(pk=review.pk).update(progress={"done": 25, "total": 30, "note": ""})

    work(page, "25 of 30").wait_for()
