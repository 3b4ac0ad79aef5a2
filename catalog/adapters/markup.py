"""A saved page or feed as a tree, and the data that pages carry in their scripts.

libxml2 parses, with its own limits: no entity of the document's, no network, depth and size bounded. What
it cannot read at all is an UnreadableResponse; what it can mend it mends, as browsers do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from catalog.adapters.base import UnreadableResponse
from catalog.charset import decode

MOST_BYTES = 20 * 1024 * 1024
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile(r"&#(?:[xX]0*(?P<hex>[0-9a-fA-F]{1,8})|0*(?P<decimal>[0-9]{1,9}))(?![0-9a-fA-F])")
_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")
# JSON-LD as it is met: commented out, with literal line breaks in texts, with a comma too many.
_COMMENT = re.compile(r"\A\s*(?:<!--|//<!\[CDATA\[|/\*<!\[CDATA\[\*/)|(?:-->|//\]\]>|/\*\]\]>\*/)\s*\Z")
_NONE_SHOWN = re.compile(
    r"\b(?:no|0|zero) (?:\w+ ){0,3}(?:jobs?|positions?|openings?|results?|vacanc(?:y|ies)|matches)\b"
    r"|\b(?:not|n['\u2019]t) (?:\w+ ){0,3}(?:hiring|any (?:\w+ ){0,2}(?:jobs|positions|vacancies))\b",
    re.IGNORECASE,
)
_MOST_STARTS = 20
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def is_markup(payload: bytes) -> bool:
    """Whether a response is a page or document, and not JSON."""
    return payload[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def page(payload: bytes) -> Any:
    """The root element of a web page. Raises UnreadableResponse for what is none."""
    text = _text(payload)
    if text.lstrip()[:1] in "{[":
        raise UnreadableResponse("not_html", "the response is data, not a web page")
    try:
        root = lxml_html.document_fromstring(_without_nothings(text))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as fault:
        raise UnreadableResponse("not_html", f"not a web page: {str(fault)[:200]}") from None
    return root


def feed(payload: bytes) -> tuple[Any, bool]:
    """The root element of an XML document, and whether it is well-formed: what had to be mended may lack
    something.

    Raises UnreadableResponse for a web page, for what is no XML, and for a document whose end is missing.
    """
    text = _DECLARATION.sub("", _text(payload))
    if re.match(r"\s*<(?:!doctype\s+html|html)\b", text, re.IGNORECASE):
        raise UnreadableResponse("html_page", "the response is a web page, not a feed")
    if not text.lstrip().startswith("<"):
        raise UnreadableResponse("not_xml", "the response is no XML")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(_without_nothings(text), parser)
    except (etree.XMLSyntaxError, ValueError) as fault:
        raise UnreadableResponse("not_xml", f"not XML: {str(fault)[:200]}") from None
    if root is None:
        raise UnreadableResponse("not_xml", "nothing in the response can be read as XML")
    name = re.escape(_local_name(root))
    if not re.search(rf"</(?:[\w.-]+:)?{name}\s*>\s*\Z|/>\s*\Z", text[-4_000:]):
        raise UnreadableResponse("truncated", "the end of the document is missing")
    return root, not parser.error_log.filter_from_errors()


def child_text(element: Any, name: str) -> str:
    """The text of the first child of that local name, whatever its namespace; "" without one."""
    for child in element:
        if _local_name(child) == name:
            return "".join(child.itertext()).strip()
    return ""


def _local_name(element: Any) -> str:
    """Without namespace or prefix; "" for comments.

    A mended document may hold names that lxml would refuse.
    """
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def children(element: Any, name: str) -> list[Any]:
    """Children of that local name, whatever their namespace."""
    return [child for child in element if _local_name(child) == name]


def inner_html(element: Any) -> str:
    """What stands between the element's tags."""
    parts = [element.text or ""]
    parts += [etree.tostring(child, encoding="unicode", method="html") for child in element]
    return "".join(parts)


def spaced_text(element: Any) -> str:
    """The same where the texts of neighbouring elements are words of their own."""
    return " ".join(" ".join(element.itertext()).split())


