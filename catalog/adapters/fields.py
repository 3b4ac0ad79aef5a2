"""Values of a platform's payload as fields of a listing. None raises by accident of type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import escape, unescape
from typing import Any
from urllib.parse import urljoin

from catalog.adapters.base import Context, EmploymentType
from catalog.adapters.payload import RowUnreadable
from catalog.html import MAX_CHARACTERS, as_paragraphs, clean, sanitise, to_text
from catalog.links import is_public_link

MAX_ID = 200
MAX_TITLE = 512
MAX_NAME = 200

# Entities as a template engine writes them. Without the semicolon, "R&D" or "AT&T" would be at risk.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].+)?")
_EARLIEST = 2000  # hiring platforms are younger: an earlier year stands for none (epoch 0, 0001-01-01)
_LATEST = 2100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 10**11  # the year 5138 in seconds, 1973 in milliseconds
_CLOCK_SKEW = timedelta(days=1)  # a platform's day may have begun before ours

_RELATIVE = re.compile(
    r"(?:posted |published |added )?(?:(?P<now>today|just (?:posted|now)|now)|(?P<yesterday>yesterday)"
    r"|(?P<count>an?|\d{1,3}) (?P<unit>minute|hour|day|week)s? ago)"
)
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}

# First match decides: what somebody is matters more than how many hours. A student's job beside the studies
# is an internship, as in titles.
_EMPLOYMENT: tuple[tuple[EmploymentType, re.Pattern[str]], ...] = (
    (
        "internship",
        re.compile(
            r"\b(intern|interns|internship|co[\s-]?op|praktik\w*|pr[áa]cticas?|stages?|stagiaire|stagista"
            r"|tirocini\w*|est[áa]gi\w+|becari[oa]|working[\s_-]?students?|werkstudent\w*|student[\s_-]?job"
            r"|alternan\w+|apprentissage|harjoittelu\w*)\b|インターン|인턴|实习"
        ),
    ),
    ("volunteer", re.compile(r"\b(volunteer\w*|ehrenamt\w*|b[ée]n[ée]vol\w+|voluntari\w+)\b")),
    (
        "contract",
        re.compile(
            r"\b(contract|contractor|contracting|freelance\w*|freiberuf\w*|1099|b2b)\b|業務委託|프리랜서"
        ),
    ),
    (
        "temporary",
        re.compile(
            r"\b(temp|temporary|seasonal|fixed[\s_-]?term|interim|zeitarbeit\w*|int[ée]rim\w*|cdd|befristet\w*|temporal"
            r"|tempor[áa]ri[oa]|contrat à durée déterminée|tijdelijk|tidsbegrænset|määräaikainen"
            r"|saisonnier\w*)\b|契約社員|有期|계약직"
        ),
    ),
)
_FULL_TIME = re.compile(
    r"\b(full[\s_-]?time|vollzeit|temps[\s-]plein|temps[\s-]complet|tiempo[\s-]completo|jornada[\s-]completa"
    r"|tempo[\s-](?:pieno|integral|completo)|voltijd|fulltid|heltid|heltids\w*|kokoaikainen"
    r"|pełny etat|plný úvazek)\b"
    r"|正社員|全职|정규직"
)
_PART_TIME = re.compile(
    r"\b(part[\s_-]?time|teilzeit|temps[\s-]partiel|tiempo[\s-]parcial|media[\s-]jornada|jornada[\s-]parcial|tempo[\s-]parziale"
    r"|tempo[\s-]parcial|deeltijd|deltid|osa-aikainen|część etatu)\b"
    r"|アルバイト|パート(?!ナ)|兼职|파트타임|minijob"
)
_OPEN_ENDED = re.compile(r"\bcdi\b|festanstellung|durée indéterminée")  # full-time where no hours are named
_OTHER = re.compile(r"other|per[\s-]?diem|casual|apprentice\w*|trainee\w*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def external_id(value: object) -> str:
    """The platform's id of a posting as text. Raises RowUnreadable when there is none to rely on."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowUnreadable("the row has no id")
    text = str(value).strip()
    if not text or len(text) > MAX_ID or clean(text) != text or "\ufffd" in text:
        raise RowUnreadable("the row's id is empty, too long or damaged")
    return text


def title(value: object, flags: list[str]) -> str:
    """The title on one line, entities decoded once; cut with the flag "title_cut" at 512 characters.

    Raises RowUnreadable when there is none.
    """
    text = one_line(value, limit=10 * MAX_TITLE)
    if not text:
        raise RowUnreadable("the row has no title")
    if len(text) > MAX_TITLE:
        flags.append("title_cut")
    return text[:MAX_TITLE].rstrip()


def name(value: object) -> str | None:
    """A short name (employer, department) on one line, or None."""
    return one_line(value, limit=MAX_NAME) or None


def employer_line(value: object) -> tuple[str, str]:
    """Employer and place of a line such as "Example AG · Zurich, Switzerland (On-site)"; the place may be
    "".
    """
    employer, _, place = one_line(value, limit=MAX_NAME).partition(" \u00b7 ")
    return employer.strip(), place.strip()


def one_line(value: object, *, limit: int) -> str:
    """Text on one line, entities decoded once; "" for anything that is not text."""
    if not isinstance(value, str):
        return ""
    start = value.lstrip()[: 4 * limit]  # enough for entities, and a bound for hostile lengths
    return clean(_ENTITY.sub(lambda entity: unescape(entity[0]), start))[:limit].rstrip()


def page_link(value: object, base: str) -> tuple[str, str | None]:
    """A posting's own link, and the source's spelling where the link had to be resolved against `base`.

    Raises RowUnreadable without a public web address: a posting that cannot be opened is no listing.
    """
    url = link(value, base)
    if url is None:
        raise RowUnreadable("the row has no link to a public web page")
    return url, None if url == value else clean(str(value))


