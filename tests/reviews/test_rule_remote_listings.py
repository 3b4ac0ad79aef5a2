"""Remote work as listings and texts state it, read as the product does: adapter, places, rules. LOC-04 ff."""

from __future__ import annotations

import pytest

from catalog.adapters.location import places, remote_in
from reviews.criteria import Criteria
from reviews.question import Snapshot, StepOutcome
from reviews.rules.places import check_from, check_mode, check_place
from reviews.rules.work_mode import work_mode_in
from tests.reviews.postings import snapshot


def listed(location: str, text: str = "") -> Snapshot:
    """A posting whose source says `location`, after the adapter has split it and read the work model."""
    return snapshot(*places([location]), remote=remote_in([location]), text=text)


def outcome_for(home: str, posting: Snapshot) -> StepOutcome:
    step = check_from(Criteria.parse({"remote": "only", "remote_from": [home]}), posting)
    assert posting.says(step.quote)
    return step.outcome


SHARED = [
    ("Remote - US; Canada", ["US", "CA"], ["DE"]),
    ("Remote - US | Canada", ["US", "CA"], ["DE"]),
    ("US or Canada (Remote)", ["US", "CA"], ["DE"]),
    ("Germany; Austria; Switzerland (Remote)", ["DE", "AT", "CH"], ["US"]),
    ("Remote - UK or Ireland", ["GB", "IE"], ["US"]),
    ("Remote in Germany or Austria", ["DE", "AT"], ["US"]),
    ("Remote in the United States or Canada (East Coast/ET)", ["US", "CA"], ["DE"]),
    ("San Francisco, CA; Remote - US; Canada", ["US", "CA"], ["DE"]),
    ("Remote (TX, FL, GA)", ["US-TX", "US-GA"], ["US-NY", "CA"]),
    ("Remote in OR or WA", ["US-OR", "US-WA"], ["US-NY", "CA"]),
]
LEFT_OUT = [
    ("Remote outside US", [], ["US", "US-TX"]),
    ("Remote (anywhere outside the US)", [], ["US"]),
    ("Remote (non-US)", [], ["US"]),
    ("Remote - Worldwide (except US)", ["DE", "CA"], ["US"]),
    ("Remote - anywhere but the US", ["DE"], ["US"]),
    ("Remote - US - excludes CA", ["US-TX"], ["US-CA", "DE"]),
    ("Remote (no US)", [], ["US"]),
    ("Worldwide except US, Canada", ["DE"], ["US", "CA"]),
    ("Remote - Worldwide, excluding US or Canada", ["DE"], ["US", "CA"]),
    ("Remote - US (excluding CA)", ["US-TX"], ["US-CA", "DE"]),
    ("Remote - US, except California", ["US-TX"], ["US-CA", "DE"]),
    ("Remote - US (not in CA, NY, or CO)", ["US-TX"], ["US-CA", "US-NY", "US-CO"]),
    ("Remote - Europe (except UK)", ["DE"], ["GB", "US"]),
]


@pytest.mark.parametrize(("location", "inside", "outside"), [*SHARED, *LEFT_OUT])
def test_a_remote_listing_lets_in_every_place_it_names_and_none_it_leaves_out(
    location: str, inside: list[str], outside: list[str]
) -> None:
    posting = listed(location)

    assert {home: outcome_for(home, posting) for home in inside} == dict.fromkeys(inside, "pass")
    assert {home: outcome_for(home, posting) for home in outside} == dict.fromkeys(outside, "reject")


def test_a_remote_listing_that_only_excludes_leaves_others_open() -> None:
    """A9."""
    assert outcome_for("DE", listed("Remote outside US")) == "unknown"
    assert outcome_for("US", listed("Remote - US (excluding CA)")) == "unknown"


def test_a_country_of_a_remote_listing_is_no_office() -> None:
    criteria = Criteria.parse({"remote": "no"})

    assert check_mode(criteria, listed("Remote - US; Canada")).outcome == "reject"
    assert check_mode(criteria, listed("Remote - US; Toronto, ON")).outcome == "pass"


OF_THE_COMPANY = [
    "We have employees in Germany, France and Spain.",
    "We employ 40 people in Norway.",
    "This feature is available in Germany and Austria.",
    "Our product is available in the US and UK.",
    "Our service is limited to Norway.",
    "Contractors enjoy many of the same perks as full-time employees based in the US",
    "Full-time, international contractors have much of what full-time employees based in the US have.",
    "Our platform lets companies hire in Germany and France.",
    "We are a US-based company.",
    "If you are based in Germany, you get a ticket for the train.",
    "You will join teammates who are based in Poland.",
    "Our hiring team in France will call you.",
    "Our beta is limited to residents of Canada.",
    "We accept payments in Norway.",
]


@pytest.mark.parametrize("text", OF_THE_COMPANY)
def test_where_a_company_is_or_sells_does_not_limit_where_remote_work_is_done(text: str) -> None:
    assert outcome_for("PT", listed("Remote", text)) == "unknown"
    assert outcome_for("PT", listed("Remote - Portugal", text)) == "pass"


