"""From where remote work may be done: what places and sentences let in or leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from catalog.place_tables import REGIONS
from reviews.question import Snapshot
from reviews.rules.scopes import Scope, scopes_in
from reviews.rules.sentences import sentences_of
from reviews.rules.titles import word_set
from reviews.rules.work_mode import is_perk

Fit = Literal["in", "maybe", "out"]

# A sentence limits where to work from only when it says so of the applicant or the work, not of the company;
# the place follows within a few words.
_HOME = r"(?:based|located|resid(?:e|es|ing)|living|live|domiciled|situated|physically present)"
_LIMIT = re.compile(
    rf"\b(?:must|should|need to|have to|required to|candidates?|applicants?|you(?:['\u2019]re| are)?"
    rf"|who (?:are|is)|to be|if you)\b[^.;]{{0,40}}?\b{_HOME}\b\s(?:and \w+ )?(?:\w+ ){{0,3}}?(?:in"
    rf"|within|across|outside)\b"
    r"|\bremote(?:ly)?\b(?![- ]first)(?:\s(?:role|position|job|work|opportunity|only"
    r"|working))?\s?(?:[(:,\u2013-]|\b(?:anywhere )?(?:in|within|from|across|throughout|inside)\b)"
    r"|\bwork(?:ing)? (?:remotely )?from (?:home|anywhere)\b"
    r"|\b(?:hire|hiring|employ|recruiting|accept(?:ing)?|consider(?:ing)?)\b(?:\s\w+){0,4}?\s(?:in|from"
    r"|within|outside|based|located|residing)\b"
    r"|\b(?:open|available|restricted|limited|eligible)\s(?:only\s)?(?:to|in|for)\b"
    r"|\b(?:candidates|applicants|residents|employees)\s(?:\w+\s)?(?:in|from|of|within)\b",
    re.IGNORECASE,
)
_NAMED_LIMIT = re.compile(
    r"\b(?=[A-Z][\w.]{1,20}(?:\s[A-Z]\w{1,20}){0,2}[\s-](?:only|based|residents?|applicants?"
    r"|candidates?)\b)",
)
_CUES = tuple(
    word_set(
        """
        remote based locat resid liv domicil situated present work hir employ recruit accept consider open
        available restricted limited eligible candidates applicants only
        """
    )
)
_NEAR = 90  # characters after the cue in which a place is what the cue limits
_NOT_ABOUT_HOME = re.compile(
    r"\b(?:salary|salaries|compensation|pay|range|benefits?|bonus|401|holidays?|scam\w*|fraud\w*|privacy"
    r"|equal opportunity|customers?|clients|offices?|headquarter\w*|law|travel|specified|noted|I"
    r"|I['\u2019]m)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?:\b(?:not|cannot|unable to|no longer)|n['\u2019]t)\b[^.;]{0,40}\b(?:hire|hiring|employ\w*"
    r"|accept\w*|consider\w*|available|open|eligible|support\w*|located|based|resid\w+|liv\w+)\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except(?: for)?|excluding|other than|with the exception of|but not|outside(?: of)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RemoteScope:
    """Where remote work may be done. `allowed` None: not said; `sentence` is the one that limits it."""

    allowed: tuple[Scope, ...] | None = None
    excluded: tuple[Scope, ...] = ()
    sentence: str = ""


def remote_scope_in(text: str) -> RemoteScope:
    """What the text says of where remote work may be done from: the first limit it names, every exclusion."""
    allowed: tuple[Scope, ...] | None = None
    excluded: list[Scope] = []
    sentence = ""
    for read in sentences_of(text):
        if not read.has_any(_CUES):
            continue
        cue = _LIMIT.search(read.text) or _NAMED_LIMIT.search(read.text)
        if cue is None or _NOT_ABOUT_HOME.search(read.text) or is_perk(read.text):
            continue
        inside, outside = _sides(read.text, cue.start())
        excluded += outside
        if inside and allowed is None:
            allowed = tuple(inside)
        if (inside or outside) and not sentence:
            sentence = read.text
    return RemoteScope(allowed, tuple(excluded), sentence)


def _sides(sentence: str, cue: int) -> tuple[list[Scope], list[Scope]]:
    """The places that a sentence lets in, and those it leaves out."""
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
        for place in snapshot.places
        if place.remote
        for scope in _of_place(place.country, place.region, place.raw)
    ]
    if not scopes:
        scopes = [
            scope for raw in snapshot.locations if "remote" in raw.casefold() for scope in scopes_in(raw)
        ]
    quote = next((raw for raw in snapshot.locations if "remote" in raw.casefold()), "")
    return RemoteScope(tuple(scopes) or None, sentence=quote)


def _of_place(country: str | None, region: str | None, raw: str) -> Iterable[Scope]:
    if country:
        return [Scope(raw, frozenset({country}), region)]
    return [Scope(raw, REGIONS[region])] if region in REGIONS else scopes_in(raw)


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
