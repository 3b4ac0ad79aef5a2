"""Sentences: verbatim pieces of a text, bounded whatever the text holds."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from re import _constants as tokens  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reviews.rules
from reviews.rules.experience import MOST_FIGURES, experience_in
from reviews.rules.sentences import MAX_SENTENCE, MAX_SENTENCES, MAX_TEXT, sentences_of


def test_lists_headings_and_abbreviations_are_parted_as_a_reader_parts_them() -> None:
    text = (
        "About you:\n• 3 years, e.g. in Python. You know Go!\n- Sr. Engineer at U.S. firms. We hire.\n"
        "Nice to have:\n* German is a plus\nBenefits:\n25 days • Gym • Lunch"
    )

    assert [(sentence.text, sentence.section) for sentence in sentences_of(text)] == [
        ("About you:", "required"),
        ("3 years, e.g. in Python.", "required"),
        ("You know Go!", "required"),
        ("Sr. Engineer at U.S. firms.", "required"),
        ("We hire.", "required"),
        ("Nice to have:", "preferred"),
        ("German is a plus", "preferred"),
        ("Benefits:", "other"),
        ("25 days", "other"),
        ("Gym", "other"),
        ("Lunch", "other"),
    ]


@given(st.text(alphabet=st.sampled_from("aB1 .!?\n•-*:;。é\u00a0\u2028"), max_size=400))
def test_every_sentence_stands_verbatim_in_the_text(text: str) -> None:
    for sentence in sentences_of(text):
        assert sentence.text
        assert sentence.text in text


HOSTILE = [
    "a" * 200_000,
    "a. " * 70_000,
    "\n" * 200_000 + "x",
    "x\n" * 100_000,
    "(" * 200_000,
    "5 years " * 25_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_a_hostile_text_gives_the_patterns_a_bounded_amount_to_read(text: str) -> None:
    sentences = sentences_of(text)

    assert len(sentences) <= MAX_SENTENCES
    assert all(len(sentence.text) <= MAX_SENTENCE for sentence in sentences)
    assert sum(len(sentence.text) for sentence in sentences) <= MAX_TEXT


def test_only_the_first_figures_of_a_sentence_are_read() -> None:
    sentence = "3 years of experience, " * MOST_FIGURES + "9 years of experience"

    assert experience_in(sentence).min_years == 3


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(reviews.rules.__path__):
        for name, value in vars(import_module(f"reviews.rules.{module.name}")).items():
            values = value if isinstance(value, tuple) else (value,)
            for item in (
                part for entry in values for part in (entry if isinstance(entry, tuple) else (entry,))
            ):
                if isinstance(item, re.Pattern):
                    yield f"{module.name}.{name}", item


def has_nested_repeats(node: Any, inside: bool = False) -> bool:
    """Whether an unbounded repeat stands inside another: the shape that backtracks without bounds."""
    for operator, argument in node:
        if operator in (tokens.MAX_REPEAT, tokens.MIN_REPEAT):
            _, most, body = argument
            is_unbounded = most is tokens.MAXREPEAT
            if (is_unbounded and inside) or has_nested_repeats(body, inside or is_unbounded):
                return True
        elif isinstance(argument, tuple):
            parts = [part for part in argument if isinstance(part, parser.SubPattern)]
            parts += [part for group in argument if isinstance(group, list) for part in group]
            if any(has_nested_repeats(p, inside) for p in parts if isinstance(p, parser.SubPattern)):
                return True
    return False


def test_the_check_for_nested_repeats_sees_one() -> None:
    assert has_nested_repeats(parser.parse(r"(?:a+b?)+$"))
    assert has_nested_repeats(parser.parse(r"x|(?=(\w*,)*y)"))
    assert not has_nested_repeats(parser.parse(r"(?:a+b?){0,3}c*"))


def test_no_pattern_of_the_rules_nests_unbounded_repeats() -> None:
    found = list(patterns())

    assert len(found) > 50
    assert [name for name, pattern in found if has_nested_repeats(parser.parse(pattern.pattern))] == []
