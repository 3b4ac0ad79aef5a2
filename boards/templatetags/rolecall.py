"""How templates say times, pay, places and counts. What is missing is said to be missing (contract A9)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Protocol
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.http import QueryDict
from django.template import Context
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

# CLDR's English symbols for the currencies that postings name most; any other keeps its ISO 4217 code.
SYMBOLS = {
    "USD": "$",
    "EUR": "€",
    "GBP": "£",
    "JPY": "¥",
    "INR": "₹",
    "CAD": "CA$",
    "AUD": "A$",
    "NZD": "NZ$",
    "BRL": "R$",
    "MXN": "MX$",
    "ILS": "₪",
    "KRW": "₩",
}
PERIODS = {
    "hour": "an hour",
    "day": "a day",
    "week": "a week",
    "month": "a month",
    "year": "a year",
    "one_time": "one time",
}
WORK_MODES = {"yes": "Remote", "no": "On site", "hybrid": "Hybrid"}
UNKNOWN = "unknown"
EN_DASH = "\N{EN DASH}"

Amount = Decimal | float | int


class PayRange(Protocol):
    """What `pay` reads: amounts in whole currency units, None where the source names none."""

    @property
    def min(self) -> Amount | None: ...

    @property
    def max(self) -> Amount | None: ...

    @property
    def currency(self) -> str | None: ...

    @property
    def period(self) -> str | None: ...


@register.filter
def when(value: date | datetime | None, now: datetime | None = None) -> SafeString:
    """A <time> element: how long ago in its text, the exact moment in its title.

    A date is a day: it is counted in days of the current time zone and never gets an hour (A9).
    """
    if value is None:
        return format_html('<span class="missing">{}</span>', UNKNOWN)
    now = now or timezone.now()
    if not isinstance(value, datetime):
        words = _day_words(value, today=timezone.localdate(now))
        return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact(value), words)
    moment = value.astimezone(timezone.get_fixed_timezone(0)).isoformat(timespec="seconds")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.replace("+00:00", "Z"),
        exact(value),
        _instant_words(now - value),
    )


@register.filter
def exact(value: date | datetime | None) -> str:
    """The whole date in words; an instant also gets its time and zone."""
    if value is None:
        return UNKNOWN
    if not isinstance(value, datetime):
        return f"{value.day} {value:%B %Y}"
    local = timezone.localtime(value)
    return f"{local.day} {local:%B %Y, %H:%M %Z}"


@register.filter
def pay(stated: PayRange | None) -> str:
    """Stated pay in a few words, such as "from $120k a year". Empty when no amount is stated.

    A currency or period that the source leaves out is named as unknown: an amount alone misleads.
    """
    if stated is None:
        return ""
    low, high = (None if bound is None else Decimal(str(bound)) for bound in (stated.min, stated.max))
    amounts = _amounts([bound for bound in (low, high) if bound is not None])
    if not amounts:
        return ""
    unit = _unit(stated.currency)
    words = unit + EN_DASH.join(dict.fromkeys(amounts))
    if low is None:
        words = f"up to {words}"
    elif high is None:
        words = f"from {words}"
    if stated.period:
        words = f"{words} {PERIODS.get(stated.period, stated.period)}"
    unknown = [name for name in ("currency", "period") if not getattr(stated, name)]
    return f"{words} ({' and '.join(unknown)} unknown)" if unknown else words


@register.filter
def places(names: Iterable[str] | None) -> str:
    """One place whole, several as the first one's city and how many more: "Berlin +4"."""
    stated = [name for name in names or () if name.strip()]
    if len(stated) < 2:
        return "".join(stated)
    city = stated[0].split(",")[0].strip()
    return f"{city} +{len(stated) - 1}"


@register.filter
def hostname(url: str | None) -> str:
    """The host of a URL as people write it; empty for what is no web address."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:  # an unclosed bracket
        return ""
    return host.removeprefix("www.")


@register.filter
def number(count: int | None) -> str:
    """A count with its thousands apart; a count that was never made is unknown, not 0."""
    return UNKNOWN if count is None else f"{count:,}"


@register.filter
def work_mode(remote: str | None) -> str:
    return WORK_MODES.get(remote or "", "")


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: object) -> str:
    """This page's address with some parameters replaced, or removed when given None; the others stay."""
    request = context["request"]
    parameters: QueryDict = request.GET.copy()
    for name, value in changes.items():
        if value is None:
            parameters.pop(name, None)
        else:
            parameters[name] = str(value)
    return f"?{parameters.urlencode()}" if parameters else request.path


@register.simple_tag
def release() -> str:
    """Which release runs, for every page's foot."""
    return str(settings.RELEASE)


def _day_words(day: date, *, today: date) -> str:
    days = (today - day).days
    near = {0: "today", 1: "yesterday", -1: "tomorrow"}
    return near.get(days) or _direction(_days_span(abs(days)), is_past=days > 0)


def _instant_words(age: timedelta) -> str:
    minutes = int(abs(age).total_seconds()) // 60
    if minutes == 0:
        return "just now"
    if minutes < 60:
        span = f"{minutes} min"
    elif minutes < 24 * 60:
        span = f"{minutes // 60} h"
    else:
        span = _days_span(minutes // (24 * 60))
    return _direction(span, is_past=age > timedelta(0))


def _days_span(days: int) -> str:
    # static/rolecall.js counts by the same limits when it renews the words of a page that stays open.
    if days < 60:
        return f"{days} d"
    return f"{days // 30} mo" if days < 730 else f"{days // 365} y"


def _direction(span: str, *, is_past: bool) -> str:
    return f"{span} ago" if is_past else f"in {span}"


def _unit(currency: str | None) -> str:
    if not currency:
        return ""
    return SYMBOLS.get(currency.upper()) or f"{currency.upper()} "


def _amounts(values: list[Decimal]) -> list[str]:
    """The amounts in one common scale, shortened only where no digit that was stated is lost."""
    if not values:
        return []
    for scale, smallest, suffix in ((1_000_000, 1_000_000, "M"), (1_000, 10_000, "k")):
        shorten_to = scale // 100 if suffix == "M" else scale // 10
        if min(values) >= smallest and all(value % shorten_to == 0 for value in values):
            return [f"{(value / scale).normalize():,f}{suffix}" for value in values]
    digits = 0 if all(value == value.to_integral_value() for value in values) else 2
    return [f"{value:,.{digits}f}" for value in values]
