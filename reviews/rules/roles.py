"""Whether a title names a wanted role: whole words, whatever the hyphens, plurals and common other names."""

from __future__ import annotations

import re
from functools import lru_cache

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.role_names import (
    COVERS,
    ENGINEER_WORDS,
    EVERYDAY_NAMES,
    LANGUAGES,
    NO_SOFTWARE,
    SAME_WORD,
    SAME_WORDS,
    TECH_WORDS,
)
from reviews.rules.sentences import sentences_of
from reviews.rules.titles import ROLE_NOUNS, Title, has_role_noun, plain_of, singular, title_of, word_set

RULE = "role"

# C++, C#, .NET and R&D are words; so are runs of letters and digits in any script.
_TOKEN = re.compile(
    r"(?:(?<!\w)|(?<=asp)|(?<=vb)|(?<=ado))\.net\b|[^\W_]+(?:&[^\W_]+|\+\+|#)?", re.IGNORECASE
)
_SPACED_AND = re.compile(r"\b([a-z])\s&\s([a-z])\b", re.IGNORECASE)  # "R & D"
_SAME_WORDS = tuple((" ".join(map(singular, written.split())), same) for written, same in SAME_WORDS)
_LISTED = re.compile(r"\s(?:roles?|jobs?|positions?|vacanc(?:y|ies))$")
# May stand inside a role's name without changing it: "Backend Software Engineer II" is a backend engineer.
_NEUTRAL = word_set("software senior sr junior jr lead staff principal i ii iii iv")
_OTHER_ROLES = (
    ROLE_NOUNS - word_set("intern internship lead trainee apprentice student") - frozenset(ENGINEER_WORDS)
)
_TRAINEES = word_set(
    "intern internship trainee apprentice apprenticeship student coop werkstudent praktikant"
)
_SOFTWARE_FIELDS = word_set("software frontend backend fullstack mobile ios android web devops platform ml")
_BESIDE_FIELD = (
    _TRAINEES
    | (_NEUTRAL - {"software"})
    | word_set("tech technical team leader working summer winter spring fall autumn program programme")
)
_NOT_A_LANGUAGE_BEFORE = re.compile(
    r"(?:\b(?:to|you|we|they|will|can|must|let|please|and then|i|s|series|class|grade"
    r"|vitamin|hepatitis)\s)$",
    re.IGNORECASE,
)
_NOT_A_LANGUAGE_AFTER = re.compile(
    r"^(?:[- ]to\b|-(?:level|suite)\b"
    r"|\s(?:ahead|further|beyond|live|through|above|for|on|back|out|with|into|over)\b"
    r"|['\u2019&.][a-z])",
    re.IGNORECASE,
)
_SAID_OF_A_LANGUAGE = re.compile(
    r"\b(?:in|using|uses?|used|with|like|as|know|knowledge of|learn|write|code|include|including"
    r"|language|is|of)\s$",
    re.IGNORECASE,
)
# In small letters a language needs more: "written in go", "go programming", "python, go, rust".
_SMALL_BEFORE = re.compile(
    r"\b(?:written|coded|built|developed|programmed|implemented|experienced?|proficien(?:t|cy)|fluent"
    r"|expertise|programming|coding|skills?|develop(?:ing|ment)|code)\s(?:in|with)\s$",
    re.IGNORECASE,
)
_SMALL_AFTER = re.compile(r"^\s(?:programming|language|(?:micro)?services|developers?|engineers?)\b")
_LIST_BEFORE = re.compile(r"([^\W_]+[+#]*)\s?[,/]\s?$")
_LIST_AFTER = re.compile(r"^\s?[,/]\s?([^\W_]+[+#]*)")
# Titles under which an employer takes applications for any role.
_OPEN_TITLE = re.compile(
    r"\b(?:open|general|spontaneous|speculative|initiative) application\b|\binitiativbewerbung\b"
    r"|\bcandidature (?:spontanée|libre)\b|\bmember of (?:the )?technical staff\b"
    r"|\btalent (?:pool|community|network)\b|\bexpression of interest\b"
    r"|\bfuture (?:opportunities|openings)\b"
    r"|^(?:\d{4} )?(?:summer |graduate |trainee |early careers? )?(?:internships?|interns?|graduates?"
    r"|trainees?|program(?:me)?s?)(?: program(?:me)?s?)?(?: \d{4})?$|\bgraduate program(?:me)?\b",
    re.IGNORECASE,
)
_ROLE_CUES = (" a ", " an ", " our ", " the ")
_CALLS_ROLE = re.compile(
    r"\b(?:(?:seeking|hiring|looking for|searching for|join us as|join (?:our|the) team as|as|role of"
    r"|position of|you are)\s(?:an?|our|the)\s)",
    re.IGNORECASE,
)


