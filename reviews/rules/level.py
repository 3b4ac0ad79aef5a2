"""The level of a role, from its title first: only a word that qualifies the role counts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reviews.criteria import LEVEL_WORDS, LEVELS, Criteria, Level
from reviews.question import Snapshot, Step, StepOutcome
from reviews.rules.experience import ExperienceFact, experience_in
from reviews.rules.sentences import sentences_of
from reviews.rules.titles import ROLE_NOUNS, Title, title_of, word_set, words_of

RULE = "level"

_ROLE = "(?:" + "|".join(sorted(ROLE_NOUNS, key=len, reverse=True)) + ")s?"
_RANKED = (
    r"(?:professor|dean|director|(?:general )?counsel|vice president|vp|provost|principal|partner|chair"
    r"|editor|chief)"
)
_CRAFT = r"(?:engineer|developer|scientist|designer|architect|programmer|researcher|manager|sre|sde|swe)s?\b"
_UP_TO = r"(?=\s(?:[\w+#&/.-]+\s){0,4}?"  # the word qualifies a role that follows within a few words


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


def _after_hyphen(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)  # "Engineer-Intern"


# Tried on the head in this order; a stretch that one pattern took is not read again by a later one.
PATTERNS: tuple[tuple[re.Pattern[str], Level | None], ...] = (
    # Roles that look after interns and graduates, or that share a level's word, say nothing.
    (
        _word(
            r"(?:intern(?:ship)?|graduate|grad|early careers?|student|new grads?|trainee"
            r"|apprentice(?:ship)?)s?\s(?:programs?\s|programmes?\s)?(?:managers?|coordinators?"
            r"|recruit\w*|leads?|supervisors?|directors?|specialists?|success|admissions?|school|studies"
            r"|education|advisors?|affairs|services|life|experience|financial|housing)"
        ),
        None,
    ),
    (
        _word(
            r"junior (?:high|college|school)|middle (?:school|market|east\w*|office)"
            r"|senior (?:living|care|cent\w+|housing|citizens?|services|communit\w+|home|helpers?"
            r"|wellness)|leads? (?:gen\w*|qualif\w*|management|nurtur\w*|scoring|conversion)"
            r"|mid[- ](?:market|size\w*|atlantic|west\w*|office|day|shift|town|cap)|data entry"
            r"|art director|(?:funeral|casting|stage) director|stage (?:manager|hand|crew|technician)"
            r"|(?:assistant|vice|school) principal|chief of staff|executive assistant|account executive"
        ),
        None,
    ),
    (
        _after_hyphen(
            r"interns?|internships?|co-?op|(?:industrial |student )?placement (?:student|year)"
            r"|work(?:ing)?[- ]students?|summer (?:analyst|associate|fellow)|apprentice(?:ship)?s?"
            r"|student (?:assistant|worker|researcher|job|engineer|developer)"
            r"|(?:pflicht)?praktik(?:um|ant|antin)|werkstudent(?:in)?|stagiaires?|stagist[ai]"
            r"|tirocini\w+|alternan(?:ce|te?)|apprenti(?:e|ssage)?|becari[oa]|pr[áa]cticas"
            r"|pasant(?:e|[ií]a)|est[áa]gi(?:[oa]|[áa]ri[oa])|afstudeerstage|praktykant\w*|praktyki"
            r"|sta[żz](?:ysta|ystka)?|ausbildung|azubi|auszubildende[rn]?|duales studium"
            r"|(?:master|bachelor)(?:['\u2019]s)? thesis|(?:master|bachelor|abschluss)arbeit"
            r"|studentermedhjælper|インターン|인턴|实习生?"
        ),
        "intern",
    ),
    (
        re.compile(
            r"^stage(?=$|\s(?!\d)(?:en|de|data|d[ée]velopp\w+|ing[ée]nieur\w*|marketing|assistant\w*|m\d))",
            re.IGNORECASE,
        ),
        "intern",
    ),
    (_word(rf"(?:associate|assistant|deputy) (?:\w+ )?{_RANKED}(?<!assistant professor)"), "senior"),
    (_word(r"associate (?:attorney|dentist|veterinarian|physician|optometrist|broker|pastor)"), None),
    (_word(r"senior associate"), "senior"),
    (
        _word(
            r"j[uú]nior(?:entwickl\w*|ingenieur\w*|berater\w*)?-?|jn?r\.?"
            r"|entry[- ]level|new[- ]?(?:college[- ])?grad(?:uate)?s?"
            r"|(?:recent |university )?graduates?|grad|early[- ]careers?|early[- ]in[- ]career|trainees?"
            r"|freshers?|associates?|berufseinsteiger(?:in)?|absolvent(?:in|en)?|einsteiger"
            r"|d[ée]butante?|m[łl]odszy|nachwuchs\w*|starter"
        ),
        "entry",
    ),
    (_word(r"mid[- ]?(?:level|dle|senior)?(?: level)?|middle|intermediate|confirm[ée]e?|pleno"), "mid"),
    (_word(r"avp"), "senior"),
    (
        _word(
            r"managing director|(?:senior |executive )?(?:director|vice president)|[se]?vp|head of"
            r"|chief (?:\w+ ){1,2}officer|c[etfoim]o|ciso|president|managing partner"
            r"|gesch[äa]ftsf[üu]hr\w+|direct(?:eur|rice|ora?)|direktor(?:in)?|direttore"
        ),
        "executive",
    ),
    (
        _word(
            rf"(?:staff|(?:sr\.? |senior )staff){_UP_TO}{_CRAFT})|principal{_UP_TO}{_ROLE}\b)"
            rf"|distinguished{_UP_TO}{_ROLE}\b)"
            r"|technical fellow"
        ),
        "lead",
    ),
    (_word(rf"lead{_UP_TO}{_ROLE}\b)"), "senior"),
    (
        _word(
            r"leads?|team ?lead(?:er)?|teamleit(?:er|erin|ung)"
            r"|(?:engineering|software(?: development| engineering)?|data science|design|team|group"
            r"|senior|sr\.?|research) managers?|supervisors?|leiter(?:in)?|managers? of"
        ),
        "lead",
    ),
    (re.compile(r"^managers?$", re.IGNORECASE), "lead"),
    # Chinese, Japanese and Korean write no spaces: "シニアエンジニア".
    (re.compile(r"新卒採用|シニア(?:ケア|向け)"), None),
    (re.compile(r"インターン(?!ナ)|인턴|实习"), "intern"),
    (re.compile(r"ジュニア|新卒|新人|未経験|初级|应届|주니어|신입"), "entry"),
    (re.compile(r"ミドル(?!ウェア)|中级|中堅|미들(?!웨어)"), "mid"),
    (re.compile(r"シニア|高级|资深|시니어|선임"), "senior"),
    (_word(r"s[eéê]nior(?:entwickl\w*|ingenieur\w*|berater\w*)?-?|snr\.?|sr\.?|sen\."), "senior"),
)
_NUMERAL = re.compile(
    rf"\b(?i:{_ROLE},?[\s-](?:level\s)?)(I{{1,3}}|I?V|[1-5])(?:\s?[/&-]\s?(I{{1,3}}|I?V|[1-5]))?(?=$"
    rf"|[,;:)|\u2013-]|\s[-\u2013|(/]|\s[A-Z])",
)
_NUMERALS: dict[str, Level] = {
    **{"I": "entry", "II": "mid", "III": "senior", "IV": "senior", "V": "lead"},
    **{"1": "entry", "2": "mid", "3": "senior", "4": "senior", "5": "lead"},
}
# "Junior/Senior" offers both; "Senior Engineering Manager" is one level, the highest of its words.
_CHOICE = re.compile(
    r"[\s.)]*(?:/|\bor\b|\bto\b|\band\b|&|-|\u2013|\boder\b|\bbis\b|\bou\b|\bà\b|,)[\s(]*", re.IGNORECASE
)
# What may stand beside a level in a part that says only the level: "Summer Internship 2027 (6 months)".
_FILLERS = word_set(
    """
    program programme summer winter spring fall autumn season months month years level role position
    opportunity paid full part time remote hybrid onsite us usa uk the of and or class start off cycle
    semester
    """
)
_ALL_LEVELS = re.compile(r"\b(?:all|any|multiple|various|different) levels\b", re.IGNORECASE)
# "Software Engineer, Summer Undergraduate Intern": the part is an internship, whatever else it says.
_ENDS_AS_INTERN = re.compile(
    r"(?<!\w)(?:intern(?:ship)?|co-?op"
    r"|apprentice(?:ship)?)(?: program(?:me)?)?(?:\s(?:summer|winter|spring|fall|autumn|20\d\d))*$",
    re.IGNORECASE,
)
_STARTS_OUT = re.compile(
    r"\b(?:entry[- ]level|new (?:college )?grad(?:uate)?s?|early careers?"
    r"|(?:university|recent|college) graduates?)\b",
    re.IGNORECASE,
)
_LOOKS_AFTER = re.compile(r"\b(?:recruit\w*|talent|campus|program manager|coordinator)\b", re.IGNORECASE)
_LEVEL_WORD = (
    r"(internship|entry[- ]level|junior|graduate|new[- ]grad|early[- ]career|mid[- ]level|senior|staff"
    r"|principal)"
)
_IN_TEXT = re.compile(
    rf"\b(?:this|the|our)\s(?:is\s)?(?:an?\s)?(?:[\w-]+,?\s){{0,2}}?{_LEVEL_WORD}\s(?:[\w/-]+\s){{0,3}}?"
    r"(?:role|position|opportunity|job|program(?:me)?)\b"
    rf"|\b(?:seeking|hiring|looking\sfor|searching\sfor|join\sus\sas"
    rf"|as)\san?\s(?:[\w-]+,?\s){{0,2}}?{_LEVEL_WORD}\s(?:[\w/-]+\s){{0,3}}?{_ROLE}\b",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"^(?:(?:seniority|career|experience|job|position)?\s?level|seniority)\s?[:\u2013-]\s?"
    r"(intern|entry|junior|mid[- ]senior|mid|senior|lead|staff)",
    re.IGNORECASE,
)
_TEXT_CUES = ("level", "intern", "junior", "grad", "early", "senior", "staff", "principal")
_NEGATED = re.compile(r"\b(?:not|no longer|never)\b|n['\u2019]t\b", re.IGNORECASE)
# From the years that a posting demands to the levels it may mean, where no word says it.
YEARS_TO_LEVELS: tuple[tuple[float, tuple[Level, ...]], ...] = (
    (1, ("entry",)),
    (2, ("entry", "mid")),
    (4, ("mid",)),
    (7, ("mid", "senior")),
    (99, ("senior", "lead")),
)


@dataclass(frozen=True, slots=True)
class LevelFact:
    """The levels a posting is open to, lowest first; none when it does not say. `phrase` is verbatim."""

    levels: tuple[Level, ...] = ()
    phrase: str = ""

    @property
    def level(self) -> Level | None:
        """The highest level named."""
        return self.levels[-1] if self.levels else None


def level_of(title: str, text: str = "") -> LevelFact:
    """The level in the title; only where it names none, the level that a sentence gives the role."""
    if levels := _in_title(title_of(title)):
        return LevelFact(levels, title)
    for sentence in sentences_of(text):
        if not sentence.has_any(_TEXT_CUES):
            continue
        match = _STATED.search(sentence.text) or _IN_TEXT.search(sentence.text)
        if match and not _NEGATED.search(sentence.text[: match.end()]):
            word = next(filter(None, match.groups())).replace(" ", "-").casefold()
            read = _in_part({"internship": "intern", "entry": "junior"}.get(word, word) + " engineer")
            return LevelFact(_sorted(read), sentence.text)
    return LevelFact()


def _in_title(title: Title) -> tuple[Level, ...]:
    if _ALL_LEVELS.search(title.plain):
        return ("entry", "mid", "senior", "lead")
    found = _in_part(title.head)
    if not _LOOKS_AFTER.search(title.head):
        is_junior = not found & {"senior", "lead", "executive"}
        for qualifier in title.qualifiers:
            if _ENDS_AS_INTERN.search(qualifier):
                found.add("intern")
            elif is_junior and _STARTS_OUT.search(qualifier):
                found.add("entry")
            elif is_junior and _says_only_level(qualifier):
                found |= _in_part(qualifier)
    return _sorted(found or _numerals(title.plain))


def _sorted(levels: set[Level]) -> tuple[Level, ...]:
    return ("intern",) if "intern" in levels else tuple(level for level in LEVELS if level in levels)


def _in_part(part: str) -> set[Level]:
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, int, Level]] = []
    for pattern, level in PATTERNS:
        for match in pattern.finditer(part):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            if level is not None:
                found.append((*match.span(), level))
            if level == "mid" and "senior" in match[0].casefold():
                found.append((match.end(), match.end(), "senior"))
    return _one_a_choice(part, sorted(found))


def _one_a_choice(part: str, found: list[tuple[int, int, Level]]) -> set[Level]:
    chosen: list[Level] = []
    last_end = 0
    for start, end, level in found:
        is_choice = start == last_end or _CHOICE.fullmatch(part[last_end:start])
        chosen.append(level if is_choice or not chosen else max(level, chosen.pop(), key=LEVELS.index))
        last_end = end
    return set(chosen)


def _numerals(title: str) -> set[Level]:
    match = _NUMERAL.search(title)
    return {_NUMERALS[numeral] for numeral in match.groups() if numeral} if match else set()


def _says_only_level(part: str) -> bool:
    """Whether a qualifier is a level and nothing else: "Mid-Level", "Junior", not "Lead Generation"."""
    rest = part
    for pattern, _ in PATTERNS:
        rest = pattern.sub(" ", rest)
    words = words_of(rest)
    return rest != part and all(word in _FILLERS or word in ROLE_NOUNS or word.isdigit() for word in words)


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The level named by the posting, or the one that the years it demands amount to, is among the wanted."""
    if not criteria.levels:
        return Step(RULE, "skip", "no level asked for")
    fact = level_of(snapshot.title, snapshot.text)
    if snapshot.employment_type == "internship" and not fact.levels:
        fact = LevelFact(("intern",))
    if not fact.levels:
        return _by_years(criteria, experience_in(snapshot.text))
    said = " or ".join(LEVEL_WORDS[level] for level in fact.levels)
    if set(fact.levels) & set(criteria.levels):
        return Step(RULE, "pass", f"the level is {said}", fact.phrase)
    return Step(RULE, "reject", f"the level is {said}", fact.phrase)


def _by_years(criteria: Criteria, demand: ExperienceFact) -> Step:
    if demand.min_years is None or not demand.is_required:
        return Step(RULE, "unknown", "no level is stated")
    years = demand.min_years
    levels = next(levels for most, levels in YEARS_TO_LEVELS if years <= most)
    said = f"no level is stated; {demand.words()} is {' or '.join(LEVEL_WORDS[level] for level in levels)}"
    outcome: StepOutcome = "pass" if set(levels) & set(criteria.levels) else "reject"
    return Step(RULE, outcome, said, demand.sentence)
