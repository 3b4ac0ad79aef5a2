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
    nv oy oyj plc pte pty pvt sa sarl sas sasu se sl slu spa srl sro ug zoo aps doo dd kk gk yk ltda
    eireli ohg gbr eurl bvba vof ou uab sia kft zrt nyrt bt eood ood snc sapa slp sau scs sprl gie ehf hf
    bhd sdn tbk pllc lllp pbc spzoo spj spk og aktiengesellschaft cyf tov
    """
)
# Those of several words, also as the letters that "A/S" and "S. r. l." leave.
_LONG_LEGAL_FORMS = frozenset(
    {
        *(("a", "s"), ("s", "a"), ("s", "l"), ("s", "r", "l"), ("s", "p", "a"), ("s", "r", "o")),
        *(("b", "v"), ("n", "v"), ("a", "b"), ("a", "g"), ("k", "k"), ("d", "o", "o"), ("s", "a", "s")),
        *(("s", "l", "u"), ("private", "limited"), ("pvt", "limited"), ("sp", "z", "oo")),
        *(
            ("społka", "z", "oo"),
            ("sa", "de", "cv"),
            ("s", "a", "de", "c", "v"),
            ("s", "de", "rl", "de", "cv"),
        ),
        *(("sapi", "de", "cv"), ("cia", "ltda"), ("sociedad", "anonima"), ("sociedade", "anonima")),
        *(
            ("public", "limited", "company"),
            ("limited", "liability", "company"),
            ("ug", "haftungsbeschrankt"),
        ),
    }
)
_LONGEST_FORM = 5  # words: "S de RL de CV"
# Russia's and Ukraine's (OOO, OAO, ZAO, PAO, AO, TOO, TOV in Cyrillic) stand before the name or after it.
_CYRILLIC_FORMS = word_set(
    "\u043e\u043e\u043e \u043e\u0430\u043e \u0437\u0430\u043e \u043f\u0430\u043e \u0430\u043e"
    " \u0442\u043e\u043e \u0442\u043e\u0432"
)
_FORMS_IN_FRONT = _CYRILLIC_FORMS | {"pt"}
# Chinese, Japanese and Korean ones need no space on either side of the name.
_GLUED_FORMS = (
    *("株式会社", "有限会社", "合同会社", "주식회사", "유한회사", "股份有限公司", "有限责任公司", "有限公司"),
    *("(株)", "(주)", "(有)"),
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
    written = _folded(name.replace("\u0131", "i"))
    bare = written
    for form in _GLUED_FORMS:
        bare = bare.replace(form, " ")
    words = _WORD.findall(bare.replace(".", "")) or _WORD.findall(written)
    if len(words) > 1 and words[0] in _FORMS_IN_FRONT:
        words = words[1:]
    while cut := _legal_words_at_end(words):
        words = words[:-cut]
    return tuple(words[1:] if len(words) > 1 and words[0] == "the" else words)


def _folded(name: str) -> str:
    """The name without case and accents."""
    parts = unicodedata.normalize("NFKD", name.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def _legal_words_at_end(words: list[str]) -> int:
    """How many words at the end are a legal form; never all of them."""
    for length in range(min(_LONGEST_FORM, len(words) - 1), 0, -1):
        end = tuple(words[-length:])
        if end in _LONG_LEGAL_FORMS or (length == 1 and end[0] in _LEGAL_FORMS | _CYRILLIC_FORMS):
            return length
    return 0
