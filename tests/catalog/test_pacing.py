from __future__ import annotations

import pytest

from catalog.adapters.http import FetchFailed
from catalog.pacing import fetch_at_pace
from taskqueue.errors import HostBusy
from taskqueue.models import HostBudget
from tests.catalog.servers import LocalServers, answer

pytestmark = pytest.mark.django_db


def budget() -> HostBudget:
    return HostBudget.objects.get(host="127.0.0.1")


def test_a_request_takes_a_slot_and_its_answer_eases_the_pace(local: LocalServers) -> None:
    """A6"""
    server = local(answer(404))
    assert fetch_at_pace(server.base).status == 404
    eased = budget()
    assert (eased.accepted, eased.refused) == (1, 0)
    assert eased.pace_seconds < 1


@pytest.mark.parametrize(("status", "headers"), [(429, {}), (503, {"Retry-After": "600"})])
def test_a_refusal_closes_the_host_to_the_whole_fleet(
    local: LocalServers, status: int, headers: dict[str, str]
) -> None:
    """A6: whoever asks next, in whichever process, is told the time and sends nothing."""
    server = local(answer(status, headers=headers))
    with pytest.raises(FetchFailed):
        fetch_at_pace(server.base)
    assert (budget().accepted, budget().refused) == (0, 1)

    with pytest.raises(HostBusy):
        fetch_at_pace(server.base)
    assert len(server.exchanges) == 1


def test_a_server_that_is_merely_broken_says_nothing_about_our_pace(local: LocalServers) -> None:
    with pytest.raises(FetchFailed):
        fetch_at_pace(local(answer(500)).base)
    assert (budget().accepted, budget().refused) == (0, 0)


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "not a url", "http://localhost/"])
def test_a_refused_url_leaves_no_trace_in_the_budgets(url: str) -> None:
    with pytest.raises(FetchFailed):
        fetch_at_pace(url)
    assert not HostBudget.objects.exists()