OF_THE_ROLE = [
    ("We hire people in Germany. We also hire in Poland.", ["DE", "PL"], ["PT"]),
    ("This role is available in Germany and Austria.", ["DE", "AT"], ["PT"]),
    ("This position is limited to Norway.", ["NO"], ["PT"]),
    ("We are open to candidates in Germany.", ["DE"], ["PT"]),
    ("US-based candidates only.", ["US"], ["PT"]),
    ("We can only employ people in Norway.", ["NO"], ["PT"]),
    ("Available in the following states: TX, FL, NC.", ["US-TX", "US-NC"], ["US-CA", "PT"]),
    ("Available in CA, NY, WA only.", ["US-CA", "US-NY", "US-WA"], ["US-TX", "CA"]),
    ("You must reside in CA, CO or IL, our states.", [], ["PT"]),
    ("You must live in one of these states: CA, CO or IL.", ["US-CA", "US-CO"], ["US-TX", "CA"]),
    ("Candidates must be located in ON, BC or AB.", [], ["US", "PT"]),
    ("Remote (US or CA).", ["US", "CA"], ["PT"]),
    ("Candidates must be based in the US, UK or CA.", ["US", "GB", "CA"], ["PT"]),
    ("Remote anywhere except Portugal.", [], ["PT"]),
    ("Remote outside the US only.", [], ["US"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), OF_THE_ROLE)
def test_a_sentence_about_the_role_lets_in_all_the_places_it_names(
    text: str, inside: list[str], outside: list[str]
) -> None:
    """LOC-07, LOC-08."""
    posting = listed("Remote", text)

    assert {home: outcome_for(home, posting) for home in inside} == dict.fromkeys(inside, "pass")
    assert {home: outcome_for(home, posting) for home in outside} == dict.fromkeys(outside, "reject")


def test_a_text_that_lets_in_whom_the_listing_leaves_out_leaves_it_open() -> None:
    """A9: the two contradict each other."""
    posting = listed("Remote - Europe", "This role is open to candidates based in North America and Europe.")

    assert outcome_for("US", posting) == "unknown"
    assert outcome_for("DE", posting) == "pass"
    assert outcome_for("IN", posting) == "reject"


@pytest.mark.parametrize(
    ("location", "wanted", "outcome"),
    [
        ("Portland, OR (Hybrid)", "US-OR", "pass"),
        ("Salem, OR", "US-OR", "pass"),
        ("Portland, OR 97201", "US-OR", "pass"),
        ("Portland, OR | Salem, OR", "US-OR", "pass"),
        ("Cagliari, CA", "US", "reject"),
        ("Cagliari, CA", "Italy", "pass"),
        ("Curitiba, PR", "US", "reject"),
        ("Tijuana, BC", "Canada", "reject"),
        ("Curitiba/PR", "Brazil", "pass"),
        ("Genève, GE", "Georgia", "reject"),
        ("Madrid o Barcelona", "Barcelona", "pass"),
        ("Milano e Roma", "Rome", "pass"),
    ],
)
def test_a_listed_city_is_in_its_own_country(location: str, wanted: str, outcome: StepOutcome) -> None:
    assert check_place(Criteria.parse({"places": [wanted]}), listed(location)).outcome == outcome


MODES = {
    "We're remote-first, but this role is on site in Austin.": "no",
    "We are a remote-first company. This role is on-site in Berlin.": "no",
    "Although we are remote-first, this role is in the office.": "no",
    "We are a hybrid company, but this role is fully remote.": "yes",
    "You can work from home on Fridays.": "hybrid",
    "Occasional remote work possible.": "unknown",
    "2 Tage Homeoffice pro Woche": "hybrid",
    "You'll post on remote job boards": "unknown",
    "Experience working remotely is a plus.": "unknown",
    "Our tools help teams work remotely.": "unknown",
    "We work with hybrid models (LLM + rules).": "unknown",
    "We train a hybrid model for search.": "unknown",
    "You will design hybrid vehicles.": "unknown",
    "We work in a hybrid model.": "hybrid",
    "Remote: yes": "yes",
    "Remote: no": "no",
    "Remote work: partial": "hybrid",
    "You will work from our London office three days a week.": "hybrid",
    "This role is on-site 3 days a week.": "hybrid",
    "This role is on-site, five days a week.": "no",
    "You will be in the office five days a week.": "no",
    "This position is not eligible for remote work.": "no",
    "We do not offer remote work.": "no",
    "Remote: 100%": "yes",
    "We are remote-friendly, however this position requires being onsite in Munich.": "no",
    "Ability to work remotely on occasion.": "unknown",
    "Candidates near Atlanta will work from the office 2 days per week.": "unknown",
    "#LI-Remote": "yes",
    "This role is fully remote, with occasional travel.": "yes",
}


@pytest.mark.parametrize(("text", "mode"), MODES.items())
def test_a_text_states_the_mode_of_this_role(text: str, mode: str) -> None:
    """LOC-09, LOC-10: what is said of the role beats what is said of the company."""
    fact = work_mode_in(text)

    assert fact.mode == mode
    assert fact.sentence in text
