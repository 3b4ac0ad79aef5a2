"""Whether a title names a role: TTL-05, TTL-06, TTL-07, TTL-08 and their kinds."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.rules.roles import check, names_role, says
from tests.reviews.postings import snapshot

ROLES: dict[str, dict[str, bool | None]] = {
    "frontend engineer": {
        "Front-End Engineer": True,
        "Front End Engineer II": True,
        "Frontend Engineers": True,
        "Frontend Developer": True,
        "Software Engineer, Frontend": True,
        "Senior Software Engineer (Front-End)": True,
        "Engineer, Front End": True,
        "Full Stack Engineer": False,
        "Frontend Engineering Manager": None,
        "Frontend Tech Lead": None,
        "Front-End Lead": None,
        "Backend Tech Lead": False,
        "ReactJS Developer": True,
        "React.js Engineer": True,
    },
    "software engineer": {
        "SWE Intern": True,
        "Software Development Engineer II": True,
        "Software Engineering Intern": True,
        "Backend Developer": True,
        "iOS Engineer": True,
        "Senior .NET Developer": True,
        "C++ Developer": True,
        "Softwareentwickler (m/w/d)": True,
        "Développeur·se Backend": True,
        "Entwickler:in Java": True,
        "Engineer II, Backend": True,
        "NodeJS Developer": True,
        "Software Intern": None,
        "Intern, Software": None,
        "Engineering Intern": None,
        "Summer 2026 Software Intern": None,
        "Software Trainee": None,
        "Tech Lead": None,
        "Marketing Intern": False,
        "Sales Lead": False,
        "Staff Engineer": None,
        "Quantitative Developer": None,
        "Recruiter, Software Engineering": None,
        "Software Engineering Manager": None,
        "Mechanical Engineer": False,
        "Sales Engineer": False,
        "Business Developer": False,
        "Product Manager": False,
    },
    "machine learning engineer": {
        "ML Engineer": True,
        "AI/ML Engineer": True,
        "Software Engineer, Machine Learning": True,
        "Product Manager, Machine Learning": False,
    },
    "data scientist": {"Data Science Intern": True, "Head of Data Science": True, "Data Analyst": False},
    "devops engineer": {
        "Dev Ops Engineer": True,
        "Dev-Ops Engineer": True,
        "DevOps Engineers": True,
        "Desktop Engineer": False,
        "DevOps Intern": None,
        "Platform Engineer": True,
        "Software Engineer Intern": False,
        "Intern – Software Developer": False,
    },
    "mlops": {"ML Ops Engineer": True, "ML-Ops Lead": True, "Machine Learning Ops Engineer": True},
    "sales ops manager": {"SalesOps Manager": True, "Sales Operations Manager": True},
    "salesops manager": {"Sales Ops Manager": True},
    "devsecops engineer": {"Dev Sec Ops Engineer": True, "DevSec-Ops Engineer": True},
    "data analyst": {"Data Analytics Intern": True, "Data Analytics Engineer": False},
    "hr manager": {"Human Resources Manager": True},
    "product manager": {"Product Management Intern": True, "Product Marketing Manager": False},
    "nurse": {"Registered Nurses": True, "Nursery Assistant": False},
    "designer roles": {"Product Designer": True, "Product Manager": False},
    "r&d": {
        "R&amp;D Engineer": True,
        "Sales &amp; Operations Manager": False,
        "R&#38;D Lead": True,
        "R &amp; D Engineer": True,
    },
    "software": {"Backend Engineer": True, "Accountant": False, "Software Sales Executive": None},
    "go": {"Go Engineer": True, "Backend Engineer (Go)": True, "Go-to-Market Lead": False},
}


@pytest.mark.parametrize(
    ("role", "title", "named"),
    [(role, title, named) for role, titles in ROLES.items() for title, named in titles.items()],
)
def test_a_title_names_a_role_beside_another_or_not_at_all(role: str, title: str, named: bool | None) -> None:
    assert names_role(role, title) is named


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("go", "You will go to market with partners", False),
        ("go", "Services written in Go and Rust", True),
        ("go", "Golang, gRPC", True),
        ("go", "good to go", False),
        ("go", "Go further with us", False),
        ("go", "We use Go, Python", True),
        ("go", "Ready? Set? Go!", False),
        ("go", "Familiar with Go.", True),
        ("go", "written in go", True),
        ("go", "go programming", True),
        ("go", "python, go, rust", True),
        ("go", "We use Go.", True),
        ("go", "before you go to developers", False),
        (".net", "Net revenue", False),
        (".net", "ASP.NET and C#", True),
        (".net", "Net Core services", True),
        ("c", "C/C++", True),
        ("c", "Embedded C", True),
        ("c", "A Series C software company", False),
        ("c", "C-level software executives", False),
        ("react", "ReactJS", True),
        ("node", "NodeJS", True),
        ("k8s", "Kubernetes", True),
        ("r", "R & D engineer", False),
        ("r&d", "Our R &amp; D team", True),
        ("r", "Experience with R or Python", True),
        ("r", "Our R&D team", False),
        ("excel", "Skilled in Excel", True),
        ("excel", "Excel in your role", False),
        ("c++", "C/C++ experience", True),
        ("c", "C/C++ experience", True),
        ("react native", "React-Native apps", True),
        ("intern", "International payments", False),
    ],
)
def test_a_name_that_is_an_everyday_word_needs_technical_company(name: str, text: str, said: bool) -> None:
    """TTL-07."""
    assert says(name, text) is said


def test_what_the_text_calls_the_role_only_makes_it_unknown() -> None:
    criteria = Criteria.parse({"roles": ["data analyst"]})
    text = "About us.\nWe are looking for a Data Analyst with an eye for detail."

    step = check(criteria, snapshot(title="Numbers Wizard", text=text))

    assert (step.outcome, step.quote) == (
        "unknown",
        "We are looking for a Data Analyst with an eye for detail.",
    )


def test_a_passing_mention_in_the_text_does_not_make_the_role() -> None:
    criteria = Criteria.parse({"roles": ["software engineer"]})
    text = "You will work closely with every software engineer and designer."

    assert check(criteria, snapshot(title="Product Manager", text=text)).outcome == "reject"


def test_an_open_application_is_for_no_role_in_particular() -> None:
    criteria = Criteria.parse({"roles": ["software engineer"]})

    assert check(criteria, snapshot(title="Open Application")).outcome == "unknown"
    assert check(criteria, snapshot(title="Designer - Open Application")).outcome == "reject"
