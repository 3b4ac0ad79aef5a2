"""From where remote work may be done: what places and sentences let in or leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from catalog.place_tables import REGIONS, US_STATES
from catalog.places import split_exclusions, work_mode_hint
from reviews.question import PlaceFact, Snapshot
from reviews.rules.scopes import Scope, scopes_in, scopes_of
from reviews.rules.sentences import sentences_of
from reviews.rules.titles import word_set
from reviews.rules.work_mode import is_perk, mode_of

Fit = Literal["in", "maybe", "out"]

# A sentence limits where to work from only when it says so of the applicant or the work, not of the company;
# the place follows within a few words.
_HOME = r"(?:based|located|resid(?:e|es|ing)|living|live|domiciled|situated|physically present)"
_PEOPLE = (
    r"(?:candidates?|applicants?|applications?|people|persons?|individuals|anyone|someone|talent|residents)"
)
_OTHERS = r"\b(?:team|colleague|coworker|customer|client|stakeholder|partner|office|user)"
_LIMIT = re.compile(
    rf"\b(?<!if )you(?:['\u2019]re| are| will be)?\s(?:\w+ ){{0,2}}?{_HOME}\b\s(?:\w+ ){{0,3}}?(?:in|within"
    rf"|across|outside)\b|\b(?:must|should|need to|have to|required to|candidates?|applicants?"
    rf"|(?:{_PEOPLE}|engineers?|developers?|designers?|managers?) who (?:are|is)|to be"
    rf"|only (?:\w+ ){{0,3}}if you)\b(?:(?!{_OTHERS})[^.;]){{0,40}}?\b{_HOME}\b"
    rf"\s(?:and \w+ )?(?:\w+ ){{0,3}}?(?:in"
    rf"|within|across|outside)\b"
    r"|\bremote(?:ly)?\b(?![- ]first)(?:\s(?:role|position|job|work|opportunity|only"
    r"|working))?\s?(?:[(:,\u2013-]|\b(?:anywhere )?(?:in|within|from|across|throughout|inside|outside"
    r"|except|excluding|everywhere|other than|but not)\b)"
    r"|\b(?:field|home|remote)[- ]based (?:in|within|across|throughout)\b"
    r"|\bwork(?:ing)? (?:remotely )?from (?:home|anywhere)\b"
    rf"|\b(?:open|available|restricted|limited|eligible)\s(?:only\s)?(?:to|in|for)\b"
    rf"|\b(?:candidates|applicants|residents)\s(?:\w+\s)?(?:in|from|of|within)\b",
    re.IGNORECASE,
)
_HIRE = re.compile(
    r"\b(?:hir(?:e|ing)\b(?!\s(?:managers?|team|process|partners?|plans?|goals?))|recruit(?:ing)?\b"
    r"|(?:can|able to|only|to)\s(?:only\s)?employ\b"
    rf"|(?:accept(?:ing)?|consider(?:ing)?)\b(?=\s(?:\w+\s){{0,3}}?(?:{_PEOPLE}|remote)\b))"
    r"(?:\s\w+){0,4}?\s(?:in|from|within|outside|based|located|residing)\b",
    re.IGNORECASE,
)
_NAMED_LIMIT = re.compile(
    r"\b(?=[A-Z][\w.]{1,20}(?:\s[A-Z]\w{1,20}){0,2}[\s-](?:only|residents?|applicants?|candidates?"
    r"|based(?=[.,;)]|$|\s(?:only|candidates?|applicants?|remote|roles?|positions?|individuals|people"
    r"|residents?)))\b)",
)
# "Open to", "available in" and "limited to" say where a product is sold as often as where a role may be done.
_OFFER = re.compile(r"(?:open|available|restricted|limited|eligible (?:in|for)|residents)\b", re.IGNORECASE)
_ROLE_AHEAD = re.compile(
    r"(?:^|[:(])[\W_]*(?:(?:currently|only|now|remote(?:ly)?|also|still|fully|is|are|100%|must|be)[\s,;]+){0,4}$"
    r"|\b(?:roles?|positions?|jobs?|opportunit(?:y|ies)|openings?|posts?|postings?|vacanc(?:y|ies)|internships?"
    rf"|hiring|recruitment|employment|{_PEOPLE})\b[^.;]{{0,120}}$"
    r"|\b(?:we|I)(?:['\u2019]re| are| remain)\s(?:\w+\s){0,2}$",
    re.IGNORECASE,
)
_OF_PRODUCT = re.compile(
    r"\b(?:products?|services?|features?|apps?|platform|software|tools?|plans?|offerings?|cards?|loans?"
    r"|accounts?|insurance|subscriptions?|solutions?)\b[^.;]{0,40}$",
    re.IGNORECASE,
)
_CUES = tuple(
    word_set(
        """
        remote based locat resid liv domicil situated present work hir employ recruit accept consider open
        available restricted limited eligible candidates applicants only
        """
    )
)
_JUST_BEFORE = 30
_NEAR = 90  # characters after the cue in which a place is what the cue limits
_NOT_ABOUT_HOME = re.compile(
    r"\b(?:salary|salaries|compensation|pay|range|benefits?|bonus|401|holidays?|scam\w*|fraud\w*|privacy"
    r"|equal opportunity|customers?|clients|offices?|headquarter\w*|law|travel|specified|noted|I"
    r"|I['\u2019]m|perks|(?:companies|businesses|employers|startups)\b[^.;]{0,30}\bhire)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?:\b(?:not|cannot|unable to|no longer)|n['\u2019]t)\b[^.;]{0,40}\b(?:hire|hiring|employ\w*"
    r"|accept\w*|consider\w*|available|open|eligible|support\w*|located|based|resid\w+|liv\w+)\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except(?:ing)?(?: for)?|excluding|other than|with the exception of|but not|(?<=where )but"
    r"|outside(?: of)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RemoteScope:
    """Where remote work may be done. `allowed` None: not said; `sentence` is the one that limits it."""

    allowed: tuple[Scope, ...] | None = None
    excluded: tuple[Scope, ...] = ()
    sentence: str = ""


def remote_scope_in(text: str) -> RemoteScope:
    """What the text says of where remote work may be done from: the first limit it names, every exclusion.

    "We hire in Germany. We also hire in Poland." is one limit in two sentences.
    """
    allowed: tuple[Scope, ...] | None = None
    is_hiring = False  # whether `allowed` is from a sentence of where the company hires
    excluded: list[Scope] = []
    sentence = ""
    for read in sentences_of(text):
        if not read.has_any(_CUES):
            continue
        cue = _cue_in(read.text)
        if cue is None or _NOT_ABOUT_HOME.search(read.text) or is_perk(read.text):
            continue
        inside, outside = _sides(read.text, cue.start())
        excluded += outside
        hires = cue.re is _HIRE
        if inside and (allowed is None or (hires and is_hiring)):
            allowed, is_hiring = (*(allowed or ()), *inside), hires
        if (inside or outside) and not sentence:
            sentence = read.text
    return RemoteScope(allowed, tuple(excluded), sentence)


def _cue_in(sentence: str) -> re.Match[str] | None:
    """The words of `sentence` that limit where the work is done from, if it has any."""
    for cue in _LIMIT.finditer(sentence):
        ahead = sentence[: cue.start()]
        is_of_role = _ROLE_AHEAD.search(ahead) and not _OF_PRODUCT.search(ahead)
        if is_of_role or not _OFFER.match(cue[0]):
            return cue
    return _HIRE.search(sentence) or _NAMED_LIMIT.search(sentence)


def _sides(sentence: str, cue: int) -> tuple[list[Scope], list[Scope]]:
    """The places that a sentence lets in, and those it leaves out."""
    before = list(_EXCEPT.finditer(sentence, max(0, cue - _JUST_BEFORE), cue))
    if before and not sentence[before[-1].end() : cue].strip(" ,").removeprefix("the").strip():
        cue = before[-1].start()  # "outside the" of "outside the US only"
    limit = sentence[cue:]
    if _REFUSED.search(sentence):
        refused = scopes_in(limit)
        # "cannot hire outside the US" lets the US in
        return (refused, []) if re.search(r"\boutside\b", sentence, re.IGNORECASE) else ([], refused)
    if cut := _EXCEPT.search(limit):
        return scopes_in(limit[: cut.start()]), scopes_in(limit[cut.end() :])
    return scopes_in(limit[:_NEAR]), []


def remote_scope_of(snapshot: Snapshot) -> RemoteScope:
    """Where the listing's own places let the work be done from, without its text."""
    scopes = [
        scope
        for place in remote_places(snapshot)
        for scope in _of_place(place.country, place.region, place.raw)
    ]
    remote = [raw for raw in snapshot.locations if work_mode_hint(raw) == "yes"]
    if not scopes:
        scopes = [scope for raw in remote for scope in scopes_in(split_exclusions(raw)[0])]
    excluded = [scope for raw in snapshot.locations for scope in _left_out(split_exclusions(raw)[1], scopes)]
    return RemoteScope(tuple(scopes) or None, tuple(excluded), next(iter(remote), ""))


