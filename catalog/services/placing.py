"""Places as sources write them, each text read once."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.models import Place
from catalog.places import parse_place

CHUNK = 100
CITY_CHARS = Place._meta.get_field("city").max_length or 0
REGION_CHARS = Place._meta.get_field("region").max_length or 0


def places_of(raws: Iterable[str]) -> dict[str, list[Place]]:
    """The places that each text names, read once per distinct text."""
    found: dict[str, list[Place]] = {raw: [] for raw in raws}
    for place in Place.objects.filter(raw__in=list(found)).order_by("raw", "ordinal"):
        found[place.raw].append(place)
    unread = sorted(raw for raw, places in found.items() if not places)
    Place.objects.bulk_create(
        [row for raw in unread for row in _place_rows(raw)], ignore_conflicts=True, batch_size=CHUNK
    )
    for place in Place.objects.filter(raw__in=unread).order_by("raw", "ordinal"):
        found[place.raw].append(place)
    return found


def _place_rows(raw: str) -> list[Place]:
    """A text that names no place is kept as a row that says so, so that it is not read again.

    No city's name is longer than the column: what is, is prose.
    """
    return [
        Place(
            raw=raw,
            ordinal=ordinal,
            country=place.country or "",
            region=place.region or "",
            city=place.city or "",
            remote=place.remote,
        )
        for ordinal, place in enumerate(parse_place(raw))
        if len(place.city or "") <= CITY_CHARS and len(place.region or "") <= REGION_CHARS
    ] or [Place(raw=raw)]
