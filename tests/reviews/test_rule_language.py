"""The language of a posting, and the languages it demands."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules.language import check, language_of, languages_demanded
from tests.reviews.postings import snapshot

ENGLISH = (
    "We are looking for an engineer to join our team in Berlin and work with us on the future of mobility. "
    "You will build the services that our customers use every day."
)
GERMAN = (
    "Wir suchen einen Entwickler für unser Team in Berlin, der mit uns die Zukunft der Mobilität gestaltet. "
    "Du arbeitest mit modernen Werkzeugen und bist ein Teil von einem starken Team."
)
FRENCH = (
    "Nous recherchons un développeur pour notre équipe à Paris. Vous travaillez avec des outils modernes et "
    "vous êtes le lien entre les équipes et nos clients dans toute la France."
)

DEMANDS: dict[str, list[tuple[tuple[str, ...], bool]]] = {
    "Fluent German required": [(("de",), True)],
    "Deutsch C1": [(("de",), True)],
    "Sehr gute Deutschkenntnisse": [(("de",), True)],
    "Fließend Deutsch und Englisch in Wort und Schrift": [(("de",), True), (("en",), True)],
    "native-level French": [(("fr",), True)],
    "Maîtrise du français": [(("fr",), True)],
    "Anglais courant": [(("en",), True)],
    "Nivel alto de inglés": [(("en",), True)],
    "Vloeiend Nederlands": [(("nl",), True)],
    "Biegła znajomość języka angielskiego": [(("en",), True)],
    "Fluent in English and German": [(("en",), True), (("de",), True)],
    "Fluent in English or German": [(("en", "de"), True)],
    "at least one of the following languages: French, German, Italian": [(("fr", "de", "it"), True)],
    "bilingual (English/French)": [(("en",), True), (("fr",), True)],
    "English: C1, German: B2": [(("en",), True), (("de",), True)],
    "Mandarin speaker": [(("zh",), True)],
    "Japanese (native)": [(("ja",), True)],
    "German language skills (B2)": [(("de",), True)],
    "Fluent English and/or German": [(("en", "de"), True)],
    "German (C1) or English": [(("de", "en"), True)],
    "German (C1), French (B2) or English": [(("de", "fr", "en"), True)],
    "German C1 or English C1": [(("de", "en"), True)],
    "German (fluent) or fluent English": [(("de", "en"), True)],
    "German (C1) and English": [(("de",), True)],
    "German (C1), English B2 (nice to have)": [(("de",), True), (("en",), False)],
    "Fluency in English and one of German, French or Spanish": [(("en",), True), (("de", "fr", "es"), True)],
    "Fluent English plus at least one of: German, French": [(("en",), True), (("de", "fr"), True)],
    "Fluent in English and either Dutch or German": [(("en",), True), (("nl", "de"), True)],
    "Fluent in English and German or French": [(("en",), True), (("de", "fr"), True)],
    "German is a plus": [(("de",), False)],
    "Knowledge of Spanish is an advantage": [(("es",), False)],
    "Must be fluent in English; Spanish is a plus.": [(("en",), True), (("es",), False)],
    "Fluent German (other languages a plus)": [(("de",), True)],
    "Nice to have:\n- Fluent Dutch": [(("nl",), False)],
    "German is not required": [],
    "No German required": [],
    "You will work with the German market": [],
    "Good knowledge of the German market": [],
    "our Japanese customers": [],
    "Dutch labour law knowledge": [],
    "Polish our product and polish the UI": [],
    "an English language learning platform": [],
    "the German-speaking market": [],
    "cloud-native services": [],
}


@pytest.mark.parametrize(("text", "demands"), DEMANDS.items())
def test_a_language_is_demanded_where_it_is_to_be_spoken(
    text: str, demands: list[tuple[tuple[str, ...], bool]]
) -> None:
    found = languages_demanded(text)

    assert [(demand.codes, demand.is_required) for demand in found] == demands
    assert all(demand.sentence in text for demand in found)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        ("당사는 백엔드 개발자를 찾고 있습니다. 함께 성장할 동료를 기다립니다.", "ko"),
        ("私たちはエンジニアを募集しています。チームで開発します。", "ja"),
        ("Мы ищем разработчика в нашу команду, который любит хороший код.", "ru"),
        (f"{ENGLISH}\n{GERMAN}", "unknown"),
        ("Software Engineer, Berlin", "unknown"),
        ("", "unknown"),
    ],
    ids=["english", "german", "french", "korean", "japanese", "russian", "both", "short", "empty"],
)
def test_a_short_or_mixed_text_has_no_known_language(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (ENGLISH, "pass"),
        (GERMAN, "reject"),
        (f"{ENGLISH}\nFluent German required.", "reject"),
        (f"{ENGLISH}\nFluent in English or German.", "pass"),
        (f"{ENGLISH}\nGerman (C1) or English.", "pass"),
        (f"{ENGLISH}\nFluency in English and one of German, French or Spanish.", "reject"),
        (f"{ENGLISH}\nGerman is a plus.", "pass"),
        ("", "unknown"),
    ],
)
def test_a_posting_in_or_demanding_another_language_is_rejected(text: str, outcome: StepOutcome) -> None:
    step = check(Criteria.parse({"languages": ["en"]}), snapshot(text=text))

    assert step.outcome == outcome
    assert step.quote in text