def remote_places(snapshot: Snapshot) -> list[PlaceFact]:
    """The places in which the work may be done from anywhere; the others are offices, or that is not said.

    In the list "Remote - US; Canada" the word is said for both: a country is no office of a remote posting.
    """
    is_remote = mode_of(snapshot).mode == "yes"
    return [place for place in snapshot.places if place.remote or (is_remote and not place.city)]


def _left_out(names: str, allowed: Iterable[Scope]) -> list[Scope]:
    """What a location excludes; a code such as "CA" is a state's where the rest of it is in the US."""
    is_american = {country for scope in allowed for country in scope.countries} == {"US"}
    named = scopes_in(f"states: {names}") if is_american else scopes_in(names)
    codes = [code for code in re.findall(r"\b[A-Z]{2}\b", names) if is_american and code in US_STATES]
    return [*named, *(scope for code in codes for scope in scopes_of(f"US-{code}"))]


def _of_place(country: str | None, region: str | None, raw: str) -> Iterable[Scope]:
    if country:
        return [Scope(raw, frozenset({country}), region)]
    return [Scope(raw, REGIONS[region])] if region in REGIONS else scopes_in(split_exclusions(raw)[0])


def fits(homes: Iterable[Scope], scope: RemoteScope) -> Fit:
    """Whether somebody at home in one of `homes` may do the work; "maybe" where it depends on the state."""
    best: Fit = "out"
    for home in homes:
        if any(_covers(left_out, home) == "in" for left_out in scope.excluded):
            continue
        is_split = any(_covers(left_out, home) == "maybe" for left_out in scope.excluded)
        let_in = [_covers(place, home) for place in scope.allowed] if scope.allowed is not None else ["maybe"]
        if "in" in let_in and not is_split:
            return "in"
        if "in" in let_in or "maybe" in let_in:
            best = "maybe"
    return best


def _covers(place: Scope, home: Scope) -> Fit:
    """Whether `place` covers `home`: all of it, only a part, or nothing."""
    if not place.countries or not home.countries:
        return "maybe"
    if not place.countries & home.countries:
        return "out"
    if place.region is None or place.region == home.region:
        return "in"
    return "maybe" if home.region is None else "out"
