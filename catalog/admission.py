"""What decides whether a listing becomes a posting: a person's title pattern, and records that are no job."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from catalog.title_regex import TitleRegex, UnsupportedPattern

# Goes up with every change of what is ruled: listings are ruled on again then.
ADMISSION_VERSION = 1
MAX_PATTERN = 500
MAX_TITLE = 200  # what a pattern sees of a title; hardly any is longer

_NOT_KEPT = re.compile(r"[\x00\ud800-\udfff]")  # in no text of PostgreSQL
_NOT_PLAIN = re.compile(r"[\\^$*?()\[\]{}]|\.\+")
_WORD = re.compile(r"[^\W_]+(?:[+#]+(?!\w))?")
_INFLECTION = re.compile(r"(?:s|es|er|ers|ing)?")


class InvalidPattern(ValueError):
    """The text cannot be used as a title pattern; the message says why."""


@dataclass(frozen=True, slots=True)
class TitlePattern:
    """Which titles a person wants. Case never counts.

    Plain words, with "|" between alternatives, match as words: hyphen, space and joined form are equal
    ("front-end", "front end", "frontend"), and a trailing inflection is allowed ("engineers"). Anything
    with regular expression signs is one, searched in the title.

    Raises InvalidPattern for a pattern that does not compile, is longer than 500 characters, or is of a kind
    that cannot be matched in a bounded time: repeated groups, back references.
    """

    source: str
    _regex: TitleRegex | None = field(init=False, repr=False, compare=False)
    _phrases: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.source.strip() or len(self.source) > MAX_PATTERN:
            raise InvalidPattern(f"a title pattern has between 1 and {MAX_PATTERN} characters")
        if _NOT_KEPT.search(self.source):
            raise InvalidPattern("a title pattern has no NUL and no half characters")
        is_plain = not _NOT_PLAIN.search(self.source)
        phrases = tuple(filter(None, map(_joined, self.source.split("|")))) if is_plain else ()
        if is_plain and not phrases:
            raise InvalidPattern("the pattern has no words")
        object.__setattr__(self, "_phrases", phrases)
        object.__setattr__(self, "_regex", None if is_plain else _regex_of(self.source))

    def matches(self, title: str) -> bool:
        title = title[:MAX_TITLE]
        if self._regex is not None:
            return self._regex.is_in(title)
        words = _WORD.findall(title.casefold())
        return any(_has_phrase(words, phrase) for phrase in self._phrases)


def _joined(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _has_phrase(words: Sequence[str], phrase: str) -> bool:
    """Whether the phrase stands in these words from the start of one to the end of one, spaces ignored."""
    for first in range(len(words)):
        joined = ""
        for word in words[first:]:
            joined += word
            if joined.startswith(phrase):
                rest = joined[len(phrase) :]
                if len(rest) < len(word) and _INFLECTION.fullmatch(rest):
                    return True
            if len(joined) >= len(phrase):
                break
    return False


def _regex_of(source: str) -> TitleRegex:
    try:
        return TitleRegex(source.removeprefix("(?i)"))  # as every pattern is
    except UnsupportedPattern as refused:
        raise InvalidPattern(str(refused)) from None


# Applications for nothing in particular, and the pools they are kept in, as employers name them.
_DROP_BOX = (
    r"(?:spontaneous|open|general|speculative|unsolicited|prospective|initiative)"
    r" (?:job )?(?:applications?|cvs?|resumes?|submissions?)"
    r"|initiativ[- ]?bewerbung(?:en)?|blindbewerbung(?:en)?|(?:open|spontane) sollicitaties?"
    r"|initiatiefsollicitatie"
    r"|(?:candidature|candidatura)s? (?:spontan[ée]es?|espont[áâa]neas?|spontane[ae]|libres?|abiertas?"
    r"|abertas?)"
    r"|autocandidaturas?|auto-candidaturas?|banco de talentos|vivier de (?:talents|candidats)"
    r"|spontan(?:an)?s[öø]k(?:an|nad)|spontan ans[öø](?:kan|gning)|spontanans[öø]gning"
    r"|uopfordret ans[øö]gning|(?:[åa]ben|[åa]pen|öppen) (?:ans[öø](?:kan|gning)|s[øö]knad)"
    r"|avoin (?:työ)?hakemus|(?:aplikacja|kandydatura) spontaniczna|spontánní přihláška"
    r"|(?:join (?:our|the) )?talent[- ]?(?:pool|community|network|pipeline|bank)|(?:bewerber|kandidaten)pool"
    r"|future (?:opportunity|opportunities|roles?|openings?|positions?|jobs?|vacanc(?:y|ies)|hires?|talents?)"
    r"|general (?:interest|consideration)"
    r"|expressions? of interest|(?:register|express)(?: your)? interest|registration of interest"
    r"|(?:submit|send|drop|upload|leave)(?: us)?(?: your| a)? (?:resume|résumé|cv|curriculum)(?: here)?"
    r"|resume (?:drop|submission)s?"
    r"|(?:don['\u2019]?t|do not|can['\u2019]?t|cannot|didn['\u2019]?t|not) (?:see|find|seeing|finding)"
    r" (?:your|a|an|the|any|what)\b[^,;|]{0,60}"
)
_DROP_BOX_TITLE = re.compile(
    rf"(?:{_DROP_BOX})(?:"
    # a dash of any length or another sign, and then which office or team
    r"\s*[-\u2013\u2014:,|(/!?.].*"
    # or the office or team alone, where it is none of the words that make it somebody's work
    r"|(?!.*\b(?:managers?|engineers?|developers?|specialists?|leads?|coordinators?|directors?|head|partners?"
    r"|analysts?|consultants?|architects?|associates?|assistants?|officers?|recruiters?|administrators?"
    r"|support|security|development|operations|acquisition|engagement|processing)\b)(?: [^\s]+){1,4}"
    r")?",
    re.IGNORECASE | re.DOTALL,
)
_NO_JOB = r"(?:job|posting|position|vacancy|role|listing|requisition|req|opening|ad|advert(?:isement)?)"
_DO_NOT_APPLY = r"(?:do not|don['\u2019]?t) apply\b"
_TEST_TITLE = re.compile(
    rf"(?:test|dummy|sample|demo)(?:[ -](?:{_NO_JOB}|please ignore))*"
    r"(?:[\s#-]*\d*|\s*[-–—:(]+\s*(?:do not apply|please ignore|ignore)\)?)"
    # or one with a role's name: "[TEST] Engineer", "Engineer (test posting)", "Engineer - do not apply"
    r"|\[\s?(?:test|dummy)\s?\].*|.*\[\s?(?:test|dummy)\s?\]"
    rf"|(?:.*\btest\s+)?{_DO_NOT_APPLY}.*"
    rf"|.*[(\[]\s?(?:test|dummy|fake)[- ]{_NO_JOB}\b.*"
    rf"|.*[-\u2013\u2014:(\[,.!]\s*(?:please )?{_DO_NOT_APPLY}.*",
    re.IGNORECASE,
)
# Of a text in small letters; one literal beginning for all, which the matcher looks for before all else.
_NO_JOB_TEXT = re.compile(
    rf"this (?<!\wthis )(?:{_NO_JOB} )?(?:"
    rf"(?:is not|isn['\u2019]?t) an? (?:real|actual|genuine) {_NO_JOB}\b(?! offer)"
    rf"|is (?:only |just )?a (?:test|fake|dummy|mock) {_NO_JOB}\b(?! (?:offer|runner))"
    rf"|is (?:only |just )?for test(?:ing)? purposes\b"
    rf"|is (?:only |just )?a test\s?[-.,;:!\u2013\u2014]\s?(?:please )?(?:{_DO_NOT_APPLY}|ignore\b)"
    r")"
)
# Beside these the sentence warns of somebody else's postings.
_WARNS = re.compile(
    r"\b(?:scam|fraud|phish|bewar|imperson|imposter|impostor|suspicious)|\bif\b", re.IGNORECASE
)
_WARNING_CHARS = 120


def drop_box_reason(title: str, text: str) -> str | None:
    """Why a listing is no job: a test record or a drop box for any application. None for a job.

    Decided by the whole title ("Spontaneous Application", "Talent Pool - Berlin"), or by the text's own
    declaration ("This isn't a real job"). "Test Engineer", a text about internal test jobs and a warning of
    fake postings are jobs.
    """
    title = unicodedata.normalize("NFC", " ".join(title[:MAX_TITLE].split()))
    if _DROP_BOX_TITLE.fullmatch(title):
        return f"the title is that of a drop box for applications: {title[:80]!r}"
    if _TEST_TITLE.fullmatch(title):
        return f"the title is that of a test record: {title[:80]!r}"
    lowered = text.lower()
    for said in _NO_JOB_TEXT.finditer(lowered):
        if not _WARNS.search(lowered[max(0, said.start() - _WARNING_CHARS) : said.end() + _WARNING_CHARS]):
            return f"the text says so itself: {said[0]!r}"
    return None
