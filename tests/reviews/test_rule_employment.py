"""The kind of employment."""

from __future__ import annotations

import pytest

from catalog.adapters.base import EmploymentType
from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules.employment import check, employment_of
from tests.reviews.postings import snapshot


@pytest.mark.parametrize(
    ("title", "text", "stated", "kind"),
    [
        ("Software Engineer Intern", "", "full_time", "internship"),
        ("Engineer (Contract)", "", "full_time", "contract"),
        ("Engineer - Part-time", "", None, "part_time"),
        ("Engineer (6-month contract)", "", None, "contract"),
        ("Contract Manager", "", "full_time", "full_time"),
        ("Contract Manager", "", None, None),
        ("Engineer", "Employment type: Full-time", None, "full_time"),
        ("Engineer", "This is a full-time position.", None, "full_time"),
        ("Engineer", "This is a 12-month fixed-term contract.", None, "temporary"),
        ("Entwickler", "Vollzeit", None, "full_time"),
        ("Engineer", "Working Student", None, "internship"),
        ("Engineer", "Werkstudent", None, "internship"),
        ("Ingénieur", "Alternance", None, "internship"),
        ("Ingénieur", "CDI", None, "full_time"),
        ("Ingénieur", "CDD", None, "temporary"),
        ("Ingeniero", "Tiempo completo", None, "full_time"),
        ("Ingeniero", "Media jornada", None, "part_time"),
        ("Utvecklare", "Heltid", None, "full_time"),
        ("Utvikler (deltid)", "", None, "part_time"),
        ("エンジニア", "正社員", None, "full_time"),
        ("エンジニア（契約社員）", "", None, "temporary"),
        ("Engineer - Working Student", "", "full_time", "internship"),
        ("Engineer", "You will manage contracts with full-time vendors.", None, None),
        ("Engineer", "", "other", "other"),
    ],
)
def test_the_title_is_believed_before_the_source_and_the_source_before_the_text(
    title: str, text: str, stated: EmploymentType | None, kind: EmploymentType | None
) -> None:
    assert employment_of(title, text, stated).kind == kind


@pytest.mark.parametrize(
    ("stated", "outcome"),
    [("full_time", "pass"), ("contract", "reject"), (None, "unknown"), ("other", "unknown")],
)
def test_a_kind_that_is_not_stated_is_unknown(stated: EmploymentType | None, outcome: StepOutcome) -> None:
    criteria = Criteria.parse({"employment_types": ["full_time"]})

    assert check(criteria, snapshot(employment_type=stated)).outcome == outcome
