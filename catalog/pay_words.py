"""The words beside an amount of money that make it pay, a benefit, a company's money, or a rate."""

from __future__ import annotations

import re
from typing import Final

PAY: Final = re.compile(
    r"\bsalar(?:y|ies)\b"
    r"|(?<!\bwe )(?<!\bto )(?<!\bwho )(?<!\bthey )(?<!users )(?<!clients )(?<!customers )\bpays?\b"
    r"(?!\s+(?:for\s+(?!th|an?\b|all\b)|you\b|up\b))|\bpaid\b(?! time)|\bcompensation\b|\bwages?\b"
    r"|\bremuneration\b|\bearn(?:ings)?\b|(?<!user )(?<!client )(?<!customer )(?<!install )\bbase\b(?! of\b)"
    r"|\b(?:hourly|daily|day|weekly|monthly|pay) rates?\b|\bote\b|\bgehalt\w*|\w+gehalt\b|\bverg[üu]tung\w*"
    r"|\bentgelt\b|\w*lohn\b|\bsalaires?\b|\br[ée]mun[ée]ration\b|\bsalarios?\b|\bsueldo\b|\bsal[áa]rio\b"
    r"|\bstipendio\b|\bwynagrodzenie\b|\bcomp\b|年収|年俸|月給|月収|時給|日給|給与|報酬|연봉|월급|시급|급여"
    r"|年薪|月薪|时薪|薪资|薪酬|工资|\b\u0437\u0430\u0440\u043f\u043b\u0430\u0442\w*|\b\u043e\u043a\u043b\u0430\u0434\w*|salaris\b"
    r"|(?:bruto|netto|maand|uur|jaar)loon\b"
    r"|lön\b|lønn?\b|palkka\b|\bmzda\b|\bgaji\b|\bmaaş\w*|\bfizetés\w*|\bsalariu\w*|\bral\b",
    re.IGNORECASE,
)
# Benefits, and money that is the company's or its customers'.
OTHER: Final = re.compile(
    r"\b401\s?\(?k\b|\bmatch(?:ing|ed)?\b|\bcontributions?\b"
    r"|\bstipends?\b|\bbonus(?:es)?\b|\bsign(?:ing)?[- ]?on\b"
    r"|\ballowances?\b|\bbudgets?\b|\breimburse\w*|\bperks?\b|\breferrals?\b|\brelocation\b|\bequity\b"
    r"|\baccounts\b|\be?vsop\b|\besop\b|\bshares\b|\bwarrants\b"
    r"|(?<!package )(?<!salary )(?<!compensation )(?<!pay )\bworth\b"
    r"|\bstocks?\b|\brsus?\b|\boptions?\b|\bgrants?\b|\bfund(?:s|ing|ed)?\b|\brais(?:e|ed|ing)\b|\bround\b"
    r"|\bseries [a-h]\b|\bseed\b|\bvaluation\b|\bvalued\b|\brevenues?\b|\barr\b|\bacv\b|\bmrr\b|\bgmv\b"
    r"|\baum\b"
    r"|\bquotas?\b|\bdeals?\b|\bpipeline\b|\bportfolios?\b|\bassets\b|\bsales\b"
    r"|\bcontracts? (?:value|worth)\b"
    r"|\btransactions?\b|\bspend(?:ing)?\b|\bfraud\b|\bmarkets?\b|\bdonat\w+|\bwellness\b|\bgym\b"
    r"|\blunch(?:es)?\b|\bmeals?\b|\bfood\b|\btravel\b|\binsurance\b|\bdeductibles?\b|\bcoverage\b"
    r"|\bpremiums?\b"
    r"|\bcredits?\b|\btuition\b|\blearning\b|\btraining\b|\beducation\w*|\bdevelopment\b|\bconferences?\b"
    r"|\bequipment\b|\bhome[- ]office\b|\binternet\b|\bphone\b|\bcommut\w+|\bparental\b|\bfertility\b"
    r"|\badoption\b|\bprizes?\b|\bawards?\b|\bcustomers\b|\bclients\b|\busers\b|\bcommission\b"
    r""
    r"|\bbacked\b|\binvest\w*|\bprofit\w*|\bcosts?\b|\bsavings?\b|\bfines?\b|\bexpenses?\b|\bcharity\b"
    r"|\bemployees\b|\bprojects? (?:worth|of)\b|\bpension\b|\brents?\b|\bzuschuss\w*|\bpr[äa]mie\b|\bprime\b"
    r"|\bweiterbildung\w*",
    re.IGNORECASE,
)
BENEFITS: Final = re.compile(r"\bbenefits?\b|\bperks?\b|\bwe offer\b|\bwir bieten\b", re.IGNORECASE)
JOINER: Final = re.compile(
    r"\bplus\b|\band\b|\bwith\b|\bincluding\b|\bas well as\b|\bin addition\b|\bund\b|[+&,]"
)
TOTAL: Final = re.compile(
    r"\bote\b|\bon[- ]target\b"
    r"|\btotal (?:target |annual |yearly )?(?:cash|comp\w*|package|rewards?|earnings)\b"
    r"|\btotal package\b|\bincluding (?:bonus|commission|equity)\b|\bwith commission\b",
    re.IGNORECASE,
)
PRO_RATA: Final = re.compile(r"\bpro[- ]?rata\W{0,3}$", re.IGNORECASE)  # a part-timer's share of the pay
# "minimum salary of", "max. hourly rate:"
_OF_PAY: Final = (
    r"(?:\s(?:base|gross|annual|yearly|monthly|weekly|daily|hourly|starting|salary|pay|wage|rate|compensation"
    r"|of|is)\b){0,4}"
)
UP_TO: Final = re.compile(
    rf"(?:\bup to|\bmax(?:imum|imal)?\b\.?{_OF_PAY}|\bbis zu|\bjusqu'à|\bhasta|\bfino a|\btot|\bmáximo"
    r"|\b\u0434\u043e|\bno more than)\W{0,3}$",
    re.IGNORECASE,
)
FROM: Final = re.compile(
    rf"(?:\bfrom|\bstart(?:s|ing)? (?:at|from)|\bat least|\bmin(?:imum|imal)?\b\.?{_OF_PAY}|\bab|\bover"
    r"|\bmore than|\bà partir de|\bdesde|\ba partir de|\bupwards of|\bmindestens|\bvanaf|\bfrån|\bfra"
    r"|\b\u043e\u0442|\bno less than)\W{0,3}$",
    re.IGNORECASE,
)
_THEN: Final = r"[\s,(]{0,3}"
AT_MOST_AFTER: Final = re.compile(rf"{_THEN}(?:max(?:imum)?\b|or less\b|以下)", re.IGNORECASE)
AT_LEAST_AFTER: Final = re.compile(
    rf"{_THEN}(?:min(?:imum)?\b|(?:and|or) (?:up|above|more|higher)\b|oder mehr\b|以上)", re.IGNORECASE
)