def gap_of(payload: bytes, rows: int, text: str) -> str:
    """Why a page of a list may lack rows: its end is missing, or it shows none and does not say so.

    An error page under the platform's own frame, with status 200, is no end of a list (A2).
    """
    if not has_its_end(payload):
        return "the page is cut short"
    return (
        ""
        if rows or _NONE_SHOWN.search(text)
        else "a page shows no posting and does not say that there is none"
    )


def has_its_end(payload: bytes) -> bool:
    """Whether a page was received to its end: one whose end is missing may lack rows."""
    return (
        re.search(rb"</(?:html|body)\s*>\s*(?:<!--[^>]{0,500}-->\s*)*\Z", payload[-4_000:], re.IGNORECASE)
        is not None
    )


def visible_text(element: Any) -> str:
    """The element's text with runs of white space as one space."""
    return " ".join("".join(element.itertext()).split())


def json_in(text: str, before: str) -> Any:
    """The JSON value that follows one of the first matches of the pattern `before`; None where none can be
    read. A text with nothing but such matches would else be read again from each of them.
    """
    for match in islice(re.finditer(before, text), _MOST_STARTS):
        start = re.compile(r"\s*").match(text, match.end())
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start.end() if start else match.end())
        except (ValueError, RecursionError):
            continue
        return value
    return None


def script_json(root: Any, identifier: str) -> Any:
    """The JSON value of the script with that id, such as `__NEXT_DATA__`; None where none can be read."""
    for script in root.iter("script"):
        if script.get("id") == identifier:
            return _loaded(script.text or "")
    return None


def scripts(root: Any) -> Iterator[str]:
    """The text of every script in the page."""
    for script in root.iter("script"):
        if script.text:
            yield script.text


def job_postings(root: Any) -> list[dict[str, Any]]:
    """Every schema.org JobPosting in the page's JSON-LD blocks, also within lists, @graph and mainEntity."""
    found: list[dict[str, Any]] = []
    for script in root.iter("script"):
        if (script.get("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            found += _postings_in(_loaded(script.text or ""), depth=0)
    return found


def _postings_in(value: Any, *, depth: int) -> list[dict[str, Any]]:
    if depth > 6:
        return []
    if isinstance(value, list):
        return [posting for each in value[:1_000] for posting in _postings_in(each, depth=depth + 1)]
    if not isinstance(value, dict):
        return []
    kinds = value.get("@type")
    if "JobPosting" in (kinds if isinstance(kinds, list) else [kinds]):
        return [value]
    nested = (value.get(key) for key in ("@graph", "mainEntity", "itemListElement", "item"))
    return [posting for each in nested for posting in _postings_in(each, depth=depth + 1)]


def _loaded(text: str) -> Any:
    text = _COMMENT.sub("", text.strip()).strip()
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _text(payload: bytes) -> str:
    if len(payload) > MOST_BYTES:
        raise UnreadableResponse("too_large", f"more than {MOST_BYTES:,} bytes")
    text = decode(payload, "")
    if not text.strip():
        raise UnreadableResponse("empty", "the response is empty")
    return text


def _without_nothings(text: str) -> str:
    """The text without characters that XML has not, written out or as references, on which libxml2 trips."""

    def referred(match: re.Match[str]) -> str:
        code = int(match["hex"], 16) if match["hex"] else int(match["decimal"])
        is_character = code < 0x110000 and not _NOT_XML.match(chr(code))
        return match[0] if is_character else "\ufffd"

    return _NOT_XML.sub("\ufffd", _REFERENCE.sub(referred, text))


MENDED = "the document is not well-formed, so rows may be missing"


def channel_items(payload: bytes) -> tuple[Any, list[Any], bool]:
    """An RSS feed's channel, its items, and whether the document is well-formed.

    Raises UnreadableResponse.
    """
    root, is_whole = feed(payload)
    channels = children(root, "channel")
    if not channels:
        raise UnreadableResponse("wrong_shape", "the document is no RSS feed")
    return channels[0], children(channels[0], "item"), is_whole
