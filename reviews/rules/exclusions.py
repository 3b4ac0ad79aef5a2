"""Words and companies that a person does not want to see."""

from __future__ import annotations

import re
import unicodedata

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.role_names import BUSINESS_WORDS
from reviews.rules.roles import says
from reviews.rules.titles import RANK_NOUNS, Title, singular, title_of, word_set, words_of

WORDS_RULE = "exclude.words"
COMPANY_RULE = "exclude.companies"

_WORD = re.compile(r"[^\W_]+")
# Legal forms say nothing about whose company it is; "Group" and "Holding" may be another one.
_LEGAL_FORMS = word_set(
    """
    ag ab as asa bv co company corp corporation gmbh inc incorporated kg kgaa limited llc llp lp ltd mbh
    nv oy oyj plc pte pty pvt sa sarl sas sasu se sl slu spa srl sro ug zoo
    """
)


def check_words(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The title has no excluded word; a business word that only names another role's team is left open."""
    if not criteria.exclude_words:
        return Step(WORDS_RULE, "skip", "no words excluded")
    title = title_of(snapshot.title)
    team_word = ""
    for word in criteria.exclude_words:
        if not says(word, title.plain):
            continue
        if not _names_team(word, title):
            return Step(WORDS_RULE, "reject", f"the title has “{word}”", snapshot.title)
        team_word = word
    if team_word:
        return Step(WORDS_RULE, "unknown", f"“{team_word}” may only name the team", snapshot.title)
    return Step(WORDS_RULE, "pass", "no excluded word in the title")


def _names_team(word: str, title: Title) -> bool:
    head_is_rank = all(singular(part) in RANK_NOUNS for part in words_of(title.head))
    is_business = all(singular(part) in BUSINESS_WORDS or part in BUSINESS_WORDS for part in words_of(word))
    return is_business and not head_is_rank and not says(word, title.head)


def check_companies(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The company is none of the excluded. A longer name that begins with one is asked about, not dropped."""
    if not criteria.exclude_companies:
        return Step(COMPANY_RULE, "skip", "no companies excluded")
    if not (ours := company_key(snapshot.company)):
        return Step(COMPANY_RULE, "unknown", "the company is not stated")
    longer = ""
    for name in criteria.exclude_companies:
        excluded = company_key(name)
        if excluded and ours == excluded:
            return Step(COMPANY_RULE, "reject", f"the company is {name}", snapshot.company)
        if excluded and ours[: len(excluded)] == excluded:
            longer = name
    if longer:
        return Step(COMPANY_RULE, "unknown", f"{snapshot.company} may belong to {longer}", snapshot.company)
    return Step(COMPANY_RULE, "pass", "the company is not excluded")


def company_key(name: str) -> tuple[str, ...]:
    """The words of a company's name without case, accents and legal form; none for a name without letters.

    Turkish dotted and dotless i are one letter here, as for whoever types the name.
    """
    folded = unicodedata.normalize("NFKD", name.casefold().replace("\u0131", "i"))
    bare = "".join(character for character in folded if not unicodedata.combining(character))
    words = _WORD.findall(bare.replace(".", ""))
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words.pop()
    return tuple(words[1:] if len(words) > 1 and words[0] == "the" else words)
