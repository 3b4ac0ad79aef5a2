"""Places and work model in a platform's location text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.catalog.test_adapters_greenhouse import read


@pytest.mark.parametrize(
    ("location", "offices", "places", "remote"),
    [
        ("London, UK", [], ("London, UK",), "unknown"),
        ("Hybrid", [{"name": "HQ", "location": "Berlin, Germany"}], ("Berlin, Germany",), "hybrid"),
        ("Hybrid", [{"name": "Berlin", "location": None}], ("Berlin",), "hybrid"),
        ("On-site", [], (), "no"),
        (None, [{"name": "Berlin"}, {"name": "Paris"}, {"name": "berlin"}], ("Berlin", "Paris"), "unknown"),
        ("Remote", [{"name": "HQ", "location": "Berlin"}], ("Remote",), "yes"),
        ("Remote, Italy", [], ("Remote, Italy",), "yes"),
        ("Remote (US; Canada)", [], ("Remote (US; Canada)",), "yes"),
        ("2 Locations", [], (), "unknown"),
        (
            "Boston, MA; Remote-Friendly (Travel-Required) | San Francisco, CA | Austin, TX; Washington, DC",
            [],
            ("Boston, MA", "San Francisco, CA", "Austin, TX", "Washington, DC"),
            "yes",
        ),
        ("Berlin or München", [], ("Berlin", "München"), "unknown"),
        ("Portland, OR or Seattle, WA", [], ("Portland, OR", "Seattle, WA"), "unknown"),
        ("Remote in the US or Canada", [], ("Remote in the US or Canada",), "yes"),
    ],
)
def test_places_and_work_model_come_from_the_words_of_the_location(
    location: str | None, offices: list[Any], places: tuple[str, ...], remote: str
) -> None:
    """LOC-05, LOC-09; contract A9: a city alone says nothing about how people work."""
    listing = read(location={"name": location}, offices=offices)
    assert (listing.locations, listing.remote) == (places, remote)
