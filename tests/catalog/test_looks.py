"""A person's second look, made while the first is under way."""

from __future__ import annotations

import pytest
from django.db import connection
from pytest_django import Settings

from catalog.services.looking import LookUnderWay, look
from tests.catalog.servers import Exchange, LocalServers
from tests.catalog.test_pulls import json_of, lever_posting
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.races]

BOARD = "https://jobs.lever.co/goodco"


def test_a_person_looks_once_at_a_time_whichever_process_is_asked(
    local: LocalServers, settings: Settings
) -> None:
    """D1, D2: the board's server itself looks, from a connection of its own, before it answers."""
    person, other = UserFactory.create().pk, UserFactory.create().pk
    said: list[str] = []

    def reply(exchange: Exchange) -> None:
        if not said:
            said.append("asked")
            try:
                look(user_id=person, url=BOARD)
            except LookUnderWay:
                said.append("refused")
            look(user_id=other, url=BOARD)
            connection.close()
        json_of([lever_posting("a1")])(exchange)

    settings.FETCH_BASE_URL_OVERRIDES = {"https://api.lever.co": local(reply).base}

    assert len(look(user_id=person, url=BOARD).preview.rows) == 1
    assert said == ["asked", "refused"]
    assert len(look(user_id=person, url=BOARD).preview.rows) == 1
