"""Place and remote eligibility: LOC-02, LOC-04 to LOC-10, LOC-14 and their kinds."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.criteria import Criteria
from reviews.question import PlaceFact, Step, StepOutcome
from reviews.rules.places import check_from, check_mode, check_place
from reviews.rules.scopes import scopes_in, scopes_of
from reviews.rules.work_mode import mode_of, work_mode_in
from tests.reviews.postings import snapshot

PLACES: list[tuple[list[str], str, StepOutcome]] = [
    (["Europe"], "Berlin", "pass"),
    (["Europe"], "San Francisco", "reject"),
    (["EU"], "London, UK", "reject"),
    (["DACH"], "Wien, Österreich", "pass"),
    (["Nordics"], "Stockholm", "pass"),
    (["LATAM"], "São Paulo, Brazil", "pass"),
    (["North America"], "Toronto, Canada", "pass"),
    (["DE"], "München", "pass"),
    (["Germany"], "München", "pass"),
    (["de"], "Vienna, Austria", "reject"),
    (["UK"], "Manchester, England", "pass"),
    (["United States"], "Berlin", "reject"),
    (["CA"], "San Francisco, CA", "reject"),
    (["CA"], "Vancouver, BC", "pass"),
    (["US-CA"], "San Francisco, CA", "pass"),
    (["California"], "Austin, TX", "reject"),
    (["California"], "United States", "unknown"),
    (["US"], "Vancouver, WA", "pass"),
    (["Canada"], "Vancouver, WA", "reject"),
    (["Berlin"], "Berlin, Germany", "pass"),
    (["Berlin"], "Germany", "unknown"),
    (["Berlin"], "Munich, Germany", "reject"),
    (["Munich"], "München", "pass"),
    (["London"], "London, UK", "pass"),
    (["London"], "London, Ontario", "reject"),
    (["London, Ontario"], "London, Ontario", "pass"),
    (["New York"], "New York, NY", "pass"),
    (["New York"], "Brooklyn, NY", "pass"),
    (["Washington"], "Seattle, WA", "pass"),
    (["Washington"], "Washington, DC", "pass"),
    (["Georgia"], "Atlanta, GA", "pass"),
    (["Georgia"], "Tbilisi, Georgia", "pass"),
    (["Walldorf"], "Walldorf, Germany", "pass"),
    (["Walldorf"], "Berlin", "reject"),
    (["Berlin", "London"], "London, UK", "pass"),
    (["Europe"], "Remote - EMEA", "pass"),
    (["Europe"], "Remote - US", "reject"),
    (["Europe"], "Remote", "unknown"),
    (["Europe"], "2 Locations", "unknown"),
    (["Europe"], "London or Remote", "pass"),
]


@pytest.mark.parametrize(("wanted", "location", "outcome"), PLACES)
def test_a_posting_is_in_a_wanted_place_elsewhere_or_not_known_to_be(
    wanted: list[str], location: str, outcome: StepOutcome
) -> None:
    posting = snapshot(location)

    step = check_place(Criteria.parse({"places": wanted}), posting)

    assert step.outcome == outcome
    assert posting.says(step.quote)


def test_one_wanted_place_of_several_is_enough() -> None:
    """LOC-04."""
    step = check_place(Criteria.parse({"places": ["Germany"]}), snapshot("San Francisco", "Berlin", "London"))

    assert (step.outcome, step.quote) == ("pass", "Berlin")


def test_a_posting_without_a_place_is_not_elsewhere() -> None:
    """A9."""
    assert check_place(Criteria.parse({"places": ["Germany"]}), snapshot()).outcome == "unknown"


def test_parsed_places_are_believed_over_their_text() -> None:
    place = PlaceFact(country="CA", city="Vancouver", raw="Vancouver")
    posting = snapshot("Vancouver")
    criteria = Criteria.parse({"places": ["US-WA"]})

    assert check_place(criteria, snapshot("Vancouver", places=(place,))).outcome == "reject"
    assert check_place(criteria, posting).outcome == "reject"


def remote_step(criteria: dict[str, Any], location: str, text: str = "", **fields: Any) -> Step:
    return check_from(Criteria.parse({"remote": "only", **criteria}), snapshot(location, text=text, **fields))


STATES = "Open to applicants in all states except Colorado and Washington. Must work EST or CST hours."
HOMES: list[tuple[str, str, str, StepOutcome]] = [
    ("CA", "United States (Remote)", "", "reject"),
    ("CA", "Montgomery, AL (Remote)", "", "reject"),
    ("CA", "Remote - Canada", "", "pass"),
    ("CA", "Remote", "", "unknown"),
    ("US", "Remote in the United States or Canada (East Coast/ET)", "", "pass"),
    ("US-MA", "Remote in the United States or Canada (East Coast/ET)", "", "pass"),
    ("US-MA", "Remote - California", "", "reject"),
    ("US", "Remote - California", "", "unknown"),
    ("US-CO", "Remote - US", STATES, "reject"),
    ("US-MA", "Remote - US", STATES, "pass"),
    ("US", "Remote - US", STATES, "unknown"),
    ("US", "Remote", "This role is remote, US only.", "pass"),
    ("DE", "Remote", "This role is remote, US only.", "reject"),
    ("DE", "Remote", "Work from anywhere in the world.", "pass"),
    ("DE", "Remote", "We can only hire in the US and Canada.", "reject"),
    ("DE", "Remote", "We cannot hire outside the EU.", "pass"),
    ("US", "Remote", "We cannot hire outside the EU.", "reject"),
    ("DE", "Remote", "Candidates must be based in Germany or Austria.", "pass"),
    ("PL", "Remote - Europe", "You must be located in Germany or Austria.", "reject"),
    ("DE", "Remote", "We do not accept applicants residing in Germany.", "reject"),
    ("DE", "Remote", "Our team is based in the United States.", "unknown"),
    ("DE", "Remote", "Join us and work with customers across the United States.", "unknown"),
    ("DE", "Remote", "The salary range is for candidates in the United States.", "unknown"),
    ("DE", "Remote", "Work from anywhere for up to 4 weeks a year.", "unknown"),
    ("DE", "Remote", "Can work remotely anywhere in the specified country.", "unknown"),
    ("GB", "Remote - EMEA", "", "pass"),
    ("BR", "Remote - LATAM", "", "pass"),
    ("IN", "Remote (APAC)", "", "pass"),
    ("IN", "Remote (DACH)", "", "reject"),
]


@pytest.mark.parametrize(("home", "location", "text", "outcome"), HOMES)
def test_remote_work_is_open_to_some_homes_closed_to_others_or_not_said(
    home: str, location: str, text: str, outcome: StepOutcome
) -> None:
    posting = snapshot(location, text=text)
    step = check_from(Criteria.parse({"remote": "only", "remote_from": [home]}), posting)

    assert step.outcome == outcome
    assert posting.says(step.quote)


def test_a_remote_posting_with_an_office_is_surely_open_in_its_country_only() -> None:
    assert remote_step({"remote_from": ["DE"]}, "Berlin, Germany", remote="yes").outcome == "pass"
    assert remote_step({"remote_from": ["FR"]}, "Berlin, Germany", remote="yes").outcome == "unknown"
    assert remote_step({"remote_from": ["FR"]}, "Germany", remote="yes").outcome == "reject"


def test_remote_work_stands_in_for_the_places_where_that_is_allowed() -> None:
    criteria = {"places": ["Berlin"], "remote_from": ["PT"]}
    posting = snapshot("Remote - Portugal")

    assert check_place(Criteria.parse({**criteria, "remote": "allowed"}), posting).outcome == "pass"
    assert check_place(Criteria.parse({**criteria, "remote": "any"}), posting).outcome == "reject"
    assert check_place(Criteria.parse({**criteria, "remote": "no"}), posting).outcome == "unknown"


MODES: dict[str, str] = {
    "This is a fully remote role.": "yes",
    "This position is remote.": "yes",
    "We are a remote-first company.": "yes",
    "Acme | Engineer | Remote (EU) | Full-time": "yes",
    "Location: Remote": "yes",
    "This is a hybrid role, 3 days a week in the office.": "hybrid",
    "Berlin | Hybrid | Full-time": "hybrid",
    "You will be in the office two days per week. We expect 2 days per week in the office.": "hybrid",
    "This role is not remote.": "no",
    "This is an on-site position.": "no",
    "Acme | Berlin | ONSITE": "no",
    "The work cannot be performed remotely.": "no",
    "We keep a hybrid culture. Enjoy the freedom to work from anywhere for a month.": "hybrid",
    "Enjoy the freedom to work from anywhere for a month.": "unknown",
    "Build dashboards and partner with stakeholders.": "unknown",
    "You know hybrid cloud architectures.": "unknown",
    "Remote sensing is a plus.": "unknown",
    "Berlin | ONSITE or REMOTE": "unknown",
}


@pytest.mark.parametrize(("text", "mode"), MODES.items())
def test_a_text_states_a_work_mode_or_none(text: str, mode: str) -> None:
    """LOC-09, LOC-10: a place and a perk with a time limit are no work mode."""
    fact = work_mode_in(text)

    assert fact.mode == mode
    assert fact.sentence in text
    assert bool(fact.sentence) == (mode != "unknown")


@pytest.mark.parametrize(
    ("wish", "location", "stated", "outcome"),
    [
        ("only", "Berlin", "unknown", "unknown"),
        ("only", "Berlin", "hybrid", "reject"),
        ("only", "Berlin", "no", "reject"),
        ("only", "Remote - Germany", "unknown", "pass"),
        ("no", "Berlin", "unknown", "pass"),
        ("no", "Remote - Germany", "unknown", "reject"),
        ("no", "Berlin; Remote", "unknown", "pass"),
        ("any", "Remote - Germany", "yes", "skip"),
    ],
)
def test_hybrid_is_not_remote_and_a_city_says_nothing_of_the_mode(
    wish: str, location: str, stated: str, outcome: StepOutcome
) -> None:
    """LOC-09, LOC-12."""
    assert check_mode(Criteria.parse({"remote": wish}), snapshot(location, remote=stated)).outcome == outcome


def test_a_title_may_say_that_the_work_is_remote() -> None:
    assert mode_of(snapshot("Berlin", title="Engineer (Remote, EU)")).mode == "yes"
    assert mode_of(snapshot("Berlin", title="Remote Sensing Engineer")).mode == "unknown"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("join us in the office", []),
        ("in the US, the U.K. or the EU", ["US", "U.K", "EU"]),
        ("New York City and New Mexico", ["New Mexico"]),
        ("Bosnia and Herzegovina", ["Bosnia and Herzegovina"]),
        ("our IT department in Washington, DC", ["District of Columbia"]),
        ("Boston, MA", ["Massachusetts"]),
        ("worldwide, with a base in Latin America", ["Latin America"]),
        ("worldwide", ["worldwide"]),
    ],
)
def test_a_sentence_names_countries_and_regions_and_no_words_that_look_like_them(
    text: str, names: list[str]
) -> None:
    """LOC-02."""
    assert [scope.label for scope in scopes_in(text)] == names


def test_two_letters_in_criteria_are_a_country_and_a_state_only_where_no_country_has_them() -> None:
    (canada,) = scopes_of("CA")
    (texas,) = scopes_of("TX")

    assert (canada.countries, canada.region) == (frozenset({"CA"}), None)
    assert (texas.countries, texas.region) == (frozenset({"US"}), "TX")
