"""Places as postings write them, and what may not be read into them (A9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.place_tables import REGIONS, US_STATES, fold
from catalog.places import ParsedPlace, countries_of, parse_place, work_mode_hint

Parts = tuple[str | None, str | None, str | None]


def parts(raw: str) -> list[Parts]:
    return [(place.country, place.region, place.city) for place in parse_place(raw)]


def remote_parts(raw: str) -> list[Parts]:
    return [(place.country, place.region, place.city) for place in parse_place(raw) if place.remote]


def only(raw: str) -> ParsedPlace:
    (place,) = parse_place(raw)
    return place


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("US, CA, Santa Clara", ("US", "CA", "Santa Clara")),
        ("CA, BC, Vancouver", ("CA", "BC", "Vancouver")),
        ("CA, US", ("US", "CA", None)),
        ("Toronto, CA", ("CA", "ON", "Toronto")),
        ("Toronto (CA)", ("CA", "ON", "Toronto")),
        ("Richmond, CA", ("US", "CA", "Richmond")),
        ("San Francisco CA", ("US", "CA", "San Francisco")),
        ("US-CA-San Jose", ("US", "CA", "San Jose")),
        ("Bangalore, IN", ("IN", None, "Bengaluru")),
        ("Gary, IN", ("US", "IN", "Gary")),
        ("Berlin, DE", ("DE", None, "Berlin")),
        ("Wilmington, DE", ("US", "DE", "Wilmington")),
        ("Tel Aviv, IL", ("IL", None, "Tel Aviv")),
        ("Bogota, CO", ("CO", None, "Bogotá")),
        ("Perth, WA", ("AU", "WA", "Perth")),
        ("Chennai, TN", ("IN", "TN", "Chennai")),
        ("Milan, MI, Italy", ("IT", "MI", "Milan")),
        ("Milan, MI", ("US", "MI", "Milan")),
    ],
)
def test_a_two_letter_code_is_what_its_neighbours_make_it(raw: str, expected: Parts) -> None:
    assert parts(raw) == [expected]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Vancouver, WA", ("US", "WA", "Vancouver")),
        ("London, Ontario", ("CA", "ON", "London")),
        ("London, KY", ("US", "KY", "London")),
        ("Paris, Texas", ("US", "TX", "Paris")),
        ("Moscow, ID", ("US", "ID", "Moscow")),
        ("Wyoming, MN", ("US", "MN", "Wyoming")),
        ("Delaware, OH", ("US", "OH", "Delaware")),
        ("Atlanta, Georgia", ("US", "GA", "Atlanta")),
        ("Tbilisi, Georgia", ("GE", None, "Tbilisi")),
        ("New York, New York", ("US", "NY", "New York")),
        ("Seattle, Washington, USA", ("US", "WA", "Seattle")),
        ("Chaos, FL", ("US", "FL", "Chaos")),
    ],
)
def test_a_state_beside_a_city_decides_over_a_famous_namesake(raw: str, expected: Parts) -> None:
    assert parts(raw) == [expected]


@pytest.mark.parametrize("raw", ["Frankfurt/Oder", "Frankfurt (Oder)"])
def test_a_city_whose_name_has_a_stroke_is_one_place(raw: str) -> None:
    assert parts(raw) == [("DE", None, "Frankfurt (Oder)")]
    assert only(raw).raw == raw


@pytest.mark.parametrize(
    "raw",
    ["Berlin", "Singapore", "Rome", "Shanghai", "Aarhus", "Oregano", "Indre, Norway", "Mexico", "Coria"],
)
def test_a_state_code_inside_a_word_is_no_state(raw: str) -> None:
    assert all(place.country != "US" and place.region not in US_STATES for place in parse_place(raw))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("USA.VA.Reston", ("US", "VA", "Reston")),
        ("US-IL-Niles", ("US", "IL", "Niles")),
        ("USA - CO - Denver", ("US", "CO", "Denver")),
        ("California - San Francisco", ("US", "CA", "San Francisco")),
        ("Germany - Munich", ("DE", None, "Munich")),
        ("Amsterdam - Netherlands", ("NL", None, "Amsterdam")),
        ("London, England, GBR", ("GB", "England", "London")),
        ("Spalding, England, gb", ("GB", "England", "Spalding")),
        ("Charlotte, North Carolina, United States of America", ("US", "NC", "Charlotte")),
        ("SAN FRANCISCO, CA, United States", ("US", "CA", "San Francisco")),
        ("1 Market St, San Francisco, CA 94105", ("US", "CA", "San Francisco")),
        ("Rotterdam, South Holland, Netherlands", ("NL", "South Holland", "Rotterdam")),
        ("Berlin, Berlin, Germany", ("DE", None, "Berlin")),
        ("Hong Kong, China", ("HK", None, None)),
        ("San Juan, PR", ("US", "PR", "San Juan")),
        ("Washington, D.C.", ("US", "DC", "Washington")),
        ("Addison. TX", ("US", "TX", "Addison")),
        ("Austin TX", ("US", "TX", "Austin")),
        ("Trinidad and Tobago", ("TT", None, None)),
        ("UK", ("GB", None, None)),
        ("Georgia, US", ("US", "GA", None)),
        ("Bengaluru, Karnataka, India", ("IN", "KA", "Bengaluru")),
    ],
)
def test_parts_are_read_in_either_order_and_any_notation(raw: str, expected: Parts) -> None:
    assert parts(raw) == [expected]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("München", ("DE", None, "Munich")),
        ("Köln", ("DE", None, "Köln")),
        ("Cologne, Germany", ("DE", None, "Köln")),
        ("Zürich, Schweiz", ("CH", None, "Zürich")),
        ("Zurich", ("CH", None, "Zürich")),
        ("東京", ("JP", None, "Tokyo")),
        ("서울, 대한민국", ("KR", None, "Seoul")),
        ("Warszawa, Polska", ("PL", None, "Warsaw")),
        ("Sao Paulo", ("BR", None, "São Paulo")),
        ("Bangalore", ("IN", None, "Bengaluru")),
        ("NYC", ("US", "NY", "New York")),
        ("SF", ("US", "CA", "San Francisco")),
        ("San Francisco Bay Area", ("US", "CA", "San Francisco")),
        ("Greater Boston Area", ("US", "MA", "Boston")),
        ("St Louis, MO", ("US", "MO", "St. Louis")),
        ("🇩🇪 Berlin", ("DE", None, "Berlin")),
    ],
)
def test_native_names_and_short_names_are_the_same_place(raw: str, expected: Parts) -> None:
    assert parts(raw) == [expected]


@pytest.mark.parametrize("raw", ["Ontario, CA", "Georgia", "CA", "IL", "Victoria", "Remote - CA"])
def test_what_is_ambiguous_between_countries_stays_open_and_says_so(raw: str) -> None:
    place = only(raw)
    assert (place.country, place.region, place.city) == (None, None, None)
    assert place.hint.startswith("ambiguous")


@pytest.mark.parametrize("raw", ["Cambridge", "San Jose", "York"])
def test_a_city_with_rivals_abroad_has_no_country(raw: str) -> None:
    assert parts(raw) == [(None, None, raw)]


def test_a_city_with_rivals_at_home_has_a_country_and_no_state() -> None:
    assert parts("Springfield") == [("US", None, "Springfield")]
    assert parts("Washington") == [("US", None, None)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Texas; Florida; Georgia", ("US", "GA", None)),
        ("Remote (Armenia, Georgia)", ("GE", None, None)),
        ("NY, TX, CA", ("US", "CA", None)),
        ("UK, US, CA", ("CA", None, None)),
        ("US/CA", ("CA", None, None)),
    ],
)
def test_neighbours_settle_what_a_name_alone_leaves_open(raw: str, expected: Parts) -> None:
    assert parts(raw)[-1] == expected


@pytest.mark.parametrize(
    "raw",
    [
        "2 Locations",
        "Multiple Locations",
        "Various locations",
        "HQ",
        "Hybrid",
        "Onsite",
        "N/A",
        "TBD",
        "",
        " - ",
        "94105",
    ],
)
def test_words_that_name_no_place_give_none(raw: str) -> None:
    assert parse_place(raw) == ()


def test_a_mixed_list_is_split_and_its_other_words_become_a_hint() -> None:
    """LOC-05: never split at the comma inside "City, ST"."""
    raw = "Boston, MA; Remote-Friendly (Travel-Required) | New York City, NY; Washington, DC"
    places = parse_place(raw)
    assert [place.raw for place in places] == [
        "Boston, MA",
        "New York City, NY",
        "Washington, DC",
    ]
    assert not any(place.remote for place in places)
    assert all("Remote-Friendly" in place.hint for place in places)
    assert work_mode_hint(raw) == "yes"


@pytest.mark.parametrize(
    ("raw", "cities"),
    [
        ("Berlin, Germany; Munich, Germany", ["Berlin", "Munich"]),
        ("San Francisco, CA or New York, NY", ["San Francisco", "New York"]),
        ("Portland, OR or Seattle, WA", ["Portland", "Seattle"]),
        ("San Francisco, CA, New York, NY", ["San Francisco", "New York"]),
        ("Nashville, TN Philadelphia, PA", ["Nashville", "Philadelphia"]),
        ("Hamburg, Berlin", ["Hamburg", "Berlin"]),
        ("Hamburg, Berlin, Germany", ["Hamburg", "Berlin"]),
        ("Boston, New York", ["Boston", "New York"]),
        ("Madrid o Barcelona", ["Madrid", "Barcelona"]),
        ("Madrid y Barcelona", ["Madrid", "Barcelona"]),
        ("Milano e Roma", ["Milan", "Rome"]),
        ("SF / NYC", ["San Francisco", "New York"]),
        ("Austin, TX • Denver, CO", ["Austin", "Denver"]),
        (
            "SF Bay Area, Seattle Metro, and New York City Metro Area",
            ["San Francisco", "Seattle", "New York"],
        ),
        ("Zurich, CH; Zürich, CH", ["Zürich"]),
    ],
)
def test_a_list_gives_every_place_once(raw: str, cities: list[str]) -> None:
    assert [place.city for place in parse_place(raw)] == cities


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Remote - US", [("US", None, None)]),
        ("US-Remote", [("US", None, None)]),
        ("Remote (US or Canada)", [("US", None, None), ("CA", None, None)]),
        ("Remote in the United States or Canada (East Coast/ET)", [("US", None, None), ("CA", None, None)]),
        ("Remote | United States", [("US", None, None)]),
        ("Germany/Remote", [("DE", None, None)]),
        ("Berlin / Remote", [("DE", None, "Berlin")]),
        ("Bangalore, India - Remote", [("IN", None, "Bengaluru")]),
        ("Remote (CA, NY, WA)", [("US", "CA", None), ("US", "NY", None), ("US", "WA", None)]),
        ("Remote - EMEA", [(None, "EMEA", None)]),
        ("Remote, UK & Ireland", [(None, "UK & Ireland", None)]),
        ("Remote (EST)", [(None, None, None)]),
        ("Anywhere", [(None, "Worldwide", None)]),
        ("Remote outside US", [(None, None, None)]),
        ("Worldwide except US or Canada", [(None, "Worldwide", None)]),
        ("Remote - US (excluding CA, NY)", [("US", None, None)]),
        ("Worldwide", [(None, "Worldwide", None)]),
        ("Distributed", [(None, None, None)]),
        ("Austin, TX | Denver, CO | Remote in USA", [("US", None, None)]),
        ("New York, San Francisco, Remote", [(None, None, None)]),
        ("Home Office (Deutschland)", [("DE", None, None)]),
        ("London (Hybrid)", []),
        ("Remote / Hybrid", []),
    ],
)
def test_remoteness_belongs_to_the_places_it_is_said_of(raw: str, expected: list[Parts]) -> None:
    assert remote_parts(raw) == expected


def test_what_stands_beside_a_place_is_kept_as_its_hint() -> None:
    assert "East Coast/ET" in parse_place("Remote in the United States or Canada (East Coast/ET)")[1].hint
    assert only("United Kingdom Offsite (ZUK99)").hint == "ZUK99"
    assert only("Location Negotiable After Selection, United States").country == "US"


@pytest.mark.parametrize(
    ("raw", "mode"),
    [
        ("Chicago, IL, US", "unknown"),
        ("Fully remote within Germany", "yes"),
        ("Remote-Friendly", "yes"),
        ("Wien (Homeoffice)", "yes"),
        ("リモート", "yes"),
        ("Hybrid", "hybrid"),
        ("Hybrid Remote", "hybrid"),
        ("TEILWEISE", "hybrid"),
        ("Hamburg (teilweise Homeoffice)", "hybrid"),
        ("Partially remote", "hybrid"),
        ("Remote / Hybrid", "hybrid"),
        ("On-site, Paris", "no"),
        ("Not remote", "no"),
        ("London or Remote", "yes"),
        ("On-site or hybrid", "hybrid"),
        ("Remote Sensing Lab, Delft", "unknown"),
    ],
)
def test_a_work_mode_is_only_what_the_text_says(raw: str, mode: str) -> None:
    """LOC-09, LOC-12: a city is no work mode, and a partial home office is not remote."""
    assert work_mode_hint(raw) == mode


def test_a_region_stands_for_its_countries() -> None:
    assert countries_of(only("Remote - DACH")) == {"DE", "AT", "CH"}
    assert countries_of(only("Remote - UK & Ireland")) == {"GB", "IE"}
    assert countries_of(only("Berlin")) == {"DE"}
    assert countries_of(only("Cambridge")) == frozenset()
    assert {"US", "CA"} <= REGIONS["North America"] < REGIONS["Americas"] < REGIONS["Worldwide"]
    assert REGIONS["DACH"] < REGIONS["Europe"] < REGIONS["EMEA"]


@given(st.text(alphabet=st.sampled_from("US, CA;|/()[]-— ORremotey&東ü0.\x00\x01\n🇩🇪"), max_size=80))
def test_no_text_breaks_the_reader(raw: str) -> None:
    for place in parse_place(raw):
        assert place.country is None or len(place.country) == 2


def test_a_long_list_is_read_to_its_end_and_a_flood_is_cut() -> None:
    """Untrusted text is bounded: the places beyond the limit are left out, none is invented."""
    assert (
        len(parse_place("; ".join(f"{code}, US" for code in US_STATES if code not in ("PR", "GU", "VI"))))
        > 40
    )
    assert parts("Boston, MA; " * 2_000) == [("US", "MA", "Boston")]


def test_recorded_cases_of_the_location_kind_come_out_as_expected(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "cases" / "cases.jsonl").read_text().splitlines()]
    cases = {row["id"]: row for row in rows}
    case = cases["LOC-01"]
    for raw, expected in zip(case["input"]["texts"], case["expected"]["results"], strict=True):
        place = only(raw)
        assert expected.get("ambiguous", False) == place.hint.startswith("ambiguous")
        assert {key: getattr(place, key) for key in expected if key != "ambiguous"} == {
            key: value for key, value in expected.items() if key != "ambiguous"
        }
    case = cases["LOC-02"]
    assert [only(raw).country == "CA" for raw in case["input"]["texts"]] == case["expected"]["is_canada"]
    assert [only(raw).country == "US" for raw in case["input"]["texts"]] == case["expected"]["is_us"]


def test_recorded_locations_mostly_have_a_country(shared: Path) -> None:
    """Regression guard over real lists: what is unread is small, and nothing raises."""
    listings = json.loads((shared / "real" / "simplify_internships" / "listings.json").read_text())
    texts = {text for row in listings for text in row.get("locations") or []}
    known = [text for text in texts if any(countries_of(place) for place in parse_place(text))]
    assert len(texts) > 100
    assert len(known) / len(texts) > 0.93


def test_folding_joins_spellings_of_a_name() -> None:
    assert fold("Łódź") == fold("Lodz") == "lodz"
    assert fold("Baden-Württemberg") == fold("baden wurttemberg")
    assert fold("Côte d’Ivoire") == fold("Cote d'Ivoire")
