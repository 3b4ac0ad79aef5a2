"""Title patterns, and records that are no job."""

from __future__ import annotations

import re
from random import Random

import pytest

from catalog.admission import InvalidPattern, TitlePattern, drop_box_reason
from catalog.title_regex import TitleRegex


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (
            "frontend engineer",
            [
                "Front-End Engineer",
                "Front End Engineer II",
                "FRONTEND ENGINEER",
                "Frontend Engineers (m/f/d)",
            ],
            ["Frontend Designer", "Engineer, Frontend"],
        ),
        ("front end engineer", ["Front-End Engineer", "Frontend Engineer"], ["Front Endpoint Engineer"]),
        ("intern", ["Software Intern", "Interns 2027"], ["Internal Auditor", "International Sales"]),
        ("R&D", ["R&D Engineer", "Head of R & D"], ["Sales & Operations"]),
        ("C++", ["Senior C++ Developer"], ["C Developer", "C# Developer"]),
        ("data scientist|ml engineer", ["Data Scientist", "Senior ML-Engineer"], ["Chemist"]),
        (
            r"\b(senior|staff)\b.*engineer",
            ["Senior Backend Engineer"],
            ["Engineer, senior", "Seniority engineer"],
        ),
        (r"^(?!.*(manager|director)).*engineer.*$", ["Platform Engineer"], ["Engineering Manager"]),
        (r"(?i)front[- ]?end|back[- ]?end|full[- ]?stack", ["Full-Stack Dev", "Backend Lead"], ["Designer"]),
    ],
)
def test_a_pattern_picks_titles(pattern: str, matching: list[str], others: list[str]) -> None:
    compiled = TitlePattern(pattern)
    assert [title for title in matching if not compiled.matches(title)] == []
    assert [title for title in others if compiled.matches(title)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "  ",
        "|",
        "x" * 501,
        "(",
        "[a-z",
        "a**",
        r"(a+)+$",
        r"(a|a)*b",
        r"(?:a?){30}",
        r"(.*,){12}P",
        r"a*+b",
        r"(a)?+b",
        "(a" * 60 + ")" * 60,
        "a\0b",
        "[\0]",
        "a\udcffb",
        r"(?=(a+)+)b",
        r"(a)\1",
        r"(?P<x>a)(?P=x)",
        r"(?>a)",
        r"(?x) a",
        r"(?#()x",
    ],
)
def test_a_pattern_that_could_take_for_ever_is_refused(pattern: str) -> None:
    """What is not followed place by place in the title is refused, and what no row can keep."""
    with pytest.raises(InvalidPattern):
        TitlePattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("a?" * 30 + "a" * 30, "a" * 30, "a" * 29),
        (r".*.*.*.*.*.*x", "a" * 199 + "x", "a" * 200),
        (r"[a-z]*\d*\w*x", "a1ax", "a" * 200),
        (r"(a|a)" * 40 + "c", "a" * 40 + "c", "a" * 200),
        (r"(?:.|.|.|.)" * 20 + "~", "x" * 30 + "~", "x" * 200),
        (r"a.*a.*a.*a.*(?=.*a.*a.*b)", "aaaa aab", "a" * 200),
    ],
)
def test_a_pattern_of_many_ways_is_followed_in_all_at_once(pattern: str, matching: str, other: str) -> None:
    """Python's matcher, which tries one after the other, would not come to an end of these."""
    compiled = TitlePattern(pattern)
    assert compiled.matches(matching)
    assert not compiled.matches(other)


_CHARACTERS = ["a", "a", "b", " ", ".", r"\w", r"\s", "[ab]", "[^a]", r"\x61", "B", "[A-B]", "-", "é", "ſ"]
_EDGES = ["^", "$", r"\b", r"\B", r"\A", r"\Z"]
_REPETITIONS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{1,}"]
_GROUPS = ["(", "(?:", "(?=", "(?!", "(?<=", "(?<!"]


def _some_pattern(chance: Random, depth: int = 0) -> str:
    parts = []
    for _ in range(chance.randrange(5)):
        kind = chance.random()
        if kind < 0.6:
            parts.append(chance.choice(_CHARACTERS) + chance.choice(_REPETITIONS))
        elif kind < 0.7:
            parts.append(chance.choice(_EDGES))
        elif depth < 3:
            inner = _some_pattern(chance, depth + 1)
            parts.append(f"{chance.choice(_GROUPS)}{inner}){chance.choice(['', '?'])}")
    if depth < 3 and chance.random() < 0.25:
        parts.append(f"|{_some_pattern(chance, depth + 1)}")
    return "".join(parts)