def link(value: object, base: str) -> str | None:
    """A public web address as the source spells it, or None: script, relative, private, too long."""
    if not isinstance(value, str):
        return None
    url = value.strip()
    try:
        if url.startswith("/"):
            url = urljoin(base, url)
        return url if is_public_link(url) else None
    except ValueError:  # urljoin on malformed brackets
        return None


def iso_date(value: object, context: Context) -> str | None:
    """An ISO date or time as the source states it: an instant with its offset, else a day (A9).

    Impossible dates, years before 2000, and times after the response was fetched are None.
    """
    if not isinstance(value, str) or not _ISO.fullmatch(value.strip()):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return _stated(moment, context, has_time=len(value.strip()) > len("2026-11-29"))


def epoch_date(value: object, context: Context) -> str | None:
    """An instant given as seconds or milliseconds since 1970 (told apart by size), or None."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**14:
        return None
    milliseconds = value if value >= _MILLISECONDS_FROM else value * 1000
    return _stated(_EPOCH + timedelta(milliseconds=milliseconds), context, has_time=True)


def employment_type(value: object) -> EmploymentType | None:
    """The employment type that a free label states. "Permanent" and "Regular" state none."""
    label = _CAMEL.sub(" ", one_line(value, limit=MAX_NAME)).lower().replace("_", " ")
    for kind, words in _EMPLOYMENT:
        if words.search(label):
            return kind
    full, part = bool(_FULL_TIME.search(label)), bool(_PART_TIME.search(label))
    full = full or (_OPEN_ENDED.search(label) is not None and not part)
    if full and part:
        return "other"
    if full or part:
        return "full_time" if full else "part_time"
    return "other" if _OTHER.search(label) else None


def description(parts: list[str], flags: list[str]) -> tuple[str, str]:
    """Sanitised HTML and its text, from HTML fragments sanitised one by one.

    An element left open in one fragment cannot swallow the next. Too much text: ("", "") with the flag
    "description_too_long", because a part of a description is never kept as the description (A5).
    """
    if sum(map(len, parts)) > MAX_CHARACTERS:
        flags.append("description_too_long")
        return "", ""
    html = "\n".join(safe for part in parts if (safe := sanitise(part)))
    text = to_text(html)
    return (html, text) if text else ("", "")


def teaser(value: object, flags: list[str]) -> tuple[str, str]:
    """A part of a text, flagged "teaser": it is shown as one, and never kept as the description (A5)."""
    html, text = description([html_or_plain(None, value) if isinstance(value, str) else ""], flags)
    if text:
        flags.append("teaser")
    return html, text


def html_or_plain(html: object, plain: object) -> str:
    """The HTML form of a text when it shows anything, else the plain form as paragraphs, else ""."""
    if isinstance(html, str) and html.strip():
        return html
    return as_paragraphs(plain) if isinstance(plain, str) else ""


def _stated(moment: datetime, context: Context, *, has_time: bool) -> str | None:
    if not _EARLIEST <= moment.year <= _LATEST:
        return None
    as_instant = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if context.fetched_at is not None and as_instant > context.fetched_at + _CLOCK_SKEW:
        return None
    return moment.isoformat() if has_time and moment.tzinfo is not None else moment.date().isoformat()


def mail_date(value: object, context: Context) -> str | None:
    """A date as mails and feeds write it (RFC 822), zone names included, or None."""
    if not isinstance(value, str):
        return None
    try:
        moment = parsedate_to_datetime(value.strip())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return _stated(moment, context, has_time=True)


def day(value: object, pattern: str, context: Context) -> str | None:
    """A day written in one certain way (as strptime takes it), or None. Names of months are English."""
    try:
        moment = datetime.strptime(" ".join(str(value).split()), pattern)  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return None
    return _stated(moment, context, has_time=False)


def relative_date(value: object, context: Context) -> str | None:
    """A date told from the moment of the response: "3 hours ago", "Posted Yesterday", "just posted".

    Hours and minutes give an instant, days and weeks a day. "30+ days ago" and "3 months ago" name no day,
    and without the moment of the response nothing can be counted from.
    """
    told = _RELATIVE.fullmatch(one_line(value, limit=100).lower())
    if told is None or context.fetched_at is None:
        return None
    if told["now"]:
        return context.fetched_at.date().isoformat()
    if told["yesterday"]:
        return (context.fetched_at - timedelta(days=1)).date().isoformat()
    count = 1 if told["count"] in {"a", "an"} else int(told["count"])
    moment = context.fetched_at - count * _UNITS[told["unit"]]
    return moment.isoformat() if told["unit"] in {"minute", "hour"} else moment.date().isoformat()


def objects(row: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list in the row; [] where there is none."""
    values = row.get(key)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def inside(row: object, *keys: str) -> Any:
    """What lies under the keys, one in the other; None where one is missing."""
    for key in keys:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def joined(*parts: object) -> str:
    """Parts of one place from small to large, "Boston, MA, US": empty ones and repetitions left out."""
    said: list[str] = []
    for part in parts:
        text = one_line(part, limit=MAX_NAME).strip(" ,")
        if text and text.casefold() not in (one.casefold() for one in said):
            said.append(text)
    return ", ".join(said)


def headed(heading: object, html: object) -> str:
    """A section of a description with its heading, or "" for what is no text."""
    if not isinstance(html, str) or not html.strip():
        return ""
    shown = one_line(heading, limit=500)
    return f"<h3>{escape(shown)}</h3>{html}" if shown else html
