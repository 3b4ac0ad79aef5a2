"""What a posting's page tells of its text, with the sentence that says it (A9)."""

from __future__ import annotations

from reviews.text_facts import TextFact, text_facts

TEXT = (
    "You will build the services that our customers use every day, and you will own them with your team.\n"
    "You have 3 to 5 years of experience in backend development.\n"
    "We are unable to sponsor visas for this role.\n"
    "You must be based in the United States.\n"
    "Fluent German is a plus."
)


def test_what_a_text_says_is_told_with_its_sentence() -> None:
    facts = {fact.label: fact for fact in text_facts(TEXT)}

    assert facts["Experience"].value == "3 to 5 years"
    assert facts["Visa sponsorship"].value == "not offered"
    assert facts["Remote from"].value == "United States"
    assert facts["Language"].value == "German, welcome"
    assert facts["Written in"] == TextFact("Written in", "English")
    assert all(fact.sentence in TEXT for fact in facts.values())


def test_what_a_text_does_not_say_is_left_out() -> None:
    assert text_facts("") == ()
    assert text_facts("See our website.") == ()


def test_no_experience_needed_and_countries_left_out_have_words() -> None:
    text = "No prior experience required. We hire everywhere, but we cannot hire in France."
    facts = {fact.label: fact.value for fact in text_facts(text)}

    assert facts["Experience"] == "none needed"
    assert facts["Remote from"] == "not France"


def test_a_clearance_stands_beside_what_it_demands_of_citizenship() -> None:
    facts = {fact.label: fact for fact in text_facts("An active Secret clearance is required.")}

    assert facts["Security clearance"].value == "required"
    assert facts["Visa sponsorship"].value == "citizens or residents only"
