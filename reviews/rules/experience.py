"""The years of experience that a posting demands.

Which figure counts, when a text holds several:

1. Only figures that demand something of the applicant: not the age of the company, of people or of degrees,
   not the length of a contract, not what the team has together.
2. A figure called preferred, or standing under such a heading, is kept only where nothing is required.
3. "... including at least 2 years of X" is a specialty within the figure before it.
4. Alternatives by degree ("5 years with a Bachelor's, or 3 with a Master's") demand the least of them; a
   sentence about what counts "in lieu of" something is not a demand.
5. Of several demands that all hold, the largest minimum is the demand; the smaller ones are specialties.

The demand of a range is its lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.experience_figures import DEGREE, EXPERIENCE, WORDS, figures, years_of
from reviews.rules.language import UNKNOWN, language_of
from reviews.rules.sentences import Sentence, sentences_of

RULE = "experience.max_years"
MOST_FIGURES = 6  # read of one sentence
WINDOW = 160  # characters before and after a figure that tell what it is of
MOST_YEARS = 20  # what a posting may credibly demand; more is an anniversary
# Where these words find no figure there is none. Others are read where it is cheap; a text too short or mixed
# to have a language is taken for one of these.
READ = frozenset({"en", "de", "fr", "es", "it", "pt", "nl", "pl", UNKNOWN})

_MARKUP = re.compile(r"\*+|\\(?=[-+.~\u2013])|\b_+|_+\b")
_CEILING = re.compile(
    r"(?:\bup to|\bno more than|\bless than|\bfewer than|\bunder|\bmax(?:imum|imal|\.)?(?: of)?"
    r"|\bat most|\bbis zu|\bhöchstens|<|≤|\bjusqu['\u2019]à|\bhasta)\s?$",
    re.IGNORECASE,
)
# Said after the figure: of what the years are. A role or an activity counts as experience.
_AFTER = re.compile(
    rf"^.{{0,80}}?(?:{EXPERIENCE}|\bbackground\b)"
    r"|^['\u2019]?\s(?:of\s)?(?:[\w/+#.-]+\s){0,3}?(?:in|as|with|working|building|developing|designing"
    r"|leading|managing|writing|shipping|coding|running|operating|delivering|selling|teaching|doing"
    r"|creating|supporting|owning|using|administering|professional(?:ly)?|hands[- ]on|relevant|related"
    r"|industry|commercial|post[- ]\w+|practical|practice|software|work)\b"
    r"|^['\u2019]?\sof\s(?:[\w/+#.-]+\s){0,3}?(?:development|engineering|design|management|programming"
    r"|sales|marketing|administration|research|consulting|testing|support|analysis|analytics"
    r"|operations|leadership|accounting|recruit\w+|science|architecture|writing|finance)\b"
    # nothing need follow: "8+ years required", "8 years minimum."
    r"|^\s(?:(?:is|are)\s)?(?:required|needed|mandatory|a must|or more\W*$|min\.?\W|minimum(?!\s[a-z]))",
    re.IGNORECASE,
)
# "with 8+ years.", "Java (8+ years)": the plus says that more would be welcome.
_NOTHING_AFTER = re.compile(r"^['\u2019]?\s?(?:\)|[.,;!]?\s?$)")
_NOT_A_DEMAND_BEFORE = re.compile(
    r"\b(?:for|of|over|tenure|length|runs?|running|lasts?|every|ages?|aged)\s?:?\s?[(]?$", re.IGNORECASE
)
_BEFORE = re.compile(
    rf"(?:{EXPERIENCE}(?:(?:\s(?:required|needed|level|requirements?))?\s?[:\u2013-]\s?"
    rf"|[^.;:]{{0,50}}\s(?:of|is|required|level:?|from|for|de|von|di)\s|\s?\((?:[\w+]+\s){{0,2}})"
    r"(?:a |the )?(?:min(?:imum|\.)?\s|at least\s)?(?:of\s)?|\byoe:?\s)$",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"\b(?:minimum|min\.?|at least|atleast|requires?|required|requirements?|must|need(?:s|ed)?"
    r"|you(?:['\u2019](?:ve|ll|re))?|your|candidates?|applicants?|looking for|seeking|qualifications?"
    r"|qualified|should|possess\w*|bring|expect(?:s|ed)?|ideally|who ha(?:s|ve)|ask(?:s|ing)? for|want(?:s"
    r"|ed)?"
    r"|(?:some|any)(?:one|body)|person|people (?:with|who)|room for|openings? for|hir(?:e|es|ing)|mindestens"
    r"|mehrjährige|du |sie |au moins|minimum de|al menos|mínimo|almeno|minimaal)\b",
    re.IGNORECASE,
)
# Said right before the figure, it needs no "experience" after it: "minimum of 3 years in Java".
_DEMAND_HERE = re.compile(
    r"(?:\b(?:minimum|at ?least|requires?|mindestens|au moins|al menos|mínimo|almeno|minimaal)"
    r"|\bmin\.?|\b(?:must|should|you|to) have|^\W*(?:between|zwischen|entre|tra|fra|tussen|od|mellan))"
    r"\s(?:of\s|de\s)?$",
    re.IGNORECASE,
)
# Whose years they are when not the applicant's: the employer HAS them. A demand said later goes before.
_OTHERS = re.compile(
    r"\b(?:we|wir|nous)(?:['\u2019](?:ve|re)|\s(?:\w+\s){0,2}?(?:are|were|ha(?:ve|d)|bring|boast|built|spent"
    r"|share"
    r"|combine|leverage|draw|haben|sind|avons|sommes))\b"
    r"|\b(?:our|company|firm|co-?founders?|founders?|team|leaders?|colleagues|cooperative|client|unser\w*"
    r"|notre)"
    r"\b[^.;:]{0,50}?\b(?:ha(?:s|ve|d)|with|brings?|boasts?|spent|built|combin\w+|shares?|hat|haben|a)\b"
    r"|\b(?:our|team of|unser\w*|notre)(?=\s(?:(?:over|more than|combined|collective|nearly|almost)\s){0,2}$)"
    r"|\bc[etof]o\b(?=\s?:|[^.;:]{0,30}\b(?:has|with|brings?)\b)",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:founded|organi[sz]ation|has been|have been|was|were|been|history|established|since|seit"
    r"|depuis|(?:for|with) (?:more than|over|nearly|almost|the))\b",
    re.IGNORECASE,
)
_NOT_EXPERIENCE_AFTER = re.compile(
    r"^['\u2019]?\s?(?:(?:of )?(?:fully )?paid|(?:parental |sick )?leave|of age|or older|and older"
    r"|of service|old|of (?:[\w-]+\s){0,2}residen\w+|(?:in|on|of|with) (?:our|the"
    r"|an?) (?:[\w-]+\s){0,3}(?:program(?:me)?|rotation"
    r"|scheme|apprenticeship|traineeship|academy|fellowship)s?\b|ago|in business|in operation|of operation"
    r"|of growth|of history"
    r"|of existence|of runway|anniversar\w*|vesting|cliff|contracts?|fixed|warranty|history|heritage"
    r"|program(?:me)?s?\b|degrees?|college|university|course|diploma|bachelor|term\b|commitment|rotation"
    r"|assignment|visa|in a row|running|maternity|paternity|parental|sabbatical|guarantee|from now|alt\b"
    r"|unbefristet|befristet|vertrag|probe|d['\u2019]existence|of (?:collective|combined|continuous)"
    r"|(?:collective|combined|cumulative)"
    r"|of (?:full[- ]time )?(?:college|university|study|studies|education|undergraduate))",
    re.IGNORECASE,
)
_NOT_EXPERIENCE_BEFORE = re.compile(
    r"(?:\b(?:in|within|over|during|for|of) the (?:last|past|next|first|coming)"
    r"|\b(?:last|past|next|first|every|after|once|spend|based on|builds? on|built on|backed by|thanks to"
    r"|per|combined|collective|cumulative|aged?"
    r"|vest(?:s|ing)?(?: over)?|contract(?: of| for)?|duration|laufzeit|period of|term of|commitment of"
    r"|(?:be|are|is|turned) (?:at least|over|a minimum of))|\bage(?: of)?|\bper|celebrat\w+)\s?:?\s?[(]?$",
    re.IGNORECASE,
)
# "Within 2 years of hire" is a deadline; "within 8 years of sales experience" is not.
_DEADLINE_BEFORE = re.compile(r"\bwithin\s(?:the\s)?$", re.IGNORECASE)
_OF_EXPERIENCE = re.compile(rf"^['\u2019]?\s(?:of\s)?(?:[\w/+#.-]+\s){{0,4}}?{EXPERIENCE}", re.IGNORECASE)
_SPECIALTY = re.compile(
    r"(?:includ(?:ing|es?)|incl\.?|of which|with(?: at least| a minimum of)|davon|dont)\s(?:(?:at least"
    r"|a minimum of|minimum|min\.?|mindestens|au moins)\s)?$",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    rf"^['\u2019]?\s(?:of\s)?(?:(?:hands-on|direct|proven|relevant|professional|practical"
    rf"|prior)\s)*{EXPERIENCE}?\s?"
    r"(?:of|in|with|as|owning|working (?:with|on|in)|using"
    r"|building)?\s?(?P<topic>(?!(?:or|and|plus)\b)[\w/+#.&-]+(?:\s(?!within\b|\d)[\w/+#&-]+){0,3})",
    re.IGNORECASE,
)
# "Ideally 5 years", "5 years preferred"; but "5 years, preferably in banking" prefers the bank.
_PREFERRED_BEFORE = re.compile(
    r"\b(?:preferred|preferably|ideally|nice to have|bonus|desired|desirable|plus points?|advantage\w*"
    r"|idealerweise|idéalement|wünschenswert)\b[^.;]*$",
    re.IGNORECASE,
)
_PREFERRED_AFTER = re.compile(
    r"\b(?:preferred|(?:is |are |would be )?(?:an? )?(?:\w+ )?(?:plus|bonus|asset|advantage)|desired"
    r"|desirable|nice to have|von vorteil|wünschenswert|un plus|meriterande|歓迎|尚可|优先|優先|우대)"
    r"\s?[.)\]!。]?\s?$"
    r"|^['\u2019]?\s(?:\w+\s){0,2}preferred\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\((?!\s?(?:strongly |highly )?(?:preferred|desired|desirable|nice to have|a plus)\s?\))[^)]*\)"
)
_DEGREE = re.compile(rf"\b{DEGREE}\b", re.IGNORECASE)
# "MS with 6 years" and "6 years with an MS": the figure is what that degree needs.
_DEGREE_HERE = re.compile(
    rf"\b{DEGREE}\b(?:['\u2019]s?)?(?:\s(?:degree|in|of|[\w/]+)){{0,3}}?\s?(?:with|and|\+|plus|&|/|:)\s?"
    r"(?:at least\s|a minimum of\s)?$",
    re.IGNORECASE,
)
_DEGREE_NEXT = re.compile(rf"^[^,;]{{0,30}}\b(?:with|w/|\+)\s(?:an?\s)?{DEGREE}\b", re.IGNORECASE)
_IN_LIEU = re.compile(r"\b(?:equivalent combinations?|in lieu of|alternatively|in place of)\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b|\boder\b|/", re.IGNORECASE)
_COMMA = re.compile(r"[,;]")
_NONE_NEEDED = re.compile(
    r"\b(?:no|without|zero)\s(?:prior |previous |professional |work |relevant "
    r"|industry )*experience\s(?:is\s)?(?:required|needed|necessary|expected)"
    r"|(?:^|[;:(]\s?)(?:prior |previous |professional |work )*experience\s(?:is\s)?not\s(?:required"
    r"|needed|necessary)|\bkeine (?:berufs)?erfahrung (?:nötig|erforderlich|notwendig)"
    r"|\bno experience\.?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Specialty:
    topic: str
    min_years: float


@dataclass(frozen=True, slots=True)
class ExperienceFact:
    """Years demanded; None where a bound is not stated. `is_required` is False for a mere preference."""

    min_years: float | None = None
    max_years: float | None = None
    sentence: str = ""
    specialty: tuple[Specialty, ...] = ()
    is_required: bool = True

    def words(self) -> str:
        if self.max_years is not None:
            return f"{self.min_years:g} to {self.max_years:g} years of experience"
        return (
            f"{self.min_years:g} year{'' if self.min_years == 1 else 's'} of experience"
            if self.min_years
            else "no experience"
        )


@dataclass(frozen=True, slots=True)
class _Demand:
    fact: ExperienceFact
    topic: str
    start: int
    end: int
    is_part: bool  # a specialty within the figure before it
    has_degree: bool  # beside a degree: another way in, not a specialty


def experience_in(text: str) -> ExperienceFact:
    """The demand of the posting, after the order of this module; no figures at all where it states none."""
    demands = [demand for sentence in sentences_of(text) for demand in _demands(sentence)]
    required = [demand for demand in demands if demand.fact.is_required and not demand.is_part]
    whole = required or [demand for demand in demands if not demand.is_part]
    if not whole:
        return _none_needed(text)
    main = max(whole, key=lambda demand: demand.fact.min_years or 0)
    parts = [part for part in demands if part is not main and part.fact.is_required and _is_specialty(part)]
    specialties = tuple(Specialty(part.topic, part.fact.min_years or 0) for part in parts)
    return replace(main.fact, specialty=specialties)


def _is_specialty(demand: _Demand) -> bool:
    return bool(demand.topic) and not demand.has_degree


def _none_needed(text: str) -> ExperienceFact:
    for sentence in sentences_of(text):
        if sentence.has_any(("experience", "erfahrung")) and _NONE_NEEDED.search(sentence.text):
            return ExperienceFact(0, None, sentence.text)
    return ExperienceFact()


def _demands(sentence: Sentence) -> Iterator[_Demand]:
    """The demands of one sentence; alternatives by degree are one demand, for the least of them."""
    if not any(character.isdigit() for character in sentence.low) and not sentence.has_any(WORDS):
        return
    if _IN_LIEU.search(sentence.text):
        return
    plain = _MARKUP.sub("", sentence.text)
    found: list[_Demand] = []
    for match, is_named in islice(figures(plain), MOST_FIGURES):
        before = plain[max(0, match.start() - WINDOW) : match.start()]
        after = plain[match.end() : match.end() + WINDOW]
        if is_named or _is_demand(match, before, after, sentence, bool(found)):
            found.append(_read(match, before, after, sentence, bool(found)))
    alternatives = {way for pair in pairwise(found) if _are_alternatives(plain, *pair) for way in pair}
    if alternatives:
        least = min(alternatives, key=lambda demand: demand.fact.min_years or 0)
        found = [replace(least, is_part=False), *(demand for demand in found if demand not in alternatives)]
    yield from found


def _are_alternatives(plain: str, one: _Demand, other: _Demand) -> bool:
    """Whether a degree and an "or" part two figures; a comma will do where one is bound to its degree."""
    between = plain[one.end : other.start]
    if _DEGREE.search(between) and _OR.search(between):
        return True
    ways = (_DEGREE_HERE.search(plain[: other.start]), _DEGREE_NEXT.search(between))
    return bool(any(ways) and _COMMA.search(between))


def _is_demand(match: re.Match[str], before: str, after: str, sentence: Sentence, is_later: bool) -> bool:
    if years_of(match["low"], match["unit"]) > MOST_YEARS or _is_of_something_else(before, after):
        return False
    near = before[-80:]
    demand, others = _last(_DEMAND, near), _last(_OTHERS, near)
    if others > demand or (demand < 0 and _HISTORY.search(near)):
        return False
    if _AFTER.search(after) or _BEFORE.search(before) or (match["unit"] or "").casefold() == "yoe":
        return True
    if _DEMAND_HERE.search(before) or (is_later and _DEGREE_HERE.search(before)):
        return True
    if "+" in match[0] and _NOTHING_AFTER.search(after) and not _NOT_A_DEMAND_BEFORE.search(before):
        return True
    # A line that opens with "3+ years" demands them; without the plus only where the heading says so.
    return match.start() == 0 and (sentence.section == "required" or "+" in match[0])


def _is_of_something_else(before: str, after: str) -> bool:
    if _NOT_EXPERIENCE_AFTER.search(after) or _NOT_EXPERIENCE_BEFORE.search(before):
        return True
    return bool(_DEADLINE_BEFORE.search(before) and not _OF_EXPERIENCE.search(after))


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match starts, -1 for none."""
    return max((match.start() for match in pattern.finditer(text)), default=-1)


