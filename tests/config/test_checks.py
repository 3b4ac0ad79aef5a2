"""A combination of settings that cannot work is refused at start, with an id."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import registry
from pytest_django import Settings

GOOD = {"IS_LOCAL": False, "ALLOWED_HOSTS": ["jobs.example"]}


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"ALLOWED_HOSTS": []}, "rolecall.E001"),
        ({"DEBUG": True}, "rolecall.W001"),
        ({"REVIEW_PROVIDER": "oracle"}, "rolecall.E002"),
        ({"REVIEW_PROVIDER": "openai", "OPENAI_API_KEY": ""}, "rolecall.E003"),
        ({"QUEUE_HEARTBEAT_SECONDS": 30, "QUEUE_LEASE_SECONDS": 60}, "rolecall.E004"),
        ({"FETCH_BASE_URL_OVERRIDES": {"https://a.example": "127.0.0.1:9100"}}, "rolecall.E005"),
        ({"FETCH_ALLOW_PRIVATE_HOSTS": ["127.0.0.1"]}, "rolecall.E006"),
    ],
)
def test_each_bad_setting_is_named_by_its_id(settings: Settings, changed: dict[str, Any], check: str) -> None:
    for name, value in GOOD.items():
        setattr(settings, name, value)
    assert check not in ids()

    for name, value in changed.items():
        setattr(settings, name, value)

    assert check in ids()


def ids() -> set[str]:
    """What the project's own checks say; Django's are Django's."""
    ours = [check for check in registry.registry.registered_checks if check.__module__ == "config.checks"]
    assert len(ours) > 4
    return {str(message.id) for check in ours for message in check(app_configs=None, databases=None)}


def test_a_local_checkout_has_nothing_to_complain_of(settings: Settings) -> None:
    settings.IS_LOCAL = True

    assert ids() == set()
