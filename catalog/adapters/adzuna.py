"""Adzuna: `api.adzuna.com/v1/api/jobs/{country}/search/{page}`, the newest pages of a country. It wants a
key.

Experimental: no recorded response stands behind it. Facts: https://developer.adzuna.com/docs/search (terms:
25 reads a minute, 250 a day; name the source and link to it). Texts are shortened, and pay may be Adzuna's
own estimate, which is not shown.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.amounts import pay
from catalog.adapters.base import (
    Adapter,
    Context,
    Detection,
    EmploymentType,
    ParsedListing,
    Pay,
    Progress,
    Reading,
    Request,
)
from catalog.adapters.fields import (
    employment_type,
    external_id,
    inside,
    iso_date,
    name,
    page_link,
    teaser,
    title,
)
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import count_in, load_object, read_rows, rows_of
from catalog.links import UrlParts

_CURRENCIES = {
    **{
        "gb": "GBP",
        "us": "USD",
        "ca": "CAD",
        "au": "AUD",
        "nz": "NZD",
        "in": "INR",
        "sg": "SGD",
        "za": "ZAR",
    },
    **{"de": "EUR", "fr": "EUR", "nl": "EUR", "at": "EUR", "it": "EUR", "es": "EUR", "be": "EUR"},
    **{"ch": "CHF", "pl": "PLN", "br": "BRL", "mx": "MXN"},
}
_POSTING = re.compile(r"/(?:details|land/ad)/(?P<id>\d{6,15})(?:/|\Z)")


class Adzuna(Adapter):
    kind = "adzuna"
    name = "Adzuna"
    domains = ("adzuna.com", "adzuna.co.uk", "adzuna.de", "adzuna.fr")
    is_experimental = True
    reads_pages = 5
    least_interval = 6 * 60
    needs_keys = ("app_id", "app_key")

    def found(self, parts: UrlParts) -> Detection | None:
        """A country's index is added by its name: none of its pages is a board."""
        return None

    def posting_url(self, found: Detection) -> str:
        return f"https://www.adzuna.com/details/{found.posting_id}"

    def board_url(self, context: Context) -> str:
        return f"https://www.adzuna.com/?country={_country(context)}"

    def list_url(self, context: Context) -> str:
        return f"https://api.adzuna.com/v1/api/jobs/{_country(context)}/search"

    def request(self, context: Context, so_far: Progress) -> Request | None:
        url = f"{self.list_url(context)}/{so_far.pages + 1}?results_per_page=50&sort_by=date"
        secrets = {key: context.names.get(key, "") for key in self.needs_keys}
        return Request(url, headers=self.headers(), secrets=secrets)

    def parse(self, payload: bytes, context: Context) -> Reading:
        body = load_object(payload, of=self.name)
        rows = read_rows(rows_of(body, "results"), lambda row: _listing(row, context))
        return rows.page(total=count_in(body.get("count")))


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    url, raw_url = page_link(row.get("redirect_url"), "https://www.adzuna.com")
    html, text = teaser(row.get("description"), flags)
    where = inside(row, "location", "display_name")
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url,
        title=title(row.get("title"), flags),
        company=name(inside(row, "company", "display_name")),
        locations=places([where]),
        remote=remote_in([where]),
        employment_type=_employment(row),
        department=name(inside(row, "category", "label")),
        posted_at=iso_date(row.get("created"), context),
        compensation=_pay(row, context, flags),
        description_html=html,
        description_text=text,
        flags=tuple(flags),
    )


def _employment(row: dict[str, Any]) -> EmploymentType | None:
    return employment_type(row.get("contract_type")) or employment_type(row.get("contract_time"))


def _pay(row: dict[str, Any], context: Context, flags: list[str]) -> Pay | None:
    if str(row.get("salary_is_predicted")) != "0":
        return None
    currency = _CURRENCIES.get(_country(context))
    return pay(row.get("salary_min"), row.get("salary_max"), currency=currency, period="year", flags=flags)


def _country(context: Context) -> str:
    return context.token if context.token in _CURRENCIES else "gb"
