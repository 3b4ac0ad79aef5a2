"""The list of sources: found by words, narrowed by state, in pages; each with how it goes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Pull, Source
from tests.factories import SourceFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> Client:
    client.force_login(UserFactory.create())
    return client


def names(client: Client, query: str = "") -> list[str]:
    return [line["name"] for line in client.get(f"/sources/{query}").context["sources"]]


def test_sources_are_found_by_name_employer_platform_and_token(person: Client) -> None:
    SourceFactory.create(name="Good Pumps", token="gp-careers", kind="lever", company="Pumpworks AG")
    SourceFactory.create(name="Other", token="other", kind="ashby")

    for words in ("good", "PUMPWORKS", "lever", "gp-car"):
        assert names(person, f"?q={words}") == ["Good Pumps"], words
    assert names(person, "?q=nowhere") == []
    assert "No such source" in person.get("/sources/?q=nowhere").content.decode()


def test_sources_are_narrowed_to_those_that_need_care(person: Client) -> None:
    healthy = SourceFactory.create(name="Healthy")
    Source.objects.filter(pk=healthy.pk).update(last_complete_at="2026-01-01T00:00:00Z")
    SourceFactory.create(name="Failing", failures=3)
    SourceFactory.create(name="Off", is_active=False)

    assert names(person) == ["Failing", "Healthy", "Off"]
    assert names(person, "?state=failing") == ["Failing"]
    assert names(person, "?state=off") == ["Off"]
    assert names(person, "?state=unread") == ["Failing"]
    assert names(person, "?state=nonsense") == ["Failing", "Healthy", "Off"]


def test_a_page_of_sources_asks_no_more_for_many(person: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            person.get("/sources/")
        return len(queries)

    SourceFactory.create()
    few = asked()
    for number in range(60):
        source = SourceFactory.create(name=f"Source {number:02}")
        Pull.objects.create(source=source, outcome="complete", seen=3, kept=2)

    assert asked() == few
    assert len(names(person)) == 50
    assert len(names(person, "?page=2")) == 11


def test_the_console_shows_how_a_source_goes(admin_client: Client) -> None:
    source = SourceFactory.create()
    Pull.objects.create(source=source, outcome="failed", fault="http_status", detail="HTTP 500")

    page = admin_client.get(f"/admin/catalog/source/{source.pk}/change/").content.decode()

    assert "http_status, HTTP 500" in page
    assert f"/admin/catalog/listing/?source__id__exact={source.pk}" in page
    listings = admin_client.get(f"/admin/catalog/listing/?source__id__exact={source.pk}")
    assert listings.status_code == 200
