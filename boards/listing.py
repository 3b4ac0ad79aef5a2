"""A list's address: search, facets and page, parsed once, so that list, counts and facets agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import urlencode

from django.db.models import Count, F
from django.http import QueryDict

from boards.serializers import EMPLOYMENT_LABELS
from catalog.models import Posting, PostingQuerySet
from catalog.places import country_name
from catalog.services.searching import corrected

SEARCH_MAX_CHARS = 200
PAGE_SIZE = 50
REMOTE_LABELS = {"yes": "Remote", "hybrid": "Hybrid", "no": "On site", "unknown": "Not stated"}
FACETS = {"place": "Country", "mode": "Work mode", "type": "Employment type"}
KNOWN = ("q", "page", *FACETS)
# What people and other lists call these → its name here. A misspelling of one is still one.
_OTHER_NAMES = {
    **dict.fromkeys(["search", "query", "keyword", "keywords", "term", "text", "title", "s"], "q"),
    **dict.fromkeys(["p", "pg", "page_number", "pagenumber", "offset"], "page"),
    **dict.fromkeys(["country", "countries", "location", "locations", "city", "region", "where"], "place"),
    **dict.fromkeys(["remote", "work_mode", "workmode", "workplace", "onsite", "hybrid"], "mode"),
    **dict.fromkeys(["employment", "employment_type", "employmenttype", "job_type", "contract"], "type"),
    **dict.fromkeys(["seniority", "level", "experience"], "q"),  # no facet: a word of the title
}


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    count: int
    is_selected: bool
    url: str


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What an address asks of a list. Unknown parameters are named, never silently dropped."""

    search: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    page: int = 1
    ignored: tuple[tuple[str, str], ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, query: QueryDict, *, keep: tuple[str, ...] = ()) -> ListQuery:
        """`keep` names parameters of the page's own, carried along by every address of the list."""
        known = (*KNOWN, *keep)
        ignored = tuple((name[:50], _suggestion(name[:50], known)) for name in query if name not in known)
        page = query.get("page", "1")
        return cls(
            search=query.get("q", "").replace("\x00", "").strip()[:SEARCH_MAX_CHARS],
            chosen={
                name: value[:50] for name in FACETS if (value := query.get(name, "").replace("\x00", ""))
            },
            page=int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 1,
            ignored=ignored,
            kept={name: value[:50] for name in keep if (value := query.get(name, "").replace("\x00", ""))},
        )

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.chosen)

    def narrow(self, postings: PostingQuerySet, *, without: str = "") -> PostingQuerySet:
        """The postings asked for; `without` leaves one facet open, to count its other choices."""
        postings = postings.found_by(self.search)
        for name, value in self.chosen.items():
            if name != without:
                postings = _choose(postings, name, value)
        return postings

    def meant(self) -> tuple[str, str] | None:
        """What a search that finds nothing may have meant, and its address; None where nothing is like it."""
        words = corrected(self.search) if self.search else ""
        return (words, self.address(q=words)) if words else None

    def facets(self, postings: PostingQuerySet) -> tuple[Facet, ...]:
        """Each facet's choices with their counts, given everything else that is asked for."""
        return tuple(
            Facet(name, label, options)
            for name, label in FACETS.items()
            if len(options := self._options(name, self.narrow(postings, without=name))) > 1
            or name in self.chosen
        )

    def applied(self) -> list[tuple[str, str]]:
        """What narrows the list, in words, each with the address that takes it away."""
        words = [
            (f"{FACETS[name]}: {_label(name, value)}", self.address(**{name: None}))
            for name, value in self.chosen.items()
        ]
        return [(f"“{self.search}”", self.address(q=None)), *words] if self.search else words

    def address(self, **changes: str | None) -> str:
        """The list's query string with `changes`, back on its first page."""
        state = {**self.kept, "q": self.search or None, **self.chosen, **changes}
        return "?" + urlencode({name: value for name, value in state.items() if value})

    def _options(self, name: str, postings: PostingQuerySet) -> tuple[Option, ...]:
        column = {"place": "places__country", "mode": "remote", "type": "employment_type"}[name]
        counted = (
            postings.order_by()
            .annotate(value=F(column))
            .values("value")
            .annotate(count=Count("pk", distinct=True))
            .order_by("-count", "value")
        )
        return tuple(
            Option(
                value=row["value"],
                label=_label(name, row["value"]),
                count=row["count"],
                is_selected=self.chosen.get(name) == row["value"],
                url=self.address(**{name: None if self.chosen.get(name) == row["value"] else row["value"]}),
            )
            for row in counted
            if row["value"]
        )


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    """The known parameter that an unknown one most resembles, in letters or in meaning; "" for none."""
    names = {other: meant for other, meant in _OTHER_NAMES.items() if meant in known}
    names |= {other: other for other in known}
    close = get_close_matches(name.lower().replace("-", "_"), names, n=1)
    return names[close[0]] if close else ""


def _choose(postings: PostingQuerySet, name: str, value: str) -> PostingQuerySet:
    if name == "place":
        return postings.filter(
            pk__in=Posting.objects.filter(places__country=value).values("pk")
        )  # not a join: a posting with two places in a country is one row
    return postings.filter(remote=value) if name == "mode" else postings.filter(employment_type=value)


def _label(name: str, value: str) -> str:
    if name == "place":
        return country_name(value)
    return (REMOTE_LABELS if name == "mode" else EMPLOYMENT_LABELS).get(value, value)
