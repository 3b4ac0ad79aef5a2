"""Visa sponsorship and citizenship, as a posting words them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reviews.criteria import Criteria
from reviews.question import Snapshot, Step
from reviews.rules.clearance import clearance_in
from reviews.rules.sentences import sentences_of

RULE = "sponsorship"

SponsorshipVerdict = Literal["offers", "denies", "citizens_only", "caution", "unknown"]


@dataclass(frozen=True, slots=True)
class SponsorshipFact:
    """`sentence` decided. "caution": a permit to work is asked for, or both yes and no are said."""

    verdict: SponsorshipVerdict = "unknown"
    sentence: str = ""


# OPT and CPT let foreign students work. Small letters are the verb, codes are a physician's bill.
_STUDENT = r"(?-i:OPT(?![\s-](?i:in|out|into|for)\b)|CPT)"
_VISA = (
    r"(?:visas?|h-?1b1?s?|h-?1-?b|work (?:permits?|authori[sz]ations?)"
    r"|employment (?:permits?|authori[sz]ations?|visas?)|immigration|green ?cards?|permanent residen\w+"
    r"|petitions?|tn visa|o-1|e-3|l-1|skilled worker|tier 2|blue ?cards?|visum|visado|visto"
    rf"|{_STUDENT}\b)"
)
_PEOPLE = (
    r"(?:candidates?|applicants?|individuals?|employees?|employment|(?:foreign|international)"
    r"\s(?:talents?|hires?|workers?|nationals?|people|professionals?|engineers?|graduates?)"
    r"|non-?\w{0,3} (?:citizens?|residents?))"
)
# The noun is enough by itself, unless it goes on to name an event, a team, a course …
_ELSE = (
    r"(?:events?|community|communities|teams?|conferences?|charit\w+|sports?|brands?|athletes?"
    r"|education\w*|certifications?|courses?|training|tuition|mba|programs?|programmes?|projects?"
    r"|executives?|leadership|stakeholders?|senior|activit\w+|engagement|partnerships?|marketing|sales"
    r"|deals?|packages?|revenue|opportunit\w+|activations?|agreements?|levels?|inventory|strateg\w+"
    r"|professional|studies|degrees?|memberships?|clubs?|meetups?|hackathons?|gym|research|financial"
    r"|corporate|c-level|clinical|trials?|studies)"
)
_NOUN = re.compile(
    rf"(?:{_VISA}[\w\s/,-]{{0,25}}\bsponsor(?:ships?|ing)\b"
    rf"|\bsponsorships?\b(?!\s(?:of\s|for\s)?(?:\w+\s)?{_ELSE}\b))"
    rf"|\bvisa (?:support|assistance|help|transfers?)\b"
    rf"|\bh-?1b\b[\w\s-]{{0,20}}\b(?:transfers?|petitions?|cap)\b|\b{_STUDENT}\b",
    re.IGNORECASE,
)
_NOUN_ELSE = re.compile(rf"\b{_ELSE}\s(?:and\s\w+\s)?sponsorships?\b", re.IGNORECASE)
# "We sponsor employees to attend conferences", "your gym membership": a perk, whoever has it.
_PERK = re.compile(
    r"\bsponsor(?:s|ed|ing)?\b[^.;]{0,80}\b(?:attend\w*|events?|conferences?|meetups?|hackathons?|courses?"
    r"|education\w*|tuition|trainings?|certifi\w+|degrees?|mba|studies|memberships?|gym|clubs?|sports?"
    r"|charit\w+|communit\w+|teams|learning|fitness|lessons?|classes)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    rf"\bsponsor(?:ing|s)?\b(?=[^.;]{{0,60}}?\b(?:{_VISA}|{_PEOPLE})\b)"
    r"|\b(?:file|support|provid|obtain|arrang|handl|help"
    r"|assist)\w*\s(?:(?:you|your|their|with|a|an|the|for|candidates|employees|of|new|necessary|required"
    r"|all|relocation|and|obtaining|getting|to|get)\s){0,5}"
    rf"{_VISA}(?=\b(?!\ssponsor|[\s,/&]{{1,3}}(?:and\s|or\s)?(?:mastercard|amex|cards?|payments?|inc)\b))"
    r"|(?:(?<=\bto\s)|(?<=not\s)|(?<=\bcan\s)|(?<=\bwill\s)|(?<=\bdo\s)|(?<=\bwe\s)|(?<=n['\u2019]t\s)"
    r"|(?<=currently\s)|(?<=\bbe\s)|(?<=\bare\s)|(?<=[ao]nt\s)|(?<=never\s)|(?<=longer\s))sponsor(?:ing)?\b"
    r"(?=[\s(]{1,2}(?:at (?:this|the) (?:time|moment)|now|currently|in the future|for (?:this|these|any|the)"
    r"|in this|(?:this|any) (?:role|position)s?|you\b|anyone|people|work|or take over)|\W*$)",
    re.IGNORECASE,
)
_NOT = (
    r"(?:not|n['\u2019]t|cannot|(?:ca|wo|do|does)nt|no|never|unable|without|neither|nor|ineligible|impossible|nicht|keine?"
    r"|aucune?|sin)"
)
_NEGATED_BEFORE = re.compile(
    rf"(?:\b|(?=n['\u2019]t)){_NOT}\b(?!\s(?:only|just)\b)[^;:!?]{{0,90}}$", re.IGNORECASE
)
_NEGATED_AFTER = re.compile(
    r"^[^.;:!?]{0,60}?(?:\b(?:is|are|will|can|may|be|being|currently|at this time"
    r"|we)\b[^.;:!?]{0,30}?)?(?:\b(?:not|cannot|unable|never|no longer|unavailable|impossible|nicht)\b"
    r"|n['\u2019]t\b)(?!\s(?:only|just|required|needed|necessary)\b)",
    re.IGNORECASE,
)
# "Visa sponsorship available: No", "Do you sponsor visas? Yes": an entry of a form or a list of questions.
# What the applicant requires is not the employer's answer.
_ANSWERED = re.compile(
    r"(?:^|[|,;.(])(?P<label>(?:(?!\b(?:requir|need))[^:?|,;.(\n]){0,60}?\b(?:visas?|h-?1b|sponsor(?:ship|ing|s)?)\b"
    r"(?:(?!\b(?:requir|need))[^:?|,;.]){0,40}?)\s?(?:[:?|=\n]|\s[\u2013\u2014-]|[\u2013\u2014-]\s)[\s|:\u2013-]{0,3}"
    r"(?:(?P<no>(?:unfortunately,? |sorry,? )?(?:no(?!\s(?:problem|worr|issue))|none|nope|not|n/a|false)\b"
    r"|unavailable\b|✗|❌)"
    r"|(?P<yes>(?:yes|yep|true|available|provided|offered|possible)\b|✓|✔|✅))",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"^(?:unfortunately,? |sorry,? )?(?:no|nope|none|not|n/a|yes|yep)\b", re.IGNORECASE)
_BARE_ANSWER = re.compile(r"^(?:yes|no)\W*$", re.IGNORECASE)
_DASHED = re.compile(r"^[^\S\n]*[|\u2013\u2014-][^\S\n]*$")
# An offer taken back for this job, for some other, or a refusal that has an exception.
_NOT_THIS = re.compile(
    r"(?:\b(?:but|though|although|however|yet|just)\b[^.;]{0,40}(?:\b(?:not|cannot|unable)|n['\u2019]t)"
    r"|\bexcept)\b[^.;]{0,40}\b(?:(?:for|in|with) (?:this|these)|this (?:role|position|job|opening|one)"
    r"|at (?:this|the) (?:time|moment)|right now|currently|for now)\b",
    re.IGNORECASE,
)
_BUT_NOT = re.compile(
    r"\b(?:but|though|although|however|yet|just)\b,?\s(?:\w+ly\s)?(?:not|only)\b|\b(?:except|excluding)\b",
    re.IGNORECASE,
)
_BUT_CAN = re.compile(
    r"\b(?:but|though|although|however|yet)\b,?\s(?:we\s)?(?:can|do|will|may)\b(?!\snot|['\u2019]t)|\b(?:except|unless)\b",
    re.IGNORECASE,
)
_BILLING = re.compile(
    r"\bICD\b|\bHCPCS\b|\bCPT\W{0,3}(?:\d|cod|bill|modif|procedur|certif)|\bbilling\b|\bmedical\b",
    re.IGNORECASE,
)
_CPT = re.compile(r"\bCPT\b")
_BRACKETED = re.compile(r"\([^()]*\)")
_OFFER = re.compile(
    r"\b(?:offer(?:s|ed|ing)?|provid\w+|availab\w+|support(?:s|ed)?|sponsor|sponsors|consider\w*|welcome"
    r"|open to|accept\w*|eligible|can|able|will|happy|willing|help|assist\w*|include[sd]?|possible"
    r"|encouraged|transfers?)\b",
    re.IGNORECASE,
)
_BARE_OFFER = re.compile(
    r"\b(?:offer\w*|provid\w+|eligible for|open to|consider\w*)\s(?:\w+\s){0,2}sponsorships?\b"
    r"|\b(?:able|happy|willing|glad|ready) to sponsor\b|\bwe\s(?:(?!cannot|not|never)\w+\s)?sponsor\b"
    r"|\bsponsorships?\s(?:\w+\s){0,2}(?:available|provided|offered|possible|considered)\b",
    re.IGNORECASE,
)
_VISA_WORD = re.compile(rf"\b{_VISA}\b", re.IGNORECASE)
# "Visa sponsorship" as an entry of a list of perks, "ONSITE, VISA" as the headings of a forum have it.
_IS_LABEL = re.compile(
    r"^\W*(?:relocation (?:and|&|\+) )?visa(?: (?:sponsorship|support|assistance|transfers?))?(?: (?:and"
    r"|&|\+) relocation\w*)?\W*$"
    r"|\b(?:on-?site|remote|full[- ]?time|hybrid)\)?[\s,/]{1,4}visa(?: sponsorship)?\b",
    re.IGNORECASE,
)
# What the applicant will do with other people's visas is no offer.
_DUTY = re.compile(
    r"\b(?:you(?:['\u2019]ll| will)\s(?!receive|get)|in this role|responsib\w+|ownership|driv(?:e|ing)"
    r"|advis\w+)\b",
    re.IGNORECASE,
)
_OTHER_PEOPLE = re.compile(r"\b(?:students?|clients?|customers?|patients?)\b", re.IGNORECASE)
_PARTLY = re.compile(
    r"\b(?:may|might|case[- ]by[- ]case|some (?:roles|cases|positions|candidates)"
    r"|every (?:role|candidate|position)|all (?:roles|candidates|positions)|depend\w*|limited"
    r"|exceptional|certain|where possible|guarantee\w*)\b",
    re.IGNORECASE,
)
_WISHED_FOR = re.compile(
    r"\b(?:require|requires|requiring|need|needs|needing|in need of|request|seek)\w*\b[^.;]{0,40}$",
    re.IGNORECASE,
)
_WELCOME = re.compile(
    r"\b(?:welcome|encouraged|will be considered|are considered|can apply|may apply|eligible to apply)\b",
    re.IGNORECASE,
)
_NOT_WELCOME = re.compile(
    r"\b(?:not|n['\u2019]t|cannot|unable)\b[^.;]{0,25}\b(?:considered|accept\w*|apply|eligible|hire"
    r"|employ|proceed|qualif\w+|advance)\b"
    r"|\b(?:need|needs|should|must)\s(?:not|n['\u2019]t)\b[^.;]{0,12}\b(?:apply|require|need)\b"
    r"|\bwill be (?:rejected|disqualified)\b",
    re.IGNORECASE,
)
# The applicant must not need it: "must not require", "without sponsorship".
_MUST_NOT_NEED = re.compile(
    r"\b(?:must|should|may|can|will|do|does|who|and|shall)?\s?(?:not"
    r"|n['\u2019]t)\b\s(?:\w+\s){0,5}?(?:require|need|seek)\b|\bwithout\b(?:[\w\s,()/-]){0,60}$",
    re.IGNORECASE,
)
_NOTHING_NEEDED = re.compile(r"\b(?:regardless of|whether or not|irrespective of)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"^.{0,40}?\b(?:if|when|where|should)\s(?:you|the candidate|applicants?)\b[^,]{0,80},", re.IGNORECASE
)
_ASIDE = re.compile(
    r",\s?(?:at this time|currently|unfortunately|at present|however|at the moment"
    r"|now or in the future),",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;|]|\s[-\u2013\u2014]\s|,?\s\b(?:but|however|although|though|while|aber|mais|pero)\b|\.\s"
    r"|\)\s(?=(?-i:[A-Z]))",
    re.IGNORECASE,
)

_NATION = (
    r"(?:u\.?s\.?a?\.?|united states|american|uk|british|canadian|australian|eu|european|german|nato"
    r"|israeli|dutch|swiss)"
)
_CITIZEN = re.compile(
    rf"\b(?:must|required? to|need to|have to|has to|only|require[sd]?|limited to|restricted to"
    rf"|open to)\b[^.;]{{0,60}}\b(?:{_NATION}\s(?:citizen|national|person)s?(?:hip)?"
    rf"|citizens? of (?:the )?{_NATION}|sole {_NATION}? ?citizen\w*)\b"
    rf"|\b{_NATION}\s(?:citizen(?:ship)?s?|national(?:s|ity)?|persons?)\b[^.;]{{0,40}}\b(?:only|required"
    rf"|is a must|is mandatory|necessary)\b"
    rf"|\bcitizenship\s?(?:status)?\s?[:\u2013-]\s?(?:{_NATION}|required)"
    rf"|\bcitizenship (?:is )?required\b"
    rf"|\b(?:proof of|requires?|itar)\b[^.;]{{0,60}}\b{_NATION}\s(?:citizenship|persons?)\b",
    re.IGNORECASE,
)
_NOT_ONLY_CITIZENS = re.compile(
    r"\b(?:not|n['\u2019]t|no)\b[^.;]{0,30}\b(?:citizen\w*|required)\b|\bregardless\b|\bwithout regard\b"
    r"|\bencouraged to apply\b|\bdiscriminat\w+"
    r"|\bor (?:otherwise )?(?:be )?(?:authori[sz]ed|eligible|have|hold|possess)\b",
    re.IGNORECASE,
)
_PERMIT = re.compile(
    r"\b(?:authori[sz]ed|eligible|eligibility|authori[sz]ation|permitted|entitled|legal(?:ly)?|right"
    r"|permission|allowed) to (?:legally )?work\b"
    r"|\b(?:valid |existing |current |unrestricted )(?:\w+ ){0,2}(?:work|employment) (?:permit"
    r"|authori[sz]ation|visa|rights)\b"
    r"|\b(?:work|employment) (?:permit|authori[sz]ation|rights) (?:is |are )?(?:required|needed"
    r"|mandatory)\b|\b(?:legal|full) (?:work(?:ing)?|employment) (?:rights|authori[sz]ation|status)\b"
    r"|\bgültige arbeitserlaubnis\b|\bpermis de travail\b|\bpermiso de trabajo\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"\be-?verify\b|\bform i-?9\b|\bi-?9\b|\bverify (?:the |your )?(?:identity|employment)",
    re.IGNORECASE,
)
_CUES = (
    *(
        "sponsor",
        "visa",
        "visum",
        "visto",
        "visado",
        "citizen",
        "national",
        "person",
        "itar",
        "permi",
        "authori",
    ),
    *(
        "eligib",
        "right",
        "rights",
        "allowed",
        "entitled",
        "legal",
        "h1b",
        "h-1b",
        "opt",
        "cpt",
        "immigra",
        "green",
    ),
    *("petition", "erlaubnis"),
)


def sponsorship_in(text: str) -> SponsorshipFact:
    """What the whole text comes to. Yes and no in one text is for a person to judge: "caution"."""
    said: dict[SponsorshipVerdict, str] = {}
    for sentence in _answered(text):
        for verdict in _said_in(sentence):
            said.setdefault(verdict, sentence)
    clearance = clearance_in(text)
    if clearance.verdict == "required":
        said.setdefault("citizens_only", clearance.sentence)
    if "offers" in said and (no := said.get("denies") or said.get("citizens_only")):
        return SponsorshipFact("caution", no)
    for verdict in ("citizens_only", "denies", "offers", "caution"):
        if verdict in said:
            return SponsorshipFact(verdict, said[verdict])
    return SponsorshipFact()


def _answered(text: str) -> Iterator[str]:
    """The sentences that may speak of it; "Visa sponsorship?" goes with the "No." after it, verbatim."""
    sentences = sentences_of(text)
    for number, sentence in enumerate(sentences):
        if not sentence.has_any(_CUES):
            continue
        answer = sentences[number + 1].text if number + 1 < len(sentences) else ""
        start = text.find(sentence.text)
        both = text[start : text.find(answer, start + len(sentence.text)) + len(answer)]
        gap = both[len(sentence.text) : -len(answer)]
        is_open = sentence.text.endswith(("?", ":")) or _DASHED.match(gap) or _BARE_ANSWER.match(answer)
        yield both if is_open and _ANSWER.match(answer) else sentence.text


def _said_in(sentence: str) -> Iterator[SponsorshipVerdict]:
    plain = _ASIDE.sub(" ", sentence.replace("*", ""))
    if _BILLING.search(plain):
        plain = _CPT.sub(" ", plain)
    if _CITIZEN.search(plain) and not _NOT_ONLY_CITIZENS.search(plain):
        yield "citizens_only"
    for entry in _ANSWERED.finditer(plain):
        yield "denies" if entry["no"] else "caution" if _PARTLY.search(plain) else "offers"
    yield from _of_clauses(_ANSWERED.sub(" ", plain))
    if _PERMIT.search(plain) and not _BOILERPLATE.search(plain):
        yield "caution"


def _of_clauses(sentence: str) -> Iterator[SponsorshipVerdict]:
    said = {verdict for clause in _CLAUSE.split(sentence) if clause and (verdict := _of_clause(clause))}
    if said == {"offers"} and _NOT_THIS.search(sentence):
        yield "caution" if _PARTLY.search(sentence) else "denies"
    elif (said == {"offers"} and _BUT_NOT.search(sentence)) or (
        said == {"denies"} and _BUT_CAN.search(sentence)
    ):
        yield "caution"
    else:
        yield from said


def _of_clause(clause: str) -> SponsorshipVerdict | None:
    noun, verb = _NOUN.search(clause), _VERB.search(clause)
    if noun and _NOUN_ELSE.search(clause):
        noun = None
    if verb and _PERK.search(clause) and not _VISA_WORD.search(clause):
        verb = None
    match = noun or verb or _IS_LABEL.search(clause)
    if match is None or clause.rstrip().endswith("?"):
        return None
    before, after = clause[: match.start()], clause[match.end() :]
    return _of_wish(before, after) if _WISHED_FOR.search(before) else _of_promise(clause, before, after)


def _of_wish(before: str, after: str) -> SponsorshipVerdict | None:
    """A clause about people who need sponsorship: are they wanted?"""
    if _NOT_WELCOME.search(after) or _NOT_WELCOME.search(before):
        return "denies"
    if _NOTHING_NEEDED.search(before):
        return None
    if _MUST_NOT_NEED.search(before):
        return "denies"
    if _WELCOME.search(after):
        return "offers"
    return "denies" if _NEGATED_BEFORE.search(before) else None


def _of_promise(clause: str, before: str, after: str) -> SponsorshipVerdict | None:
    """A clause about what the employer does; "if you do not have a visa," is not about that."""
    before = _BRACKETED.sub(" ", _CONDITION.sub("", before))
    if _NEGATED_BEFORE.search(before) or _NEGATED_AFTER.search(after) or _NOT_WELCOME.search(clause):
        return "caution" if _PARTLY.search(clause) else "denies"
    if (
        _DUTY.search(before)
        or _OTHER_PEOPLE.search(clause)
        or not (_IS_LABEL.search(clause) or _offers(clause))
    ):
        return None
    return "caution" if _PARTLY.search(clause) else "offers"


def _offers(clause: str) -> bool:
    """Beside a word for the permit any offering word will do; a bare sponsorship must be what is offered."""
    return bool(_OFFER.search(clause) if _VISA_WORD.search(clause) else _BARE_OFFER.search(clause))


def check(criteria: Criteria, snapshot: Snapshot) -> Step:
    """Somebody who needs a visa: the posting offers one, or at least does not refuse."""
    if criteria.sponsorship != "needed":
        return Step(RULE, "skip", "no sponsorship needed")
    fact = sponsorship_in(snapshot.text)
    if fact.verdict == "offers":
        return Step(RULE, "pass", "visa sponsorship is offered", fact.sentence)
    if fact.verdict == "denies":
        return Step(RULE, "reject", "no visa sponsorship", fact.sentence)
    if fact.verdict == "citizens_only":
        return Step(RULE, "reject", "open to citizens only", fact.sentence)
    if fact.verdict == "caution":
        return Step(RULE, "unknown", "the posting is not clear about sponsorship", fact.sentence)
    return Step(RULE, "unknown", "sponsorship is not mentioned")
