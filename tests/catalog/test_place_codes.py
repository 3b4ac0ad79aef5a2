"""Codes and names that several countries share: a province is no American state (A9)."""

from __future__ import annotations

import pytest

from tests.catalog.test_places import only, parts


@pytest.mark.parametrize(
    ("raw", "country"),
    [
        ("Curitiba, PR", "BR"),
        ("Curitiba/PR", "BR"),
        ("Florianópolis, SC", "BR"),
        ("Belém, PA", "BR"),
        ("Recife, PE", "BR"),
        ("Porto Alegre, RS", "BR"),
        ("Salvador, BA", "BR"),
        ("Catania, CT", "IT"),
        ("Palermo, PA", "IT"),
        ("Cagliari, CA", "IT"),
        ("Milano, MI", "IT"),
        ("Milano (MI)", "IT"),
        ("Torino, TO", "IT"),
        ("Amsterdam, NH", "NL"),
        ("Eindhoven, NB", "NL"),
        ("Monterrey, NL", "MX"),
        ("Tijuana, BC", "MX"),
        ("Málaga, MA", "ES"),
        ("Chengdu, SC", "CN"),
        ("Neuchâtel, NE", "CH"),
        ("Bern, BE", "CH"),
        ("Basel, BS", "CH"),
        ("Genève, GE", "CH"),
        ("Luzern, LU", "CH"),
        ("Belfast, NI", "GB"),
        ("Kraków, MA", "PL"),
    ],
)
def test_a_province_s_code_after_a_city_is_no_american_state_and_no_second_country(
    raw: str, country: str
) -> None:
    place = only(raw)

    assert (place.country, place.region) == (country, None)
    assert place.city
    assert place.hint == raw.rstrip(")")[-2:]


@pytest.mark.parametrize("raw", ["Tokyo, CA", "Moscow, PA"])
def test_a_famous_city_beside_a_state_without_a_town_of_that_name_stays_open(raw: str) -> None:
    """A9."""
    assert only(raw).country is None
    assert only(raw).hint.startswith("ambiguous")


def test_a_town_called_like_a_country_is_no_country_beside_its_state() -> None:
    assert parts("Mexico, MO") == [("US", "MO", "Mexico")]


def test_a_saint_of_two_countries_stays_open_and_one_of_one_country_does_not() -> None:
    assert only("Saint-Louis").country is None
    assert parts("St. Louis") == [("US", "MO", "St. Louis")]
    assert parts("Saint Petersburg") == [("RU", None, "Saint Petersburg")]
