"""The hiring platforms that can be read, by kind, and how a URL tells which one it belongs to."""

from __future__ import annotations

from catalog.adapters.ashby import Ashby
from catalog.adapters.base import Adapter, Detection
from catalog.adapters.greenhouse import Greenhouse
from catalog.adapters.lever import Lever
from catalog.links import InvalidURL, canonical, split

ADAPTERS: dict[str, Adapter] = {adapter.kind: adapter for adapter in (Greenhouse(), Lever(), Ashby())}

# A page of the employer's own that shows one posting of a platform. The board behind it is named
# only inside the page, and guessing a board from the employer's name finds other companies.
_OWN_PAGE_MARKS = {"gh_jid": "Greenhouse", "ashby_jid": "Ashby"}
_VENDOR_DOMAINS = {"greenhouse.io": "Greenhouse", "lever.co": "Lever", "ashbyhq.com": "Ashby"}


def detect(url: str) -> Detection | None:
    """The platform and board that `url` names by itself; None for everything else, malformed text too."""
    for adapter in ADAPTERS.values():
        if found := adapter.detect(url):
            return found
    return None


def why_undetected(url: str) -> str:
    """What can be said about a URL that `detect` does not recognise."""
    try:
        parts = split(url)
    except InvalidURL as fault:
        return f"not a web address: {fault}"
    for mark, platform in _OWN_PAGE_MARKS.items():
        if mark in parts.query:
            return f"{mark} proves {platform}, but the board's token is in the page, not in the URL"
    for domain, platform in _VENDOR_DOMAINS.items():
        if f".{parts.host}".endswith(f".{domain}"):
            return f"an address of {platform} that names no board"
    return "no known platform's address"


def canonical_posting_url(url: str) -> str:
    """The one spelling of a posting's URL (A4): the platform's own where the URL names it, else `canonical`.

    A board link, an apply link, an embedded form and an API address of one posting come out the same.
    Idempotent. Raises InvalidURL.
    """
    found = detect(url)
    if found and found.posting_id:
        return ADAPTERS[found.kind].posting_url(found)
    return canonical(url)