_UNITS: Final = (
    (
        "hour",
        r"hours?|hrs?|h|stunde|std|heure|hora|ora|godz\w*|uur|timme|time|tim|tunti|hod\w*|óra|jam|\u0447\u0430\u0441\w*",
    ),
    ("day", r"days?|d|tag|jour|d[íi]a|manday|dag|giorno|dzień|den|päivä|hari|\u0434\u0435\u043d\u044c"),
    (
        "week",
        r"weeks?|wk|w|woche|semaine|semana|settimana|tydzień|vecka|uge|uke|viikko|minggu|\u043d\u0435\u0434\u0435\u043b\u044e",
    ),
    (
        "month",
        r"months?|mths?|mo|m|monat|mois|m[eê]s|mese|miesi\w*|mies|m[åa]nad(?:en)?|m[åa]n|måned(?:en)?|mnd|maand"
        r"|kk|kuukausi|kuukaudessa|měsíc|hó|hónap|lun[aă]|bulan|ay|\u043c\u0435\u0441\u044f\u0446|\u043c\u0435\u0441",
    ),
    (
        "year",
        r"years?|yrs?|y|a|annum|jahr|an|ann[ée]e|año|anno|ano|rok|[åa]r|[åa]ret|jaar|vuosi|vuodessa|év|tahun|y\u0131l|\u0433\u043e\u0434",
    ),
)
_ADVERBS: Final = (
    ("hour", r"hourly|stündlich|時給|시급|时薪|stundenlohn|timlön|timelønn?|uurloon|orari[oa]\b"),
    ("day", r"daily|day rate|日給|日薪|일급|tagessatz"),
    ("week", r"weekly|週給|wöchentlich|semanal"),
    (
        "month",
        r"monthly|pcm\b|monatlich\w*|monatsgehalt|mensuel\w*|mensual\w*|mensa(?:l|is)\b|mensil[ei]|miesięcznie"
        r"|maandelijks|maandsalaris|månadslön|månedlig|měsíčně|mesačne|havonta|lunar\b|ayl\u0131k|\u0435\u0436\u0435\u043c\u0435\u0441\u044f\u0447\u043d\u043e"
        r"|月給|月収|月薪|월급",
    ),
    (
        "year",
        r"annual(?:ly|i[sz]ed)?|yearly|per annum|p\.\s?a\b|jährlich\w*|(?:brutto)?jahres\w*|annuel\w*"
        r"|anua(?:l|is)\w*|annu[oia]\b|annuale|jaarlijks|jaarsalaris|årslön|årlig|rocznie|ročně|ročne|y\u0131ll\u0131k|ral\b"
        r"|年収|年俸|年薪|연봉",
    ),
)
_FILLER: Final = (
    r"[\s(,+\[]*(?:(?:gross|net|netto|nett[io]|neto|brutt?[oi]?s?|lord[oi]|base|salary|pay|usd|eur|gbp|cad|aud"
    r"|doe)\b[\s,(]*){0,2}"
)
_BY: Final = r"(?:/\s?|\b(?:per|an?|pro|par|por|im|al|ao|na|za|på|i|\u0432|each|every)\s|\ball'|\bp[./]?\s?)"
RATE_AFTER: Final = re.compile(
    rf"{_FILLER}(?:{_BY}(?:"
    + "|".join(f"(?P<{name}>{unit})" for name, unit in _UNITS)
    + r")(?![a-zà-ÿ\u0100-\u017f\u0430-\u044f]))",
    re.IGNORECASE,
)
ADVERB_AFTER: Final = re.compile(
    rf"{_FILLER}(?:" + "|".join(f"(?P<{name}>{adverb})" for name, adverb in _ADVERBS) + ")", re.IGNORECASE
)
PERIOD_BEFORE: Final = re.compile(
    "|".join(rf"(?P<{name}>(?<![a-z])(?:{adverb}))" for name, adverb in _ADVERBS), re.IGNORECASE
)

