"""Keys under which the same employer and the same role are found again, however they are written. Pure.

Two names with one key are taken for one employer; an empty name has no key, and is no employer. Keys are
never shown.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_NOT_LETTERS: Final = re.compile(r"[\W_]+")
# Legal forms stand at the end of a name, after a comma or not, with points or without.
_LEGAL_FORMS: Final = re.compile(
    r"ab|ag|aps|as|asa|bv|cic|co|company|corp|corporation|cv|dac|eg|ev|eurl|gbr|gmbh|gmbhco|hf|holdings?|inc"
    r"|incorporated|kft|kg|kgaa|kk|limited|limitada|llc|llp|lp|ltda?|mbh|nv|ohg|oyj?|plc|pllc|pte|pty|pvt|sab?"
    r"|sapi|sarl|sasu?|sca|sce|se|slu?|snc|spa|spj|sro|srls?|ug|ulc|vof|zoo"
)
# Where words are not parted by spaces, or the form stands first: Japanese, Chinese, Korean, Russian.
_CJK_FORMS: Final = r"株式会社|有限会社|合同会社|㈱|\(株\)|주식회사|유한회사|㈜|\(주\)"
_CYRILLIC_FORMS: Final = "ООО|ОАО|ЗАО|ПАО|АО|ТОО|ТОВ"  # noqa: RUF001 - Cyrillic is meant
_ATTACHED_FORMS: Final = re.compile(
    rf"^\s*(?:{_CJK_FORMS}|(?:{_CYRILLIC_FORMS})(?=[\s«\"]))"
    rf"|(?:{_CJK_FORMS}|(?:股份)?有限(?:责任|責任)?公司)\s*$"
)
_DOTTED: Final = re.compile(r"(?<=\b\w)\.(?=\w\b|\s|$|,)")
# What a title says of the offer and not of the role.
_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_GENDER: Final = re.compile(
    r"\((?:\s*+(?:m|w|f|d|x|h|i|gn|all genders?|div|alle)\s*+[/|,*\\]?)++\)"
    r"|\b[mwfdxh](?:\s?/\s?[mwfdxh]){1,3}\b",
    re.IGNORECASE,
)
_HOURS: Final = re.compile(
    r"full|part|time|fulltime|parttime|permanent|temporary|temp|contract|remote|hybrid|onsite"
)
_PLURAL: Final = re.compile(r"(?<=[a-z]{3})(?<!s)s$")


def company_key(name: str) -> str:
    """The employer's key; "" for a name of nothing but signs.

    Letters of any script count, case and accents do not, nor does the legal form: "Acme, Inc." and "ACME"
    are one, as are "株式会社サンプル" and "サンプル". A name that is a legal form only ("Inc") keeps it, so
    that it is no part of every other.
    """
    bare = _ATTACHED_FORMS.sub("", name)
    words = _words(_DOTTED.sub("", bare)) or _words(name)
    while len(words) > 1 and _LEGAL_FORMS.fullmatch(words[-1]):
        words.pop()
    return "".join(words)[:200]


def role_key(title: str) -> str:
    """The role's key: words in singular, in the order of the alphabet, without hours, gender signs and
    asides.

    "Livestream Hosts (temporary, part-time)" and "Livestream Host - Temporary Part Time" are one.
    """
    plain = _ASIDE.sub(" ", _GENDER.sub(" ", title))
    words = [_PLURAL.sub("", word) for word in _words(plain) if not _HOURS.fullmatch(word)]
    return " ".join(sorted(words))[:200]


def _words(text: str) -> list[str]:
    """Words without case and accents. The dotted and the dotless i of Turkish are one letter here."""
    decomposed = unicodedata.normalize("NFKD", text.replace("\u0130", "i").replace("\u0131", "i").casefold())
    return [word for word in _NOT_LETTERS.split(_MARKS.sub("", decomposed)) if word]
