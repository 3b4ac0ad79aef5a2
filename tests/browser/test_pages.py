"""The pages as people see them: phone and desk, light and dark, with and without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from pytest_django.live_server_helper import LiveServer

from boards.models import Membership, MembershipRefresh
from catalog.models import Posting
from tests.factories import make_board, make_filter, make_member, make_posting, make_verdict
from tracker.models import User

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

PASSWORD = "a long pass phrase"
Scheme = Literal["light", "dark"]


@pytest.fixture
def person() -> User:
    """Somebody with a filter, a board of two postings and one that is hidden."""
    person = User.objects.create_user("anna", "anna@example.org", PASSWORD)
    filter_ = make_filter(person, roles=["engineer"])
    board = make_board(roles=["engineer"])
    for title in ("Backend Engineer", "Platform Engineer"):
        posting = make_posting(title=title)
        make_verdict(
            posting, filter_, reason="the title names the role", quote="We build tools for bakeries."
        )
        make_member(board, posting)
        Membership.objects.create(user=person, posting=posting)
    make_verdict(
        make_posting(title="Night Nurse"), filter_, "rejected", reason="the title names another role"
    )
    MembershipRefresh.objects.create(user=person, computed_at="2026-11-29T12:00:00Z")
    return person


def watched(context: BrowserContext) -> tuple[Page, list[str]]:
    """A page, and everything that went wrong on it: console errors, failed or refused requests."""
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("response", lambda got: wrong.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    # What the next page interrupts, such as an icon still on its way, is no failure.
    page.on("requestfailed", lambda lost: wrong.extend([] if "ABORTED" in str(lost.failure) else [lost.url]))
    return page, wrong


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1440])
def test_no_page_overflows_or_misses_a_file(
    browser: Browser, live_server: LiveServer, person: User, width: int, scheme: Scheme
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page, wrong = watched(context)
    posting = Posting.objects.get(title="Backend Engineer")
    sign_in(page, live_server)
    paths = ["/", "/b/engineers/", f"/b/engineers/jobs/{posting.pk}/", "/board/", "/board/?show=hidden"]
    paths += [f"/jobs/{posting.pk}/", "/filters/", "/filters/new/", "/sources/"]

    for path in paths:
        page.goto(live_server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.locator("h1").count() == 1, path

    assert wrong == []
    context.close()


def sign_in(page: Page, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Username").fill("anna")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/board/")


@pytest.mark.parametrize("javascript", [True, False])
def test_a_visitor_searches_opens_a_posting_and_reads_why_it_is_there(
    browser: Browser, live_server: LiveServer, person: User, javascript: bool
) -> None:
    context = browser.new_context(java_script_enabled=javascript)
    page = context.new_page()

    page.goto(f"{live_server.url}/")
    page.get_by_role("main").get_by_role("link", name="Engineers").click()
    page.get_by_role("searchbox").fill("backend")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url("**q=backend**")
    assert page.get_by_role("link", name="Platform Engineer").count() == 0
    page.get_by_role("link", name="Backend Engineer").click()

    why = page.get_by_role("region", name="Why here")
    assert "the title names the role" in why.inner_text().lower()
    assert "We build tools for bakeries." in why.inner_text()
    context.close()


def test_results_follow_what_is_typed_and_the_address_with_them(
    browser: Browser, live_server: LiveServer, person: User
) -> None:
    context = browser.new_context()
    page, wrong = watched(context)
    page.goto(f"{live_server.url}/b/engineers/")

    page.get_by_role("searchbox").press_sequentially("platf")
    page.wait_for_url("**q=platf")

    assert page.get_by_role("link", name="Platform Engineer").count() == 1
    assert page.get_by_role("link", name="Backend Engineer").count() == 0
    assert page.evaluate("document.activeElement.id") == "q"
    assert wrong == []
    context.close()


def test_a_person_makes_a_filter_with_the_keyboard_alone(browser: Browser, live_server: LiveServer) -> None:
    User.objects.create_user("anna", "anna@example.org", PASSWORD)
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, live_server)

    page.goto(f"{live_server.url}/filters/new/")
    page.get_by_label("Name", exact=False).first.focus()
    page.keyboard.type("My search")
    page.keyboard.press("Tab")
    page.keyboard.type("data engineer")
    page.keyboard.press("Enter")
    page.wait_for_url("**/board/")

    assert "My search" in page.inner_text("main")
    context.close()


def test_the_first_stop_of_the_tab_key_is_the_skip_link(browser: Browser, live_server: LiveServer) -> None:
    make_board()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/")

    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    context.close()
