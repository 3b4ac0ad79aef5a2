"""The level of a role: TTL-01, TTL-02, TTL-03, TTL-09 and their kinds."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria, Level
from reviews.question import StepOutcome
from reviews.rules.level import check, level_of
from tests.reviews.postings import snapshot

TITLES: dict[str, tuple[Level, ...]] = {
    # a word inside another word
    "Senior Software Engineer, Internal Tools": ("senior",),
    "Staff Engineer, International Payments": ("lead",),
    "Internal Auditor": (),
    "Internist": (),
    "Undergraduate Research Assistant": (),
    # internships, in several languages
    "Software Engineer Intern": ("intern",),
    "Intern/Graduate Program": ("intern",),
    "System Design Engineer-Intern": ("intern",),
    "Software Engineer – Summer Undergraduate Intern": ("intern",),
    "Co-op, Mechanical Engineering": ("intern",),
    "Summer Analyst": ("intern",),
    "Werkstudent (m/w/d) Softwareentwicklung": ("intern",),
    "Praktikum Marketing": ("intern",),
    "Stage - Développeur Web": ("intern",),
    "Alternance - Data Engineer": ("intern",),
    "Working Student Data Analytics": ("intern",),
    # a senior word that names a team or an office
    "Intern - Office of the Chief Technology Officer": ("intern",),
    "Summer Intern, Director of Product": ("intern",),
    "Software Engineering Intern, Lead Generation Platform": ("intern",),
    "Staff Research Scientist, Intern": ("intern",),
    "Executive Assistant to the CEO": (),
    "Lead Generation Specialist": (),
    # roles that look after interns and graduates
    "Internship Program Manager": (),
    "Graduate Recruiter": (),
    "Program Manager, Internships": (),
    "Recruiter, Early Careers": (),
    # early careers
    "Software Engineer, New Grad": ("entry",),
    "Software Engineer – New College Grad 2025": ("entry",),
    "Software Engineer (Early Career)": ("entry",),
    "2026 Graduate Software Engineer": ("entry",),
    "Production Programmer – Entry Level SQL Developer": ("entry",),
    "Desarrollador Junior": ("entry",),
    "Data Entry Clerk": (),
    "Junior High School Teacher": (),
    # associate qualifies a rank when a rank follows
    "Associate Professor": ("senior",),
    "Associate Dean of Students": ("senior",),
    "Associate General Counsel": ("senior",),
    "Associate Director": ("senior",),
    "Deputy General Counsel": ("senior",),
    "Sales Associate": ("entry",),
    "Associate Product Manager": ("entry",),
    "Associate Veterinarian": (),
    # the middle
    "Front End Engineer II": ("mid",),
    "SDE 2": ("mid",),
    "Data Scientist, Mid Level": ("mid",),
    "Middle Python Developer": ("mid",),
    "Ingénieur logiciel confirmé (H/F)": ("mid",),
    "Backend Engineer for our mid-market segment.": (),
    "Middle School Teacher": (),
    "Account Executive, Mid-Market": (),
    "SDE-2": ("mid",),
    "Software Engineer-II": ("mid",),
    # other languages
    "Desenvolvedor Júnior": ("entry",),
    "Desenvolvedor Pleno": ("mid",),
    "Pleno": ("mid",),
    "Desenvolvedora Sênior": ("senior",),
    "Juniorentwickler": ("entry",),
    "Seniorentwicklerin": ("senior",),
    "シニアエンジニア": ("senior",),
    "エンジニア（シニア）": ("senior",),
    "新卒エンジニア": ("entry",),
    "ジュニアエンジニア": ("entry",),
    "新卒採用担当": (),
    "インターンシップ": ("intern",),
    "ミドルウェアエンジニア": (),
    # senior and above
    "AVP": ("senior",),
    "AVP, Risk": ("senior",),
    "Sr. Data Scientist": ("senior",),
    "Software Engineer III": ("senior",),
    "Lead Engineer, platform.": ("senior",),
    "Senior Living Advisor": (),
    "Tech Lead": ("lead",),
    "Principal Product Manager": ("lead",),
    "Engineering Manager": ("lead",),
    "Senior Engineering Manager": ("lead",),
    "Manager, Engineering": ("lead",),
    "Product Manager": (),
    "Business Development Manager": (),
    "Staff Accountant": (),
    "Staff Nurse": (),
    "School Principal": (),
    "VP of Engineering": ("executive",),
    "Head of Data": ("executive",),
    "Senior Director, International Sales": ("executive",),
    "Chief of Staff": (),
    "Art Director": (),
    "Backend Engineer. Principal responsibilities: build services and lead mentoring.": (),
    # open to several
    "Junior to Mid Developer": ("entry", "mid"),
    "Mid to Senior Engineer": ("mid", "senior"),
    "Software Engineer (Junior - Senior)": ("entry", "senior"),
    "Junior- bis Senior-Entwickler": ("entry", "senior"),
    "Ingénieur Junior à Senior": ("entry", "senior"),
    "Junior/Mid Python Developer": ("entry", "mid"),
    "Senior / Staff Fullstack Engineer": ("senior", "lead"),
    "Mid-Senior Engineer": ("mid", "senior"),
    "Software Engineer I/II": ("entry", "mid"),
    "Software Engineer, Product (all levels)": ("entry", "mid", "senior", "lead"),
}


@pytest.mark.parametrize(("title", "levels"), TITLES.items())
def test_a_title_is_read_for_its_level(title: str, levels: tuple[Level, ...]) -> None:
    assert level_of(title).levels == levels


@pytest.mark.parametrize(
    ("sentence", "level"),
    [
        ("This is an entry-level position in our team.", "entry"),
        ("We are looking for a senior backend engineer to join us.", "senior"),
        ("We're hiring a Staff Software Engineer.", "lead"),
        ("As a Junior Developer you will ship weekly.", "entry"),
        ("Seniority level: Mid", "mid"),
        ("Seniority level: Mid-Senior level", "senior"),
        ("Seniority: Senior", "senior"),
        ("This is not an entry-level role.", None),
        ("This isn't a junior position.", None),
        ("You will report to the senior manager.", None),
        ("You'll work with senior engineers.", None),
    ],
)
def test_a_sentence_gives_a_level_only_to_the_role_itself(sentence: str, level: str | None) -> None:
    fact = level_of("Engineer", sentence)

    assert fact.level == level
    assert fact.phrase == (sentence if level else "")


@pytest.mark.parametrize(
    ("wanted", "title", "text", "outcome"),
    [
        (["entry"], "Junior Engineer", "", "pass"),
        (["entry"], "Senior Engineer", "", "reject"),
        (["mid"], "Engineer I/II", "", "pass"),
        (["entry"], "Engineer", "", "unknown"),
        (["entry"], "Engineer", "You have 6+ years of experience.", "reject"),
        (["entry"], "Engineer", "You have 1+ years of experience.", "pass"),
        (["senior"], "Engineer", "You have 6+ years of experience.", "pass"),
        (["entry"], "Engineer", "6+ years of experience preferred.", "unknown"),
    ],
)
def test_the_years_demanded_stand_in_for_a_level_that_is_not_named(
    wanted: list[str], title: str, text: str, outcome: StepOutcome
) -> None:
    criteria = Criteria.parse({"levels": wanted})

    assert check(criteria, snapshot(title=title, text=text)).outcome == outcome


def test_what_the_source_files_as_an_internship_is_one() -> None:
    criteria = Criteria.parse({"levels": ["intern"]})

    assert check(criteria, snapshot(title="Engineer", employment_type="internship")).outcome == "pass"
