"""What of a page can be its own notice: its title, its first heading, and the lines that a reader sees
outside menus, lists and cards. Whether it still offers a posting. Pure.

libxml2 reads the page, in linear time and to a bounded depth. Hidden text, scripts, comments and templates
say nothing; a row of a list speaks of what it lists.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any

from catalog.adapters.base import UnreadableResponse
from catalog.adapters.markup import job_postings, page
from catalog.html import clean

_MOST_CHARACTERS = 2_000_000
_TITLE_CHARACTERS = 2_000
_SILENT = frozenset({
    "title", "script", "style", "template", "noscript", "iframe", "noembed", "noframes", "textarea",
    "object", "svg", "math", "select", "option", "datalist", "canvas", "video", "audio",
})  # fmt: skip
_BESIDE = frozenset({
    "nav", "aside", "footer", "li", "tr", "dl", "option", "menu",
})  # fmt: skip
_BESIDE_ROLES = frozenset(
    {"navigation", "complementary", "contentinfo", "list", "listitem", "row", "dialog", "menu"}
)
_HIDDEN_CLASSES = frozenset({
    "hidden", "hide", "d-none", "is-hidden", "invisible", "modal", "sr-only", "visually-hidden",
    "screen-reader-text", "ng-hide", "w-condition-invisible",
})  # fmt: skip
_HIDDEN_STYLE = re.compile(r"display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden", re.IGNORECASE)
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
_CARDS = 3  # alike elements beside each other are a list, whatever they are called
_OTHER_JOBS = re.compile(
    r"\b(?:similar|related|recommended|recently viewed|other (?:jobs|openings|positions|roles|vacancies)|more"
    r" (?:jobs|openings|positions|roles)|you may also|ähnliche|weitere (?:jobs|stellen)|similaires"
    r"|similares)\b",
    re.IGNORECASE,
)
_APPLY = re.compile(
    r"apply(?: (?:now|here|online|today|for this (?:job|position|role)|to this (?:job|position)))?"
    r"|submit application"
    r"|(?:jetzt |online )*bewerben|postuler|aplicar|postularme|inscribirme|candidatar-se|candidati(?: ora)?"
    r"|solliciteer(?: nu| direct)?|ansök(?: nu)?|ansøg|søk|aplikuj",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Notices:
    """Where a page's notices stand. `lines` are in the order of the page."""

    title: str = ""
    heading: str = ""
    lines: tuple[str, ...] = ()
    has_apply: bool = False
    postings: tuple[dict[str, Any], ...] = ()

    def offers(self, title: str, today: date) -> bool:
        """Whether one can apply here, or its data describe the posting as one that is not over."""
        return self.has_apply or any(_is_running(each, title, today) for each in self.postings)


def read_notices(html: str) -> Notices:
    try:
        root = page(b"\xef\xbb\xbf" + html[:_MOST_CHARACTERS].encode("utf-8", "replace"))
    except UnreadableResponse:
        return Notices()
    seen = _Reader(root)
    return Notices(_title(root), seen.heading, tuple(seen.lines), seen.has_apply, tuple(job_postings(root)))


def _title(root: Any) -> str:
    for element in root.iter("title"):
        if all(each.tag not in _SILENT for each in element.iterancestors()):
            return clean((element.text or "")[:_TITLE_CHARACTERS])
    return ""


class _Reader:
    """Walks the elements once, without recursion, and keeps the lines of text that are no row of a list."""

    def __init__(self, root: Any) -> None:
        self.heading = ""
        self.lines: list[str] = []
        self.has_apply = False
        self._line: list[str] = []
        self._is_line_beside = self._is_in_heading = self._is_about_others = False
        self._walk(root)
        self._end_line()

    def _walk(self, root: Any) -> None:
        waiting: list[tuple[Any, bool, bool]] = [(root, False, False)]  # element, is beside, is left
        while waiting:
            element, is_beside, is_left = waiting.pop()
            if is_left:
                self._leave(element, is_beside)
            elif isinstance(element.tag, str) and not _is_hidden(element):
                within = is_beside or _is_beside(element)
                self._enter(element, within)
                waiting.append((element, is_beside, True))
                cards = _cards(element)
                waiting += ((each, within or each in cards, False) for each in reversed(element))
            else:
                self._say(element.tail, is_beside)

    def _enter(self, element: Any, is_beside: bool) -> None:
        if element.tag in _BLOCKS:
            self._end_line()
        if element.tag == "h1":
            self._is_in_heading, self._is_about_others = True, False
        self.has_apply = self.has_apply or _is_apply(element)
        self._say(element.text, is_beside)

    def _leave(self, element: Any, is_beside: bool) -> None:
        if element.tag in _BLOCKS:
            self._end_line()
        if element.tag == "h1":
            self._is_in_heading = False
        self._say(element.tail, is_beside)

    def _say(self, text: str | None, is_beside: bool) -> None:
        if text:
            self._line.append(text)
            self._is_line_beside = self._is_line_beside or (is_beside and bool(text.strip()))

    def _end_line(self) -> None:
        line, is_beside = clean("".join(self._line)), self._is_line_beside
        self._line, self._is_line_beside = [], False
        if not line or is_beside or self._is_about_others:
            return
        self.lines.append(line)
        if self._is_in_heading:
            self.heading = self.heading or line
        self._is_about_others = len(line) < 50 and line[-1] not in ".!" and bool(_OTHER_JOBS.search(line))


def _is_hidden(element: Any) -> bool:
    said = element.get
    return (
        element.tag in _SILENT
        or said("hidden") is not None
        or said("aria-hidden") == "true"
        or (element.tag == "dialog" and said("open") is None)
        or _HIDDEN_STYLE.search(said("style", "")) is not None
        or not _HIDDEN_CLASSES.isdisjoint(said("class", "").split())
    )


def _is_beside(element: Any) -> bool:
    return element.tag in _BESIDE or element.get("role") in _BESIDE_ROLES


def _cards(parent: Any) -> set[Any]:
    """The children that are rows of a list without being called so: several alike, with parts inside."""
    alike = Counter((each.tag, each.get("class")) for each in parent if isinstance(each.tag, str))
    cards = set()
    for each in parent:
        needed = {"article": 2, "div": _CARDS, "section": _CARDS, "a": _CARDS}.get(each.tag)
        if (
            needed
            and alike[each.tag, each.get("class")] >= needed
            and len(each)
            and each.find(".//h1") is None
        ):
            cards.add(each)
    return cards


def _is_apply(element: Any) -> bool:
    if element.tag == "input":
        return element.get("type") == "file" or bool(_APPLY.fullmatch(clean(element.get("value", "")[:80])))
    if element.tag not in {"a", "button"}:
        return False
    said = "".join(islice(element.itertext(), 8))
    return bool(_APPLY.fullmatch(clean(said[:80])))


def _is_running(data: dict[str, Any], title: str, today: date) -> bool:
    if not isinstance(data.get("title"), str) or _words(data["title"]) != _words(title):
        return False
    try:
        return date.fromisoformat(str(data.get("validThrough"))[:10]) >= today
    except ValueError:
        return True  # no last day is none that is past


def _words(title: str) -> list[str]:
    return re.findall(r"\w+", title.casefold())
