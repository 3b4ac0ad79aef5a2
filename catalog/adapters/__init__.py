"""The hiring platforms that can be read, by kind, and how a URL tells which one it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from catalog.adapters.base import Adapter, Detection
from catalog.links import InvalidURL, canonical, is_web_url, split


def _platforms(parent: type[Adapter]) -> Iterator[type[Adapter]]:
    for child in parent.__subclasses__():
        if "kind" in vars(child):
            yield child
        yield from _platforms(child)


# Every module of this package that defines an adapter is found by itself: a platform is one file.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
ADAPTERS: dict[str, Adapter] = {
    platform.kind: platform() for platform in sorted(_platforms(Adapter), key=lambda platform: platform.kind)
}


def _by_domain() -> dict[str, tuple[Adapter, ...]]:
    """The platforms that may answer for hosts of a domain: asking all of them for each URL takes too long."""
    index: dict[str, tuple[Adapter, ...]] = {}
    for adapter in ADAPTERS.values():
        for domain in adapter.domains:
            index[domain] = (*index.get(domain, ()), adapter)
    return index


_BY_DOMAIN = _by_domain()


def _answering_for(host: str) -> Iterator[Adapter]:
    name = host.partition(":")[0]
    while name:
        yield from _BY_DOMAIN.get(name, ())
        name = name.partition(".")[2]


def detect(url: str) -> Detection | None:
    """The platform and board that `url` names by itself; None for everything else, malformed text too."""
    try:
        parts = split(url)
    except InvalidURL:
        return None
    for adapter in _answering_for(parts.host):
        if found := adapter.found(parts):
            return found
    return None


def why_undetected(url: str) -> str:
    """What can be said about a URL that `detect` does not recognise."""
    try:
        parts = split(url)
    except InvalidURL as fault:
        return f"not a web address: {fault}"
    for adapter in ADAPTERS.values():
        for mark in adapter.own_page_marks:
            if mark in parts.query:
                return f"{mark} proves {adapter.name}, but the board's token is in the page, not in the URL"
    for adapter in _answering_for(parts.host):
        return f"an address of {adapter.name} that names no board"
    return "no known platform's address: the page itself has to be read"


_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,199}")


def canonical_posting_url(url: str) -> str:
    """The one spelling of a posting's URL (A4): the platform's own where the URL names it, else `canonical`.

    A board link, an apply link, an embedded form and an API address of one posting come out the same.
    Idempotent. Raises InvalidURL.
    """
    found = detect(url)
    if found and found.posting_id:
        own = ADAPTERS[found.kind].posting_url(found)
        if _PLAIN_ID.fullmatch(found.posting_id) or _names_itself(own, found):
            return own
    return canonical(url)


def _names_itself(own: str, found: Detection) -> bool:
    """Whether the platform's spelling of a posting with an odd id leads to that posting."""
    again = detect(own) if is_web_url(own) else None
    return again is not None and again.posting_id == found.posting_id and canonical(own) == own
