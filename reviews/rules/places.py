"""Whether a posting is where a person wants to work, and may work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from catalog.place_tables import REGIONS, fold
from catalog.places import split_exclusions
from reviews.criteria import Criteria
from reviews.question import PlaceFact, Snapshot, Step
from reviews.rules.remote import (
    Fit,
    RemoteScope,
    fits,
    remote_places,
    remote_scope_in,
    remote_scope_of,
)
from reviews.rules.scopes import Scope, label_of, scopes_in, scopes_of
from reviews.rules.work_mode import mode_of

MODE_RULE = "remote.mode"
PLACE_RULE = "place"
FROM_RULE = "remote.from"


def check_mode(criteria: Criteria, snapshot: Snapshot) -> Step:
    """The work mode is the wanted one. Hybrid is not remote, and a place alone says nothing of the mode."""
    if criteria.remote not in ("only", "no"):
        return Step(MODE_RULE, "skip", "any work mode")
    fact = mode_of(snapshot)
    if criteria.remote == "no":
        has_office = len(remote_places(snapshot)) < len(snapshot.places)
        if fact.mode == "yes" and not has_office:
            return Step(MODE_RULE, "reject", "it is remote", fact.sentence)
        return Step(MODE_RULE, "pass", "it does not have to be remote", fact.sentence)
    if fact.mode == "yes":
        return Step(MODE_RULE, "pass", "it is remote", fact.sentence)
    if fact.mode == "unknown":
        return Step(MODE_RULE, "unknown", "remote work is not mentioned")
    said = "it is hybrid" if fact.mode == "hybrid" else "it is not remote"
    return Step(MODE_RULE, "reject", said, fact.sentence)


def check_place(criteria: Criteria, snapshot: Snapshot) -> Step:
    """One of the posting's places is wanted; or it is remote and may be done from where the person is."""
    if not criteria.places or criteria.remote == "only":
        return Step(PLACE_RULE, "skip", "no place asked for")
    wanted = _scopes(criteria.places)
    offices = [place for place in snapshot.places if not place.remote]
    found = [(_fit(wanted, place), place) for place in offices]
    best: Fit = next((fit for fit in ("in", "maybe") if any(fit == of for of, _ in found)), "out")
    quote = next((_raw(place, snapshot) for fit, place in found if fit == best), "")
    where = f"in {quote}" if quote else "in another place"
    if best == "in":
        return Step(PLACE_RULE, "pass", f"it is {where if quote else 'in a wanted place'}", quote)
    if criteria.remote != "no" and mode_of(snapshot).mode == "yes":
        homes = criteria.remote_from if criteria.remote == "allowed" else ()
        return _from(PLACE_RULE, homes or criteria.places, snapshot)
    named = " or ".join(label_of(place) for place in criteria.places[:3])
    if not offices:
        return Step(PLACE_RULE, "unknown", "no place is stated")
    if best == "maybe":
        return Step(PLACE_RULE, "unknown", f"it is {where}; whether that is in {named} is not clear", quote)
    return Step(PLACE_RULE, "reject", f"it is {where}, not in {named}", quote)


def check_from(criteria: Criteria, snapshot: Snapshot) -> Step:
    """Remote work that the person may do from where they are; where places are wanted, that rule asks."""
    homes = criteria.remote_from or (criteria.places if criteria.remote == "only" else ())
    if not homes or (criteria.places and criteria.remote != "only"):
        return Step(FROM_RULE, "skip", "no limit on where remote work is done from")
    if mode_of(snapshot).mode != "yes":
        return Step(FROM_RULE, "skip", "not known to be remote")
    return _from(FROM_RULE, homes, snapshot)


def _from(rule: str, homes: Iterable[str], snapshot: Snapshot) -> Step:
    """Listing and text must both let the person in; a text narrows what the listing's tag says.

    Where the text lets in whom the list leaves out, they contradict each other, and neither is believed.
    """
    listed, told = remote_scope_of(snapshot), remote_scope_in(snapshot.text)
    people = _scopes(homes)
    named = " or ".join(label_of(home) for home in homes)
    by_text = fits(people, told)
    if by_text == "out":
        return Step(rule, "reject", f"remote, but not from {named}", told.sentence)
    if listed.allowed is None:
        listed = replace(_around_offices(snapshot), excluded=listed.excluded)
    by_list = fits(people, replace(listed, excluded=(*listed.excluded, *told.excluded)))
    if by_list == "out" and by_text != "in":
        return Step(rule, "reject", f"remote, but not from {named}", listed.sentence)
    quote = told.sentence or listed.sentence
    if (by_text == "in" and by_list != "out") or (told.allowed is None and by_list == "in"):
        return Step(rule, "pass", f"remote from {named}", quote)
    return Step(rule, "unknown", f"remote; whether from {named} is not clear", quote)


def _around_offices(snapshot: Snapshot) -> RemoteScope:
    """Where a remote posting lets work be done from when only its offices are listed.

    A country or region is the answer itself. A city is an office: in its country surely, and of elsewhere
    nothing is said.
    """
    scopes = [Scope(place.raw, _countries(place)) for place in snapshot.places]
    if any(place.city for place in snapshot.places):
        scopes.append(Scope("elsewhere"))
    return RemoteScope(tuple(scopes) or None, sentence=next(iter(snapshot.locations), ""))


def _scopes(names: Iterable[str]) -> list[Scope]:
    return [scope for name in names for scope in scopes_of(name)]


def _raw(place: PlaceFact, snapshot: Snapshot) -> str:
    """The place as the source wrote it, the whole location where the parsed piece is not verbatim."""
    if place.raw and snapshot.says(place.raw):
        return place.raw
    return snapshot.locations[0] if len(snapshot.locations) == 1 else ""


def _fit(wanted: Iterable[Scope], place: PlaceFact) -> Fit:
    fits_of = [_fit_one(scope, place) for scope in wanted]
    return next((fit for fit in ("in", "maybe") if fit in fits_of), "out")


def _fit_one(wanted: Scope, place: PlaceFact) -> Fit:
    covered = _countries(place)
    if not wanted.countries and wanted.city is None:
        # a name that no table knows: the same words, or no telling
        return "in" if fold(wanted.label) in fold(place.raw) else "maybe"
    if wanted.countries and covered and not covered & wanted.countries:
        return "out"
    if wanted.countries and not covered:
        is_other_city = wanted.city and place.city and fold(place.city) != wanted.city
        return "out" if is_other_city else "maybe"
    if wanted.is_wide:
        return "in" if covered <= wanted.countries else "maybe"
    return _fit_inside(wanted, place)


def _fit_inside(wanted: Scope, place: PlaceFact) -> Fit:
    """Within the wanted country: the wanted city or subdivision, another, or not said."""
    region = None if place.region in REGIONS else place.region
    if wanted.region and region and region != wanted.region:
        return "out"
    if wanted.city is None:
        return "in" if region else "maybe"
    if place.city is None:
        return "maybe"
    return "in" if fold(place.city) == wanted.city else "out"


def _countries(place: PlaceFact) -> frozenset[str]:
    if place.country:
        return frozenset({place.country})
    if place.region in REGIONS:
        return REGIONS[place.region]
    named = scopes_in(split_exclusions(place.raw)[0])
    return frozenset[str]().union(*(scope.countries for scope in named))