def _read(match: re.Match[str], before: str, after: str, sentence: Sentence, is_later: bool) -> _Demand:
    low = years_of(match["low"], match["unit"])
    high = years_of(match["high"], match["unit"]) if match["high"] else None
    if high is None and _CEILING.search(before):
        low, high = 0.0, low
    if high is not None and high < low:
        low, high = high, low
    near = f"{before[-60:]} {after[:100]}"
    is_preferred = sentence.section == "preferred" or bool(
        _PREFERRED_BEFORE.search(before) or _PREFERRED_AFTER.search(_ASIDE.sub(" ", after).split(";")[0])
    )
    fact = ExperienceFact(low, high, sentence.text, is_required=not is_preferred)
    topic = _TOPIC.search(after)
    return _Demand(
        fact,
        topic["topic"].strip(" .,") if topic else "",
        *match.span(),
        is_part=is_later and bool(_SPECIALTY.search(before)),
        has_degree=bool(_DEGREE.search(near)),
    )


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The posting demands no more years than the criteria allow. A text that states none demands none."""
    if criteria.max_years is None:
        return Step(RULE, "skip", "no limit on experience")
    if not snapshot.text:
        return Step(RULE, "unknown", "the text that would state the experience is not known")
    fact = experience_in(snapshot.text)
    if fact.min_years is None and language_of(snapshot.text) not in READ:
        return Step(RULE, "unknown", "experience is not read in the language of the posting")
    if fact.min_years is None:
        return Step(RULE, "pass", "no years of experience are demanded")
    if not fact.is_required:
        return Step(RULE, "pass", f"{fact.words()} is only preferred", fact.sentence)
    if fact.min_years <= criteria.max_years:
        return Step(RULE, "pass", f"asks for {fact.words()}", fact.sentence)
    return Step(RULE, "reject", f"asks for {fact.words()}, more than {criteria.max_years}", fact.sentence)
