"""Other people's HTML and text, made safe to store, to show and to read. No database, no network."""

from __future__ import annotations

import re
import unicodedata
from html import escape, unescape

import nh3

# Raise it when the profile below changes: stored HTML names the version that made it.
SANITISER_VERSION = "1"

MAX_CHARACTERS = 2_000_000  # longer than any description; beyond it nothing is kept
# nh3 is quadratic in nesting depth, in the attributes of one tag and in formatting elements left
# open (each paragraph opens them all again). Past these bounds a description becomes plain paragraphs.
PARSED_CHARACTERS = 300_000
PARSED_TAGS = 5_000
PARSED_OPEN_FORMATTING = 30

_FORMATTING = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
_HEADINGS = "h1 h2 h3 h4 h5 h6"
_TAGS = frozenset(
    f"p br hr ul ol li strong b em i u s sub sup {_HEADINGS} blockquote pre code a table thead tbody tfoot"
    " tr th td caption dl dt dd span div small abbr".split()
)
_ATTRIBUTES = {
    "*": set[str](),  # named, because nh3 otherwise keeps lang and title on every tag
    "a": {"href", "title"},
    "abbr": {"title"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
_SCHEMES = {"http", "https", "mailto"}
_LINK_REL = "noopener noreferrer nofollow ugc"
# Elements whose content is not text for a reader. Browsers read most of them as raw characters.
_UNREAD = frozenset({"script", "style", "template", "iframe", "noembed", "noframes", "title", "textarea"})

_BLOCKS = frozenset(
    f"address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption"
    f" figure footer form {_HEADINGS} header hr html legend li main menu nav ol option p pre section summary"
    " table tbody tfoot thead tr ul".split()
)
_CELLS = frozenset({"td", "th"})

_TAG_NAME = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Every alternative ends at its delimiter or at the end of the text and gives nothing back, so that a
# scan is linear whatever is left open. A quote opens a value only after "=", as in browsers.
_TOKEN = re.compile(
    r"""<!--(?:-?>|.*?(?:--!?>|\Z))
      | <[!?][^>]*(?:>|\Z)
      | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*)
         (?:[^>=]|=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))?)*+ (?:>|\Z)
      | (?P<text>[^<]+|<+(?=<)|<)""",
    re.DOTALL | re.VERBOSE,
)

# Characters that show nothing, steer the direction of what follows, or cannot be stored: controls,
# soft hyphen and fillers, bidi controls, zero width, variation selectors without emoji use, lone
# surrogates, interlinear and tag characters, noncharacters.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    r"\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    r"\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
    # Joiners belong inside emoji and inside scripts that join letters, and hide words anywhere else.
    r"|(?<![\u0600-\u109f\u1780-\u1aff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]+"
)
_LINE_SEPARATORS = re.compile(r"\r\n?|[\u2028\u2029]")
# Normalising is quadratic in a run of combining marks; no language stacks this many on a letter.
_LONG_MARKS = re.compile(r"[^\w\s\x00-\u02ff]{33,}")
_SPACES = re.compile(r"\s+")


def sanitise(html: str) -> str:
    """The HTML reduced to the profile: a short list of tags, web and mail links, no style, no images.

    Too deep or too large for nh3: the same text as plain paragraphs. Longer than `MAX_CHARACTERS`: "",
    because a description is kept whole or not at all (A5). The result is safe to place inside an
    element of a page; it need not be a fixed point.
    """
    if len(html) > MAX_CHARACTERS:
        return ""
    source = visible(html)
    if not _is_tame(source):
        return as_paragraphs(to_text(source))
    return nh3.clean(
        source,
        tags=set(_TAGS),
        clean_content_tags=set(_UNREAD),
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        url_relative="deny",  # a relative link would point into our own site
        link_rel=_LINK_REL,
    ).strip()


def to_text(html: str) -> str:
    """The text a reader sees, a line for each block, list item and table row. Linear in its input.

    Inline tags vanish, entities are decoded once, every run of white space is one space (lines of
    preformatted text are kept), empty lines are dropped.
    """
    pieces: list[str] = []
    position = preformatted = 0
    while match := _TOKEN.match(html, position):
        position = match.end()
        if text := match["text"]:
            text = unescape(text)
            pieces.append(text if preformatted else _SPACES.sub(" ", text))
            continue
        name = (match["name"] or "").lower()
        if name in _UNREAD and not match["end"]:
            position = _end_of(name, html, position)
        elif name == "pre":
            preformatted = max(0, preformatted + (-1 if match["end"] else 1))
        pieces.append("\n" if name in _BLOCKS else " " if name in _CELLS else "")
    lines = (" ".join(line.split()) for line in visible("".join(pieces)).split("\n"))
    return "\n".join(line for line in lines if line)


def clean(text: str) -> str:
    """The text as one line: no invisible characters, NFC, single spaces, trimmed. For titles and names."""
    return " ".join(visible(text).split())


def visible(text: str) -> str:
    """The text in NFC without characters that hide, reorder or break storage; line ends are newlines."""
    if text.isascii() and text.isprintable():
        return text
    text = _INVISIBLE.sub("", _LINE_SEPARATORS.sub("\n", text))
    return unicodedata.normalize("NFC", _LONG_MARKS.sub(_fewer_marks, text))


def as_paragraphs(text: str) -> str:
    """Plain text as HTML: one paragraph a line."""
    return "".join(f"<p>{escape(line)}</p>" for line in text.split("\n") if line.strip())


def _is_tame(html: str) -> bool:
    """Whether nh3 reads this in bounded time. Counts tags as written, without building a tree."""
    if len(html) > PARSED_CHARACTERS:
        return False
    opened = closed = formatting = 0
    for end, name in _TAG_NAME.findall(html):
        closed += bool(end)
        opened += not end
        if name.lower() in _FORMATTING:
            formatting = max(0, formatting + (-1 if end else 1))
        if max(opened, closed) > PARSED_TAGS or formatting > PARSED_OPEN_FORMATTING:
            return False
    return True


def _end_of(name: str, html: str, position: int) -> int:
    """Where the unread element ends; an element left open swallows the rest, as it does in a browser."""
    end = re.compile(rf"</{name}(?=[\s/>])[^>]*>?", re.IGNORECASE).search(html, position)
    return end.end() if end else len(html)


def _fewer_marks(run: re.Match[str]) -> str:
    if not any(map(unicodedata.combining, run[0])):
        return run[0]  # a line of stars or dashes
    return run[0][:32]