def test_a_regular_expression_finds_what_pythons_own_matcher_finds() -> None:
    chance = Random(20261201)
    compared = 0
    while compared < 3_000:
        pattern = _some_pattern(chance)
        try:
            own = re.compile(pattern, re.IGNORECASE)
        except re.error:  # a look behind of no fixed width
            continue
        followed = TitleRegex(pattern)
        for _ in range(4):
            title = "".join(chance.choices("aaAbB .-éſS1", k=chance.randrange(9)))
            assert followed.is_in(title) == (own.search(title) is not None), (pattern, title)
            compared += 1


def test_signs_that_are_escaped_or_in_a_class_repeat_nothing() -> None:
    assert TitlePattern(r"\(a\)+ [*+?()]{3}").matches("(a) ***")
    assert TitlePattern(r"[[a&&|~~\]]{3}").matches("|~]")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("test", "This is not a real job, please do not apply."),
        ("Software Engineer", "Please note: this is a test posting."),
        ("TEST - DO NOT APPLY", ""),
        ("Test Job 2", ""),
        ("Spontaneous Application", "Send us your CV."),
        ("Open Application", ""),
        ("General Application (Remote)", ""),
        ("Talent Pool - Berlin", ""),
        ("Join our Talent Community!", ""),
        ("Initiativbewerbung", ""),
        ("Candidature spontanée – Paris", ""),
        ("Future Opportunities", ""),
        ("Engineer", "This isn't a real job, please don't apply"),
        ("Engineer", "This is a test. Do not apply."),
        ("Engineer", "This posting is not a real vacancy."),
        ("[TEST] Software Engineer", ""),
        ("Software Engineer (TEST - do not apply)", ""),
        ("Software Engineer (test posting)", ""),
        ("Future Openings", ""),
        ("Don't see your role?", ""),
        ("Don’t see a job that fits you? Tell us!", ""),
        ("Can't find what you are looking for?", ""),
        ("Spontaneous application Berlin", ""),
        ("Initiativbewerbung Engineering", ""),
        ("Initiativ-Bewerbung (m/w/d)", ""),
        ("Talentpool", ""),
        ("Submit your resume", ""),
        ("Send us your CV!", ""),
        ("Speculative CV", ""),
        ("Register your interest", ""),
        ("Autocandidatura", ""),
        ("Candidatura espontánea", ""),
        ("Candidatura Espontânea", ""),
        ("Candidatura spontanea", ""),
        ("Initiatiefsollicitatie", ""),
        ("Do not apply - test", ""),
        ("Software Engineer - TEST do not apply", ""),
        ("Engineer", "This posting is for testing purposes only."),
        ("Spontanansökan", ""),
        ("Åben ansøgning", ""),
        ("Uopfordret ansøgning", ""),
        ("Åpen søknad", ""),
        ("Avoin hakemus", ""),
        ("A\u030aben ansøgning", ""),
    ],
)
def test_a_drop_box_is_no_job(title: str, text: str) -> None:
    reason = drop_box_reason(title, text)
    assert reason is not None
    assert "title" in reason or "text" in reason


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("SDET", "Own the internal test job runners."),
        ("Test Engineer", "You test things. If you are not in the EU, please do not apply."),
        ("Talent Pool Manager", "Run our talent pool."),
        ("Senior Front-end Engineer - Open Application", "A role in our pipeline."),
        ("Sample Preparation Technician", ""),
        ("Testing Lead", ""),
        ("Senior Back-end Engineer – Open Application", ""),
        ("Open Application Security Engineer", ""),
        ("General Application Support", ""),
        ("Future Talent Manager", ""),
        ("Software Engineer (Test)", ""),
        ("Nurse (agencies do not apply)", ""),
        ("Nurse", "Beware of scams: a fake job posting may ask you for money."),
        ("Nurse", "If somebody asks for a fee, this is not a real job."),
        ("Nurse", "Fraud alert. An offer by chat? This isn't a real job, please tell us."),
        ("Nurse", "We never charge. Not a real job posting of ours: anything on Telegram."),
        ("Engineer", "This is a test job runner team. You keep it fast."),
        ("", ""),
    ],
)
def test_a_job_with_such_words_in_it_is_a_job(title: str, text: str) -> None:
    assert drop_box_reason(title, text) is None
