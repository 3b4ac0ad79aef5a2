"""A listing as JSON, with the keys and in the order that machines may rely on."""

from __future__ import annotations

from typing import Any

from catalog.adapters.base import ParsedListing, Pay


def normalised(listing: ParsedListing) -> dict[str, Any]:
    return {
        "external_id": listing.external_id,
        "url": listing.url,
        "apply_url": listing.apply_url,
        "title": listing.title,
        "company": listing.company,
        "locations": list(listing.locations),
        "remote": listing.remote,
        "employment_type": listing.employment_type,
        "department": listing.department,
        "posted_at": listing.posted_at,
        "updated_at": listing.updated_at,
        "compensation": _compensation(listing.compensation),
        "description_html": listing.description_html,
        "description_text": listing.description_text,
        "raw_url": listing.raw_url,
    }


def _compensation(pay: Pay | None) -> dict[str, Any] | None:
    if pay is None:
        return None
    return {"min": pay.min, "max": pay.max, "currency": pay.currency, "period": pay.period}