DOLLAR_AFTER: Final = re.compile(r"[\s+]*\(\s?(USD|CAD|AUD|NZD|SGD|HKD|MXN)\b")  # "$120,000 (CAD)"
OTHER_DOLLARS: Final = re.compile(
    r"\b(?:CAD|AUD|NZD|SGD|HKD|MXN|TWD|BRL|CLP|COP|ARS)\b|\b(?:CA|C|CDN|A|AU|NZ|S|SG|HK|NT|MX|R)\$"
)
OTHER_DOLLAR_LANDS: Final = re.compile(
    r"\b(?:Canad\w+|Toronto|Ontario|Vancouver|Montr[ée]al|Australia\w*|Sydney|Melbourne|Singapore|New Zealand"
    r"|Auckland|Hong Kong|Mexic\w+|Argentin\w+|Chile\w*|Colombia\w*|Taiwan\w*|Taipei)\b"
)
AMERICA: Final = re.compile(r"\bU\.?S\.?A?\b|\bUnited States\b|\bUSD\b")
JAPAN: Final = re.compile(r"円|JPY|Japan|Tokyo|日本|[\u3040-\u30ff]")
CHINA: Final = re.compile(r"元|RMB|CNY|China|Shanghai|Beijing|Shenzhen|人民币|中国")