def says(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` as whole words: "front end" is "front-end" and "frontend".

    A name that is an everyday word too ("Go", "R") needs a technical word beside it.
    """
    wanted = _tokens(phrase)
    if len(wanted) == 1 and wanted[0] in EVERYDAY_NAMES:
        return _names_language(wanted[0], _plain(text))
    return bool(wanted) and _found("".join(wanted), _tokens(text)) is not None


def _names_language(name: str, text: str) -> bool:
    if name == "go" and re.search(r"\bgolang\b", text, re.IGNORECASE):
        return True
    if name in LANGUAGES and _names_in_small_letters(name, text):
        return True
    for match in re.finditer(rf"(?<![\w.-]){name.capitalize()}(?![\w+#])", text):
        before, after = text[: match.start()], text[match.end() :]
        if _NOT_A_LANGUAGE_AFTER.match(after) or _NOT_A_LANGUAGE_BEFORE.search(before[-12:]):
            continue
        beside = {*_TOKEN.findall(before[-40:].casefold())[-2:], *_TOKEN.findall(after[:40].casefold())[:2]}
        if beside & TECH_WORDS or _SAID_OF_A_LANGUAGE.search(before[-20:]):
            return True
    return False


def _names_in_small_letters(name: str, text: str) -> bool:
    for match in re.finditer(rf"(?<![\w.&-]){name}(?![\w+#&-])", text):
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 40]
        if _NOT_A_LANGUAGE_AFTER.match(after) or _NOT_A_LANGUAGE_BEFORE.search(before[-12:]):
            continue
        beside = _LIST_BEFORE.findall(before.casefold()) + _LIST_AFTER.findall(after.casefold())
        if TECH_WORDS.intersection(beside) or _SMALL_BEFORE.search(before) or _SMALL_AFTER.match(after):
            return True
    return False


def _plain(text: str) -> str:
    return _SPACED_AND.sub(r"\1&\2", plain_of(text))


def _tokens(text: str) -> list[str]:
    """The words of `text` in the one form that names are compared in."""
    words = " ".join(singular(word) for word in _TOKEN.findall(_plain(text).casefold()))
    spaced = f" {words} "
    for written, same in _SAME_WORDS:
        spaced = spaced.replace(f" {written} ", f" {same} ")
    return [SAME_WORD.get(word, word) for word in spaced.split()]


def _found(joined: str, tokens: list[str]) -> int | None:
    """Where a run of whole tokens that spells `joined` ends; None where there is none."""
    for start in range(len(tokens)):
        spelled = ""
        for end in range(start, len(tokens)):
            spelled += tokens[end]
            if spelled == joined:
                return end + 1
            if not joined.startswith(spelled):
                break
    return None


@lru_cache(maxsize=1024)
def _names_of(role: str) -> tuple[str, ...]:
    """Every name that meets a wanted role, joined: itself, what it covers, developer for engineer."""
    asked = " ".join(_tokens(_LISTED.sub("", role.casefold())))
    alike = [asked, *(asked.replace(f" {word}", " engineer") for word in ENGINEER_WORDS[1:])]
    names = [*alike, *(name for other in alike for name in COVERS.get(other, ()))]
    spelled = []
    for name in names:
        words = _tokens(name)
        spelled.append("".join(words))
        if len(words) > 1 and words[-1] in ENGINEER_WORDS:
            spelled += ["".join([*words[:-1], other]) for other in ENGINEER_WORDS]
    return tuple(dict.fromkeys(filter(None, spelled)))


def _orders(title: Title) -> list[list[str]]:
    """The orders in which a title's words may spell a role: "Engineer, Backend" is a backend engineer."""
    head = _tokens(title.head)
    orders = [head, *([*_tokens(qualifier), *head] for qualifier in title.qualifiers)]
    if head and head[0] in ENGINEER_WORDS:
        orders.append([*head[1:], head[0]])
    return orders


def _variants(title: Title) -> list[list[str]]:
    """The orders, and each of them without the words that change no role."""
    orders = _orders(title)
    return orders + [[word for word in order if word not in _NEUTRAL] for order in orders]


def names_role(role: str, title: str) -> bool | None:
    """True when the title names the role, None when only beside another role, False when it does not."""
    parts = title_of(title)
    if len(_tokens(role)) == 1 and _tokens(role)[0] in EVERYDAY_NAMES:
        return says(role, title)
    beside = False
    names = _names_of(role)
    for order in _variants(parts):
        for name in names:
            end = _found(name, order)
            if end is None:
                continue
            if not _other_role(order[end:]):
                return True
            beside = True
    is_open = (
        beside
        or _may_be_engineer(parts, names)
        or _may_be_junior_or_lead(parts, names)
        or any(says(role, part) for part in parts.qualifiers)
    )
    return None if is_open else False


def _may_be_engineer(title: Title, names: tuple[str, ...]) -> bool:
    """Whether a kind of engineer is wanted and the title is "Engineer", or some unlisted developer.

    "Software Engineer" is a role of its own: somebody who wants data engineers has not named it.
    """
    if not any(name.endswith(ENGINEER_WORDS) for name in names):
        return False
    words = _tokens(title.head)
    kinds = [word for word in words if word not in _NEUTRAL]
    if len(kinds) == 1:
        return kinds[0] in ENGINEER_WORDS and "software" not in words
    is_developer = bool(kinds) and kinds[-1] in ENGINEER_WORDS[1:] and not NO_SOFTWARE & set(kinds)
    return is_developer and "softwaredeveloper" in names


def _may_be_junior_or_lead(title: Title, names: tuple[str, ...]) -> bool:
    """Whether the title names only the field of a wanted role: "Software Intern", "Frontend Tech Lead"."""
    for order in _orders(title):
        is_tech_lead = "lead" in order and bool({"tech", "technical"} & set(order))
        is_lead = is_tech_lead or ("lead" in order and bool(_SOFTWARE_FIELDS & set(order)))
        if not (is_lead or _TRAINEES & set(order)):
            continue
        field = [word for word in order if word not in _BESIDE_FIELD and not word.isdigit()]
        spelled = "".join(field)
        if is_tech_lead and field in ([], ["software"]) and "softwareengineer" in names:
            return True
        if spelled and any(name.startswith(spelled) or name.endswith(spelled) for name in names):
            return True
    return False


def _other_role(rest: list[str]) -> bool:
    """Whether the words after a role's name turn it into another: "Software Engineering Manager"."""
    return any(word in _OTHER_ROLES for word in rest)


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The title names a wanted role; failing that, what the text calls the role only makes it unknown."""
    if not criteria.roles:
        return Step(RULE, "skip", "no role asked for")
    named = {role: names_role(role, snapshot.title) for role in criteria.roles}
    title = snapshot.title
    if met := [role for role, is_named in named.items() if is_named]:
        literal = next((role for role in met if says(role, title)), "")
        said = f"the title names “{literal}”" if literal else f"the title counts as “{met[0]}”"
        return Step(RULE, "pass", said, title)
    if beside := [role for role, is_named in named.items() if is_named is None]:
        return Step(RULE, "unknown", f"the title may mean “{beside[0]}”, among others", title)
    return _in_text(criteria.roles, snapshot)


def _in_text(roles: tuple[str, ...], snapshot: Snapshot) -> Step:
    is_open = bool(_OPEN_TITLE.search(snapshot.title)) and not has_role_noun(title_of(snapshot.title).head)
    for sentence in sentences_of(snapshot.text):
        calls_so = _CALLS_ROLE.search(sentence.text) if sentence.has_any(_ROLE_CUES) else None
        if not (calls_so or is_open):
            continue
        told = sentence.text[calls_so.end() : calls_so.end() + 60] if calls_so else sentence.text
        if role := next((role for role in roles if says(role, told)), ""):
            return Step(RULE, "unknown", f"the title does not name “{role}”, the text does", sentence.text)
    if is_open:
        return Step(RULE, "unknown", "the title names no role", snapshot.title)
    asked = " or ".join(f"“{role}”" for role in roles[:3])
    return Step(RULE, "reject", f"the title does not name {asked}", snapshot.title)
