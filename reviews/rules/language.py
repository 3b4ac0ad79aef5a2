"""The language of a text, and the languages that a posting demands."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.language_names import BY_NAME, NAMES, name_of
from reviews.rules.sentences import MAX_TEXT, Sentence, sentences_of
from reviews.rules.titles import word_set

RULE = "language"
UNKNOWN = "unknown"

# Frequent short words that tell a language from its neighbours.
STOP_WORDS: dict[str, frozenset[str]] = {
    code: word_set(words)
    for code, words in {
        "en": "the and of to with for you we our your is are will this that have be as on in at or an from",
        "de": """der die das und mit für wir du ein eine einen einem den dem des ist sind auf zu bei oder
            sowie unser unsere dich dein deine von im als nicht auch werden sie ihre""",
        "fr": """le la les et des du une un vous nous votre notre pour avec dans est sont sur au aux en de que
            qui ou nos vos""",
        "es": """el la los las y de del un una para con en que es por tu nuestro nuestra como se su al más o
            somos""",
        "it": """il lo la gli le e di del della un una per con in che è sono nostro nostra come si al alla nel
            da dei""",
        "pt": """o a os as e de do da um uma para com em que é por você nossa nosso como se ao na no dos das
            não são""",
        "nl": """de het een en van voor met je wij ons onze is zijn op in aan te bij als die dat jouw of
            worden""",
        "pl": "i w z na do się nie jest oraz dla że to o od jako przez twoje nasz pracy lub za",
        "sv": "och att det som en för med på av är du vi till den har om ett vår som i kommer",
        "da": "og at det som en for med på af er du vi til den har om et vores i kan du dig",
        "no": "og at det som en for med på av er du vi til den har om et vår i kan deg ikke",
        "fi": "ja on että se ei ovat tai myös sekä meillä sinulla kanssa joka me olet työ",
        "cs": "a v na se je že pro s do z o jsme nebo jako práce které naše bude k",
        "hu": "a az és egy hogy nem is van vagy mint meg csak ez munka való",
        "ro": "și de la în cu pe un o care pentru este sunt din sau nostru mai ca",
        "tr": "ve bir bu için ile olarak da de en veya olan gibi daha",
        "id": "dan yang untuk di dengan dari pada dalam akan kami anda ini atau ke sebagai dapat",
        "vi": "và của là các có cho trong được với những một không người bạn",
    }.items()
}
# A script that settles the language, or the group it belongs to.
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u0fff\u3040-\ud7af]")
READ_CHARS = 20_000  # enough to tell; the rest of a long text is not read
LEAST_WORDS = 20
LEAST_SHARE = 0.12  # of all words; running text has 0.3 to 0.5, a list of names has nearly none
CLEAR_LEAD = 1.5  # over the next language; a text in two languages has less


def language_of(text: str) -> str:
    """ISO 639-1 code, or "unknown" for a text that is short, mixed, or in a language not known here."""
    sample = text[:READ_CHARS]
    letters = sum(character.isalpha() for character in sample) or 1
    for code, script in _SCRIPTS if _OTHER_SCRIPT.search(sample) else ():
        count = len(script.findall(sample))
        threshold = 0.02 if code == "uk" else 0.1 if code == "ja" else 0.3
        if letters >= LEAST_WORDS and count / letters >= threshold:
            return code
    words = re.findall(r"[^\W\d_]+", sample.casefold())
    if len(words) < LEAST_WORDS:
        return UNKNOWN
    counts = Counter(words)
    scores = {code: sum(counts[word] for word in stop) for code, stop in STOP_WORDS.items()}
    (best, score), (_, second), *_ = sorted(scores.items(), key=lambda item: -item[1])
    is_clear = score / len(words) >= LEAST_SHARE and score >= CLEAR_LEAD * second
    return best if is_clear or _is_scandinavian(scores, best, len(words)) else UNKNOWN


def _is_scandinavian(scores: dict[str, int], best: str, words: int) -> bool:
    """Swedish, Danish and Norwegian share their small words: the best of the three will do."""
    others = max(score for code, score in scores.items() if code not in ("sv", "da", "no"))
    return (
        best in ("sv", "da", "no")
        and scores[best] / words >= LEAST_SHARE
        and scores[best] > CLEAR_LEAD * others
    )


@dataclass(frozen=True, slots=True)
class LanguageDemand:
    """Languages of which the applicant must know one. `is_required` is False where it is only welcome."""

    codes: tuple[str, ...]
    sentence: str
    is_required: bool = True


_NAME = "|".join(
    sorted((re.escape(name) for names in NAMES.values() for name in names), key=len, reverse=True)
)
# A language is a noun of its own or a compound of it; "German market" and "Polish the app" are neither.
_MENTION = re.compile(
    rf"(?<![\w-])({_NAME})(?P<rest>kenntnisse\w*|sprachig\w*|[- ]?speak(?:ing|ers?))?(?![\w])",
    re.IGNORECASE,
)
_SKILL_BEFORE = re.compile(
    r"\b(?:fluen(?:t|cy)(?: (?:in|with|written|spoken|and|both|or|communication))*"
    r"|proficien(?:t|cy)(?: (?:in|with|written|spoken|and))*"
    r"|native(?:[- ]level)?(?: speaker of| proficiency in| in)?|mother tongue(?: in)?|bilingual(?: in)?"
    r"|trilingual(?: in)?|speak(?:s|ing)?|spoken(?: and written)?"
    r"|written(?: and (?:spoken|oral|verbal))?|read(?:ing)?,? (?:and )?writ(?:e|ing)(?: in)?"
    r"|command of(?: the| both)?|knowledge of(?: the)?|business[- ]level|business|conversational"
    r"|professional|working proficiency in|advanced|excellent|strong|good|very good|perfect"
    r"|full professional|level of|skills in|languages?(?: required)?\s?[:\u2013-]"
    r"|communicat\w+(?: \w+){0,3} in|verbal \w+ in|fließend(?:e[smnr]?)?|sehr gute[smnr]?|gute[smnr]?"
    r"|verhandlungssicher\w*|muttersprach\w*|deine|ihre|(?:gute )?kenntnisse in|courant(?:e)?(?: en)?"
    r"|maîtrise (?:de l['\u2019]|du|parfaite du|de la)|parlez|bilingue|niveau d['\u2019]|fluido en"
    r"|dominio del?|nivel (?:alto )?de|fluente in|fluente em|vloeiend(?:e)?(?: in)?|goede"
    r"|znajomość języka|znajomość|beheersing van(?: het)?|biegła znajomość|dobra znajomość)\s[(]?$",
    re.IGNORECASE,
)
_SKILL_AFTER = re.compile(
    r"^\s?[(,:\u2013-]?\s?(?:(?:\(?(?:level |min(?:imum|\.)? |at least |mindestens |niveau "
    r"|nivel )?[ABC][12]\b)|native|fluen\w+|proficien\w+|mother tongue"
    r"|language (?:skills|proficien\w+|knowledge|abilit\w+|fluency|competen\w+|level|is|required"
    r"|mandatory)|skills|speak(?:er|ers|ing)|fließend|verhandlungssicher|muttersprach\w*|auf \w+ niveau"
    r"|in wort und schrift|kenntnisse|courant\w*|natif|avanzado|fluido|nativo|vloeiend"
    r"|is (?:required|a must|mandatory|essential|necessary)|required|mandatory|is a plus|would be"
    r"|\(?(?:required|a must|mandatory|essential|fluent|native|business level))\b",
    re.IGNORECASE,
)
_JOINT = (
    r"\s?(?:,|/|&|\+|and/or|und/oder|et/ou|and|or|und|oder|et|ou|y|o|e|en|of|as well as"
    r"|sowie)(?:\s(?:and|or|/|both|in))?\s?(?:\(\w+\)\s?)?$"
)
_LIST_JOINT = re.compile(rf"^{_JOINT}", re.IGNORECASE)
# The level of the first may stand between two: "German (C1) or English", "German C1 or fluent English".
_LEVEL = (
    r"(?:level |min(?:imum|\.)? |at least |mindestens |niveau |nivel |auf )?(?:[ABC][12]\b[+-]?|native"
    r"|fluent\w*"
    r"|proficient|mother tongue|business(?: level)?|fließend|verhandlungssicher|muttersprach\w*|courant"
    r"|fluido)"
    r"(?:[ -](?:level|niveau|or (?:higher|above|better)|oder höher))?"
)
_LEVEL_JOINT = re.compile(
    rf"^(?:\s?\(\s?{_LEVEL}\s?\)|[\s:-]{{1,2}}{_LEVEL})?{_JOINT[:-1]}(?:(?<=\s){_LEVEL}(?: in)? )?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\b(?:and|und|et|y|e|en|sowie|as well as)\b|&|\+", re.IGNORECASE)
# "Fluent English and one of German, French or Spanish": the skill named for the first is meant for these too.
_AND_ONE_OF = re.compile(
    r"^\W{0,3}(?:and|plus|as well as|&|\+|und|et|y|along with)\s(?:also\s)?(?:(?:in|at least)\s){0,2}(?:one"
    r"|any|either)\b"
    r"(?:\s(?:or|more|other|additional|further|second|of|the|following|these|languages?|in"
    r"|from)){0,7}[\s:(]{0,3}$",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\b(?:or|oder|ou|o|of)\b|/", re.IGNORECASE)
_ANY_OF = re.compile(
    r"\b(?:one of|at least one|any of|one or more|either|another|additional)\b",
    re.IGNORECASE,
)
_ALL_OF = re.compile(r"\b(?:bilingual|trilingual|bilingue|both)\b", re.IGNORECASE)
_A_PLUS = re.compile(
    r"\b(?:a (?:\w+ )?plus|plus\b(?!\s(?:at least|one|any|either)\b)|nice to have|bonus"
    r"|(?:an? )?(?:\w+ )?(?:advantage|asset)|preferred"
    r"|preferably|desirable|desired|beneficial|ideally|optional|helpful|welcome|appreciated|would be"
    r"|von vorteil|wünschenswert|idealerweise|un plus|un atout|apprécié\w*|valorable|se valora\w*"
    r"|deseable|pluspunt|pre)\b",
    re.IGNORECASE,
)
_NOT_NEEDED = re.compile(
    r"\b(?:no|not|n['\u2019]t|without|keine)\b[^.;]{0,30}\b(?:required|need\w*|necessary|mandatory"
    r"|erforderlich|speak|knowledge|skills|kenntnisse)\b|\bregardless\b|\bnon-native\b",
    re.IGNORECASE,
)
# "Knowledge of the German market" wants no German: an adjective stands before a noun that is no skill.
_ADJECTIVE = re.compile(
    r"^\s(?!(?:and|or|is|are|at|in|to|on|with|as|for|both|if|but|plus|will|would|languages?|skills?"
    r"|abilit\w+|proficien\w+|fluen\w+|level|communicat\w+|knowledge|competenc\w+|speak\w*|written"
    r"|verbal|spoken|oral|required|preferred|mandatory|native|essential|must|und|oder|auf|als|sowie|von"
    r"|sind|ist|wird|zwingend|fließend|verhandlungssicher|et|ou|est|courant\w*|oral|écrit|indispensable"
    r"|y|o|e|es|avanzado|alto|fluido|nativo|en|of|is|vereist|jest)\b)[^\W\d_A-Z]",
)
_OTHERS_ASIDE = re.compile(r"\(?\b(?:any )?(?:other|additional|further|more)\b[^.;)]{0,40}", re.IGNORECASE)
# A German-speaking market speaks German; the applicant need not.
_OTHER_SPEAKERS = re.compile(
    r"\s(?:jobs?|countr\w+|markets?|regions?|world|customers?|clients?|audience|communit\w+)\b", re.IGNORECASE
)
_CLAUSE_END = re.compile(r";|\.\s|,?\s(?:but|while|whereas|aber)\s", re.IGNORECASE)


@lru_cache(maxsize=4)
def languages_demanded(text: str) -> tuple[LanguageDemand, ...]:
    """Each demand of the text, once; languages joined by "or" are one demand that any of them meets."""
    demands: dict[tuple[str, ...], LanguageDemand] = {}
    low = text[:MAX_TEXT].casefold()
    named = [name for name in BY_NAME if name in low]
    for sentence in sentences_of(text) if named else ():
        if not sentence.has_any(named):
            continue
        for codes, is_required in _in_sentence(sentence):
            known = demands.get(codes)
            if known is None or (is_required and not known.is_required):
                demands[codes] = LanguageDemand(codes, sentence.text, is_required)
    return tuple(demands.values())


def _in_sentence(sentence: Sentence) -> list[tuple[tuple[str, ...], bool]]:
    """Runs of language names ("English and German"), where something says that they are to be spoken."""
    if _NOT_NEEDED.search(sentence.text):
        return []
    found: list[tuple[tuple[str, ...], bool]] = []
    runs = _runs(sentence.text)
    was_skill = False
    for number, run in enumerate(runs):
        before = sentence.text[runs[number - 1][-1].end() if number else 0 : run[0].start()]
        after = sentence.text[run[-1].end() : runs[number + 1][0].start() if number + 1 < len(runs) else None]
        was_skill = (
            _is_skill(run[-1], before, after)
            or any(_SKILL_AFTER.search(joint) for joint in _joints(sentence.text, run))
            or (was_skill and bool(_AND_ONE_OF.match(before)))
        )
        if not was_skill:
            continue
        after = _OTHERS_ASIDE.sub(" ", after)
        said = f"{_CLAUSE_END.split(before)[-1][-40:]} {_CLAUSE_END.split(after)[0]}"
        is_required = sentence.section != "preferred" and not _A_PLUS.search(said)
        found += [(codes, is_required) for codes in _choices(sentence.text, run, before)]
    return found


def _choices(text: str, run: list[re.Match[str]], before: str) -> list[tuple[str, ...]]:
    """What a run demands: each of "A and B", any of "A or B", of "A and B or C" the first and a choice."""
    codes = tuple(dict.fromkeys(BY_NAME[match[1].casefold()] for match in run))
    if _ALL_OF.search(before):
        return [(code,) for code in codes]
    if _ANY_OF.search(before):
        return [codes]
    if not _is_either(text, run):
        return [(code,) for code in codes]
    for place, pair in enumerate(pairwise(run), 1):
        if _AND.search(_between(text, *pair)) and not _EITHER.search(_between(text, *pair)):
            return [*_choices(text, run[:place], ""), *_choices(text, run[place:], "")]
    return [codes]


def _is_either(text: str, run: list[re.Match[str]]) -> bool:
    return any(_EITHER.search(joint) for joint in _joints(text, run))


def _joints(text: str, run: list[re.Match[str]]) -> list[str]:
    return [_between(text, *pair) for pair in pairwise(run)]


def _is_skill(last: re.Match[str], before: str, after: str) -> bool:
    if last["rest"] and _OTHER_SPEAKERS.match(after):
        return False
    if last["rest"] or _SKILL_AFTER.search(after[:40]):
        return True
    return bool(_SKILL_BEFORE.search(before[-60:])) and not _ADJECTIVE.search(after)


def _runs(text: str) -> list[list[re.Match[str]]]:
    """The language names of a sentence; names that only "and", "or" or a comma part stand in one run.

    Names with a level between them do so only where they are a choice: of "German (C1), English (a plus)"
    each is judged by itself.
    """
    names = [
        match for match in _MENTION.finditer(text) if not (match[1][0].islower() and _needs_capital(match[1]))
    ]
    return [
        run
        for group in _grouped(text, names, _LEVEL_JOINT)
        for run in ([group] if _is_either(text, group) else _grouped(text, group, _LIST_JOINT))
    ]


def _grouped(text: str, names: list[re.Match[str]], joint: re.Pattern[str]) -> list[list[re.Match[str]]]:
    runs: list[list[re.Match[str]]] = []
    for name in names:
        if runs and joint.match(_between(text, runs[-1][-1], name)):
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _between(text: str, first: re.Match[str], second: re.Match[str]) -> str:
    return text[first.end() : second.start()]


def _needs_capital(name: str) -> bool:
    """English names are written with a capital; without it "polish" is a verb. French and Spanish are not."""
    return name.casefold() in {names[0].casefold() for names in NAMES.values()}


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The text is in a language the person works in, and demands no other."""
    if not criteria.languages:
        return Step(RULE, "skip", "no working language asked for")
    spoken = set(criteria.languages)
    for demand in languages_demanded(snapshot.text):
        if demand.is_required and not spoken & set(demand.codes):
            named = " or ".join(name_of(code) for code in demand.codes)
            return Step(RULE, "reject", f"{named} is demanded", demand.sentence)
    written = language_of(snapshot.text)
    if written == UNKNOWN:
        return Step(RULE, "unknown", "the language of the posting is not clear")
    if written not in spoken:
        return Step(RULE, "reject", f"it is written in {name_of(written)}", _sample(snapshot.text))
    return Step(RULE, "pass", f"it is written in {name_of(written)} and demands no other language")


def _sample(text: str) -> str:
    return next((sentence.text for sentence in sentences_of(text) if len(sentence.text.split()) >= 5), "")
