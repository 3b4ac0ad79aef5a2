"""The years of experience demanded: YOE-01 to YOE-04 and their kinds."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules.experience import ExperienceFact, Specialty, check, experience_in
from tests.reviews.postings import snapshot

DEMANDS: dict[str, tuple[float | None, float | None]] = {
    "8-10+ years of product management experience": (8, 10),
    "3\\-5 years of experience": (3, 5),
    "3–5 yrs exp": (3, 5),
    "3 to 5 years of experience": (3, 5),
    "5 - 3 years of experience": (3, 5),
    "two to four years of relevant experience": (2, 4),
    "0-2 years experience": (0, 2),
    "five (5) years of experience in sales": (5, None),
    "You have at least five years' experience": (5, None),
    "You've got at least 5 years’ experience": (5, None),
    "3 or more years of experience": (3, None),
    "more than 3 years of experience": (3, None),
    "Minimum 3 years of experience": (3, None),
    "Experience: 4 years": (4, None),
    "Proven experience (typically 5+ years) in HR systems": (5, None),
    "We require 5+ years of Java": (5, None),
    "minimum of 3-5 years": (3, 5),
    "3+ YOE": (3, None),
    "Have 3+ years building APIs": (3, None),
    "You have 2+ years as a software engineer": (2, None),
    "We are looking for someone with 7+ years of experience": (7, None),
    "BS/MS with 3+ years of hands‑on experience": (3, None),
    "At least 6 months of experience": (0.5, None),
    "up to 3 years of experience": (0, 3),
    "Less than 2 years of experience": (0, 2),
    "No experience required": (0, None),
    "No previous professional experience is required.": (0, None),
    "Mindestens 3 Jahre Berufserfahrung": (3, None),
    "2 ans d'expérience": (2, None),
    "Al menos 3 años de experiencia": (3, None),
    "Experiência prévia na função de 5 anos ou mais": (5, None),
    "3+ years of experience, preferably in banking": (3, None),
    "4–7 years of accounting experience; healthcare background a plus": (4, 7),
    "5 (five) years of experience": (5, None),
    "Minimum of 7 (seven) years' relevant experience": (7, None),
    "Senior Backend Engineer, 8+ years required.": (8, None),
    "8 years minimum.": (8, None),
    "Must have 8+ years.": (8, None),
    "Backend engineer with 8+ years.": (8, None),
    "Java (8+ years)": (8, None),
    "Experience required: 5 years": (5, None),
    "Years of experience: 5+": (5, None),
    "Years of Experience Required: 3-5": (3, 5),
    "Experience (years): 4": (4, None),
    "Entre 3 et 5 ans d'expérience": (3, 5),
    "Entre 3 y 5 años": (3, 5),
    "Tra 3 e 5 anni": (3, 5),
    "2 lata doświadczenia": (2, None),
    "co najmniej 2-letnie doświadczenie": (2, None),
    "3-jährige Berufserfahrung": (3, None),
    "Tussen 3 en 5 jaar": (3, 5),
    "od 3 do 5 lat": (3, 5),
    "Entre 3 y 5 años de experiencia": (3, 5),
    "Tra 3 e 5 anni di esperienza": (3, 5),
    "Tussen 3 en 5 jaar ervaring": (3, 5),
    "od 3 do 5 lat doświadczenia": (3, 5),
    "at least 1 year of experience with Swift and at least 2 years with software": (2, None),
    "You bring **3\\-5** years of experience": (3, 5),
    "We have room for somebody just starting out: up to 2 years of experience": (0, 2),
    "We ask for 3 or more years of experience in such a position": (3, None),
    "we ask for 3 or more years of experience in such a position": (3, None),
    "We are hiring people with 4+ years of experience": (4, None),
    "0–2 yrs of web development, paid or not": (0, 2),
    "3年以上の開発経験": (3, None),
    "開発経験3年以上": (3, None),
    "実務経験 2〜5年": (2, 5),
    "3年以上工作经验": (3, None),
    "3-5年相关经验": (3, 5),
    "경력 3년 이상": (3, None),
    "3년 이상의 경험": (3, None),
    "Опыт работы от 3 лет": (3, None),
    "Minst 3 års erfarenhet av Java": (3, None),
    "Mindst 3 års erfaring": (3, None),
    "Minst tre års erfarenhet": (3, None),
    "vähintään 3 vuoden kokemus": (3, None),
    "Our ideal candidate has 5 years of experience": (5, None),
    "To join our team, 5 years of experience is needed": (5, None),
    # years of something else
    "For more than 50 years, the cooperative has built tools for utilities.": (None, None),
    "With over 30 years of expertise across private equity.": (None, None),
    "With over 12 years of expertise across private equity, Acme leads.": (None, None),
    "Our company has 20 years of experience": (None, None),
    "Our founders have 20 years of combined experience building software": (None, None),
    "You'll join a team with over 15 years of experience": (None, None),
    "CTO: 13 years of startup experience": (None, None),
    "over 10 years in business": (None, None),
    "Must be at least 18 years of age": (None, None),
    "You must be at least 18 years old": (None, None),
    "401k vesting over 4 years": (None, None),
    "4 months paid parental leave": (None, None),
    "12 month contract": (None, None),
    "4-year degree in computer science": (None, None),
    "a sabbatical after 5 years": (None, None),
    "revenue grew fourfold in the past 3 years": (None, None),
    "Travel industry experience is not required.": (None, None),
    "within 100 years of experience": (None, None),
    "5 years of residency in the UK": (None, None),
    "5 years of continuous residency in the UK is required": (None, None),
    "You will spend 2 years in our rotational program": (None, None),
    "a 2 year rotation in our graduate program": (None, None),
    "We have 20 years of experience in logistics": (None, None),
    "We've been building software for 8+ years.": (None, None),
    "2015年設立の会社で経験を積む": (None, None),
    "You must be certified within 2 years of hire": (None, None),
    "tenure of 8+ years.": (None, None),
    "Contract (1+ years)": (None, None),
    "2 years minimum commitment": (None, None),
    "a platform based on 20 years of scientific research": (None, None),
    "Children between 3 and 5 years of age": (None, None),
    "Ages 3+ years.": (None, None),
    "for kids aged 5+ years.": (None, None),
}


@pytest.mark.parametrize(("text", "bounds"), DEMANDS.items())
def test_a_figure_counts_when_it_demands_experience(
    text: str, bounds: tuple[float | None, float | None]
) -> None:
    fact = experience_in(text)

    assert (fact.min_years, fact.max_years) == bounds
    assert fact.sentence == (text if bounds != (None, None) else "")


def test_a_nested_figure_is_a_specialty_of_the_main_one() -> None:
    """YOE-02."""
    text = "8-10+ years of product management experience, including at least 2 years owning AI/ML work."

    assert experience_in(text) == ExperienceFact(8, 10, text, (Specialty("AI/ML work", 2),))


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("**3\\-5** years of experience", (3, 5)),
        ("* **5+** years of experience", (5, None)),
        ("**8\\+ years** of experience", (8, None)),
        ("- You bring _2_ years of experience", (2, None)),
    ],
)
def test_marks_of_emphasis_do_not_hide_a_figure(text: str, bounds: tuple[float, float | None]) -> None:
    fact = experience_in(text)

    assert (fact.min_years, fact.max_years) == bounds
    assert fact.sentence
    assert fact.sentence in text


def test_years_within_others_are_a_specialty_of_them() -> None:
    text = "2 years of AI within 8+ years of PM experience"

    assert experience_in(text) == ExperienceFact(8, None, text, (Specialty("AI", 2),))


def test_of_several_demands_the_largest_is_the_posting_s() -> None:
    fact = experience_in("5+ years experience with Python\n2+ years with Kubernetes")

    assert (fact.min_years, fact.specialty) == (5, (Specialty("Kubernetes", 2),))


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("Bachelor's degree with 5 years of experience, or Master's with 3 years of experience", 3),
        ("BS and 8 years of experience or MS and 6 years of experience or PhD and 2 years of experience", 2),
        ("BS with 8 years experience, MS with 6 years, PhD with 3 years", 3),
        ("BS with 8 years experience, MS with 6 years, or PhD with 3 years.", 3),
        ("8 years of experience with a Bachelor's, 6 years with a Master's, 3 years with a PhD", 3),
        ("5 years of experience with a Bachelor's, or 3 with a Master's", 3),
        ("5 years of experience, Bachelor's degree, 2+ years of management experience", 5),
        ("Bachelor's degree with 5+ years of experience and 2+ years of management experience", 5),
    ],
)
def test_alternatives_by_degree_demand_the_least_of_them(text: str, years: int) -> None:
    assert experience_in(text).min_years == years


def test_what_is_required_goes_before_what_is_preferred() -> None:
    text = "Nice to have:\n- 10+ years of sales experience\nRequirements:\n- 2+ years of sales experience"

    assert experience_in(text).min_years == 2


@pytest.mark.parametrize(
    "text", ["5+ years of experience preferred", "Ideally 5 years of experience", "Bonus:\n5+ years of Rust"]
)
def test_a_mere_preference_is_kept_as_one(text: str) -> None:
    fact = experience_in(text)

    assert (fact.min_years, fact.is_required) == (5, False)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("5 to 10 years of experience", "pass"),
        ("7+ years of experience", "reject"),
        ("7+ years of experience preferred", "pass"),
        ("We ship weekly.", "pass"),
        ("", "unknown"),
    ],
)
def test_six_years_meet_a_demand_that_begins_below(text: str, outcome: StepOutcome) -> None:
    """YOE-04: the ranges overlap; what is not stated does not exclude."""
    criteria = Criteria.parse({"max_years": 6})

    assert check(criteria, snapshot(text=text)).outcome == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("私たちはエンジニアを募集しています。チームで開発し、世界中の顧客に届けます。", "unknown"),
        ("私たちはエンジニアを募集しています。開発経験5年以上の方と一緒に働きます。", "reject"),
        ("Мы ищем разработчика в нашу команду, который любит хороший код.", "unknown"),
        (
            "Vi söker en utvecklare som vill arbeta med oss och bygga tjänster för alla våra kunder. Du "
            "kommer att arbeta i ett team som har roligt på jobbet och som lär sig av varandra.",
            "unknown",
        ),
        (
            "Wir suchen einen Entwickler für unser Team in Berlin, der mit uns die Zukunft gestaltet und ein "
            "Teil von einem starken Team ist, das auf gute Arbeit und auf Ruhe setzt.",
            "pass",
        ),
    ],
    ids=["japanese", "japanese with years", "russian", "swedish", "german"],
)
def test_a_language_that_is_hardly_read_leaves_the_demand_unknown(text: str, outcome: StepOutcome) -> None:
    assert check(Criteria.parse({"max_years": 3}), snapshot(text=text)).outcome == outcome
