"""What a fetched page says: its title and text, or why it is no page to read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from catalog.adapters.http import Response
from catalog.charset import decode
from catalog.html import clean, to_text
from catalog.page_notices import Notices, read_notices

PAGE_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.5"
PAGE_MAX_BYTES = 5 * 1024 * 1024  # a posting's page with everything inlined stays below 2 MB

# A wall is a short page. Beyond this many characters the phrases below are somebody's prose.
WALL_CHARS = 1500
_WALL_STATUSES = {401, 403, 405, 406, 429, 451}

_HTML_TYPES = {"", "text/html", "application/xhtml+xml"}
_TEXT_TYPES = {"application/json", "application/ld+json", "application/xml", "application/rss+xml"}

# Phrases of the interstitial pages of Cloudflare, Akamai, Imperva, PerimeterX and AWS WAF and of the
# plain refusals of web servers, in lower case.
_WALL_PHRASES = (
    "just a moment",
    "checking your browser",
    "checking if the site connection is secure",
    "enable javascript and cookies to continue",
    "please enable js and disable any ad blocker",
    "please turn javascript on and reload the page",
    "verify your browser",
    "verifying your browser",
    "browser verification",
    "ddos protection by",
    "attention required!",
    "ray id",
    "are you a robot",
    "robot or human",
    "human or robot",
    "you are a robot",
    "not a robot",
    "human verification",
    "verifying you are human",
    "performing security verification",
    "pardon our interruption",
    "request unsuccessful. incapsula",
    "unusual traffic",
    "access denied",
    "access to this page has been denied",
    "access to this resource has been denied",
    "access to this site has been denied",
    "you don't have permission to access",
    "bot detection",
    "request blocked",
    "you have been blocked",
    "too many requests",
)
# Words of walls that postings use as well ("human-centred", "Security check officer", a team that fights
# captchas) count where they ask the reader for something, or are all that a line says. Nothing here repeats
# without a bound: a longer text costs its length.
_WALL_REQUESTS = re.compile(
    r"\b(?:are you|you are|you're|prove you're|confirm you're) (?:a )?human\b(?!-)"
    r"|\b(?:solve|complete|enter|pass|submit|fill (?:in|out)|type|answer|do)\b[^.\n]{0,20}"
    r"\b(?:the|a|this|our|following) (?:h|re)?captcha\b(?! (?:farm|solver))"
    r"|\bcaptcha (?:challenge|verification|check|required|is required|code)\b"
    r"|captcha\b[^.\n]{0,20}\bto continue\b"
    r"|\b(?:complete|pass|undergo|running|performing) (?:a |the )?security check\b(?!s| officer)"
    r"|\bsecurity check to access\b"
)
_WALL_LINE = re.compile(  # of a line's words
    r"(?:h|re)?captcha"
    r"|(?:one more step )?(?:please )?(?:(?:complet|pass|undergo|perform)(?:e|ing)? )?(?:(?:the|a) )?"
    r"security check"
)
_WORD = re.compile(r"\w+")
# The notice under an ordinary application form, which is no wall.
_FORM_NOTICE = re.compile(r"protected by (?:google |invisible )?h?(?:re)?captcha", re.IGNORECASE)
# Headers that only a challenge carries, with the value that says so ("" for any).
_WALL_HEADERS = {"cf-mitigated": "challenge", "x-amzn-waf-action": ""}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as read. `title` is None and `text` "" where it has none; `reason` why it was not fetched."""

    outcome: Literal["fetched", "blocked", "failed", "gone"]
    reason: str = ""
    title: str | None = None
    text: str = ""


def read_page(response: Response) -> Page:
    """What the response shows to a reader. Only its status says that a page is gone (A3)."""
    media_type = response.content_type.partition(";")[0].strip().lower()
    if media_type not in _HTML_TYPES | _TEXT_TYPES and not media_type.startswith("text/"):
        return Page("failed", f"not a page: {media_type[:100]}")
    body = decode(response.content, response.content_type)
    title, text = None, clean(body)
    if media_type in _HTML_TYPES:
        title, text = page_title(body), to_text(body)
    if response.status in {404, 410}:
        return Page("gone", f"status {response.status}", title, text)
    if reason := blocked_reason(response.status, response.headers, f"{title or ''}\n{text}"):
        return Page("blocked", reason, title, text)
    if response.status >= 400:
        return Page("failed", f"status {response.status}", title, text)
    return Page("fetched", "", title, text)


def notices(response: Response) -> Notices:
    """Where the page's own notices stand; a page without markup is its lines."""
    media_type = response.content_type.partition(";")[0].strip().lower()
    body = decode(response.content, response.content_type)
    return read_notices(body) if media_type in _HTML_TYPES else Notices(lines=tuple(body.splitlines()))


def blocked_reason(status: int, headers: Mapping[str, str], text: str) -> str | None:
    """Which sign of a wall against robots the answer carries, None for an ordinary page.

    `text` is title and text of the page; header names are in lower case. A wall proves nothing about the
    posting behind it (A3).
    """
    for name, value in _WALL_HEADERS.items():
        if name in headers and value in headers[name].lower():
            return f"a challenge ({name})"
    if len(text) > WALL_CHARS:
        return None
    spoken = _FORM_NOTICE.sub("", text).lower().replace("\u2019", "'")
    for phrase in _WALL_PHRASES:
        if phrase in spoken:
            return f'a wall: "{phrase}"'
    if asked := _WALL_REQUESTS.search(spoken):
        return f'a wall: "{asked[0].strip()}"'
    for line in spoken.split("\n"):
        if _WALL_LINE.fullmatch(" ".join(_WORD.findall(line))):
            return f'a wall: "{line.strip()}"'
    return f"refused with a short page, status {status}" if status in _WALL_STATUSES else None


def page_title(html: str) -> str | None:
    """The title of the page itself: none out of a script, a comment, a drawing."""
    return read_notices(html).title or None
