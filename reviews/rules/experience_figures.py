"""Figures of years as texts write them, in the languages whose words for them are known."""

from __future__ import annotations

import re
from collections.abc import Iterator

WORDS = {
    word: number
    for number, words in {
        0: "zero",
        1: "one ein eins einem",
        2: "two zwei deux dos twee två",
        3: "three drei trois tres três drie tre trzy",
        4: "four vier quatre cuatro fyra",
        5: "five fünf cinq cinco cinque vijf fem",
        6: "six sechs seis",
        7: "seven sieben sept",
        8: "eight acht huit",
        9: "nine neun",
        10: "ten zehn dix",
        11: "eleven",
        12: "twelve",
        15: "fifteen",
        20: "twenty",
    }.items()
    for word in words.split()
}
_NUMBER = rf"(?:\d{{1,2}}(?:[.,]\d)?|{'|'.join(sorted(WORDS, key=len, reverse=True))})"
_MORE = (
    rf"(?:\s?\((?:{_NUMBER})\+?\))?\s?(?:\+|plus\b|or more\b|and above\b|or above\b|oder mehr\b|ou plus\b"
    r"|o más\b)?"
)
_DASH = (
    r"\s?(?:[-\u2013\u2014\u2010\u2011\u2012\u2212~]|\bto\b|\bor\b|\bbis\b|\boder\b|\bà\b|\bou\b"
    r"|\ba\b|\bo\b|\bund\b|\band\b"
    r"|\bet\b|\by\b|\be\b|\ben\b|\bdo\b|\btot\b|\btill?\b|\bal\b)\s?"
)
_UNIT = (
    r"(?P<unit>years?|yrs?|yoe|months?|jahren?|monaten?|ans?|années?|mois|años?|meses|anni|jaar|lata?|letni\w*|jährige\w*"
    r"|anos|års?|vuoden|vuotta|roky?|let(?=\s(?:praxe|zkuš))|ani|y\u0131l|év(?:es)?)\b['\u2019.]?s?"
)
DEGREE = (
    r"(?:bachelor|master|ph\.?d|b\.?s\.?c?|m\.?s\.?c?|b\.?a|m\.?b\.?a|degree|doctorate|diploma|high school"
    r"|graduate)"
)
_RANGE = rf"(?P<low>{_NUMBER}){_MORE}(?:{_DASH}(?P<high>{_NUMBER}){_MORE})?"
# "8 years with a BS, 6 with an MS": the second figure goes without its unit.
_FIGURE = re.compile(
    rf"(?<![\w$€£.,:/#%-]){_RANGE}(?:[\s-]{{0,3}}{_UNIT}|(?=\s(?:with|w/|\+)\s(?:an?\s)?{DEGREE}\b))",
    re.IGNORECASE,
)
EXPERIENCE = (
    r"(?:experiences?|expertise|exp\b\.?|yoe\b|berufserfahrung|erfahrung|expérience|experiencia"
    r"|esperienza|ervaring|experiência|doświadczeni\w+|track record"
    r"|erfarenhet|erfaring|\w*kokemus\w*|praxe|zkušenost\w*|\w*tapasztalat\w*|experiență|deneyim\w*)"
)
# These name the experience themselves: a table ("Years of experience: 5+"), and languages that write no
# spaces or put the words elsewhere.
_EAST = (
    r"(?<!\d)(?P<low>\d{1,2})\s?(?:[-\u2013~\u301c\uff5e至到]\s?(?P<high>\d{1,2})\s?)?"
    r"(?P<unit>ヶ月|か月|个月|年|년|лет|год\w*|рок\w*)"
)
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<unit>years?|yrs?)(?: of)?(?:\s\w+){{0,2}}?\s{EXPERIENCE}(?:\s(?:required|needed|level))?"
        rf"\s?[:\u2013-]\s?(?:min(?:imum|\.)?\s|at least\s)?{_RANGE}",
        rf"\b{EXPERIENCE}\s\((?:in\s)?(?P<unit>years?|yrs?)\)\s?[:\u2013-]\s?{_RANGE}",
        rf"{_EAST}[^。.;\n]{{0,30}}?(?:経験|実務|经验|經驗|경험|경력|опыт|досвід)",
        rf"(?:経験|実務|经验|經驗|경험|경력|опыт\w*|стаж\w*|досвід\w*)[^。.;\n\d]{{0,30}}{_EAST}",
    )
)


def figures(plain: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Every figure, and whether its own words say that it is of experience."""
    for pattern in _NAMED:
        for match in pattern.finditer(plain):
            yield match, True
    for match in _FIGURE.finditer(plain):
        yield match, False


def years_of(written: str, unit: str | None) -> float:
    number = WORDS.get(written.casefold())
    value = float(written.replace(",", ".")) if number is None else float(number)
    is_months = (unit or "").casefold().startswith(("mo", "mes", "ヶ", "か", "个"))
    return round(value / 12, 2) if is_months else value
