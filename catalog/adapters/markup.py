"""A saved page or feed as a tree, and the data that pages carry in their scripts.

libxml2 parses, with its own limits: no entity of the document's, no network, depth and size bounded. What
it cannot read at all is an UnreadableResponse; what it can mend it mends, as browsers do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from catalog.adapters.base import UnreadableResponse
from catalog.charset import decode

MOST_BYTES = 20 * 1024 * 1024
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")
# JSON-LD as it is met: commented out, with literal line breaks in texts, with a comma too many.
_COMMENT = re.compile(r"\A\s*(?:<!--|//<!\[CDATA\[|/\*<!\[CDATA\[\*/)|(?:-->|//\]\]>|/\*\]\]>\*/)\s*\Z")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def page(payload: bytes) -> Any:
    """The root element of a web page. Raises UnreadableResponse for what is none."""
    text = _text(payload)
    if text.lstrip()[:1] in "{[":
        raise UnreadableResponse("not_html", "the response is data, not a web page")
    try:
        root = lxml_html.document_fromstring(_NOT_XML.sub("\ufffd", text))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as fault:
        raise UnreadableResponse("not_html", f"not a web page: {str(fault)[:200]}") from None
    return root


def feed(payload: bytes) -> Any:
    """The root element of an XML document, mended where it is not well-formed.

    Raises UnreadableResponse for a web page, for what is no XML, and for a document whose end is missing.
    """
    text = _DECLARATION.sub("", _text(payload))
    if re.match(r"\s*<(?:!doctype\s+html|html)\b", text, re.IGNORECASE):
        raise UnreadableResponse("html_page", "the response is a web page, not a feed")
    if not text.lstrip().startswith("<"):
        raise UnreadableResponse("not_xml", "the response is no XML")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(_NOT_XML.sub("\ufffd", text), parser)
    except (etree.XMLSyntaxError, ValueError) as fault:
        raise UnreadableResponse("not_xml", f"not XML: {str(fault)[:200]}") from None
    if root is None:
        raise UnreadableResponse("not_xml", "nothing in the response can be read as XML")
    name = re.escape(etree.QName(root).localname)
    if not re.search(rf"</(?:[\w.-]+:)?{name}\s*>\s*\Z|/>\s*\Z", text[-4_000:]):
        raise UnreadableResponse("truncated", "the end of the document is missing")
    return root


def child_text(element: Any, name: str) -> str:
    """The text of the first child of that local name, whatever its namespace; "" without one."""
    for child in element:
        if isinstance(child.tag, str) and etree.QName(child).localname == name:
            return "".join(child.itertext()).strip()
    return ""


def children(element: Any, name: str) -> list[Any]:
    """Children of that local name, whatever their namespace."""
    return [child for child in element if isinstance(child.tag, str) and etree.QName(child).localname == name]


def inner_html(element: Any) -> str:
    """What stands between the element's tags."""
    parts = [element.text or ""]
    parts += [etree.tostring(child, encoding="unicode", method="html") for child in element]
    return "".join(parts)


def visible_text(element: Any) -> str:
    """The element's text with runs of white space as one space."""
    return " ".join("".join(element.itertext()).split())


def json_in(text: str, before: str) -> Any:
    """The JSON value that follows the first match of the pattern `before`; None where none can be read."""
    for match in re.finditer(before, text):
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
