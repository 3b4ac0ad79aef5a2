"""Adding sources and telling how they are doing."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models.functions import Now

from catalog.adapters import ADAPTERS, detect, why_undetected
from catalog.adapters.base import Adapter, Context, Detection, Request
from catalog.adapters.one_board import OneBoard, PageBoard
from catalog.admission import TitlePattern
from catalog.errors import InvalidCompany, UnknownPlatform
from catalog.links import MAX_LENGTH, is_public_link, is_web_url
from catalog.models import Listing, Source, SourceBundle, SourceRequest, Subscription
from taskqueue.models import URGENT
from taskqueue.services import enqueue

COMPANY_MAX_CHARS = 200
# PostgreSQL's index keeps 2,704 bytes of a row: this leaves room for an `api_root` of 500 beside the token.
TOKEN_MAX_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Added:
    source: Source
    is_new: bool
    task_id: int | None


def add_source(
    *, url: str, company: str = "", interval_minutes: int | None = None, title_pattern: str = ""
) -> Added:
    """Add the board behind `url` and queue its first pull; a board already known is only pulled again.

    Raises UnknownPlatform when the URL names no board of a known platform, InvalidPattern for a bad
    title pattern.
    """
    found = detect(url)
    if found is None or not found.token:
        raise UnknownPlatform(url, why_undetected(url))
    return add_board(found, company=company, interval_minutes=interval_minutes, title_pattern=title_pattern)


def check_company(company: str) -> None:
    """Raises InvalidCompany for a name that is too long or holds control characters."""
    if len(company) > COMPANY_MAX_CHARS or not company.isprintable():
        raise InvalidCompany(f"a company's name is at most {COMPANY_MAX_CHARS} printable characters")


def check_board(board: Detection) -> None:
    """Raises UnknownPlatform for a board that no row can keep, or that names nothing to read."""
    if why := _why_not_kept(board):
        raise UnknownPlatform(board.token[:200], why)


def _why_not_kept(board: Detection) -> str:
    adapter = ADAPTERS.get(board.kind)
    longest = Source._meta.get_field("token").max_length or 0
    if adapter is None:
        return "no platform of this kind can be read"
    if not board.token or not board.token.isprintable():
        return "the board's name holds characters that cannot be kept"
    if len(board.token) > longest or len(board.token.encode()) > TOKEN_MAX_BYTES:
        return f"the board's name is longer than {longest} characters or {TOKEN_MAX_BYTES:,} bytes"
    if len(board.region) > 10 or not board.region.isprintable():
        return "the platform has no such region"
    if isinstance(adapter, OneBoard) and board.token != board.kind:
        return f"{adapter.name} has one board, and this is not its name"
    if isinstance(adapter, PageBoard) and not is_public_link(board.token):
        return "the board is not at the address of a public web page"
    context = Context(token=board.token, region=board.region)
    if not (is_web_url(adapter.board_url(context)) and is_web_url(adapter.list_url(context))):
        return f"the board has no address of at most {MAX_LENGTH:,} characters"
    return ""


@transaction.atomic
def add_board(
    board: Detection,
    *,
    company: str = "",
    interval_minutes: int | None = None,
    title_pattern: str = "",
    api_root: str = "",
    pulls_now: bool = True,
) -> Added:
    """The same for a board that is already recognised. `api_root` reads its API at another address.

    Without `pulls_now` the first pull comes with the schedule.

    Raises InvalidCompany for a name that is too long or holds control characters, UnknownPlatform for a
    board that cannot be kept.
    """
    check_company(company)
    check_board(board)
    if title_pattern:
        TitlePattern(title_pattern)
    adapter = ADAPTERS[board.kind]
    context = Context(token=board.token, region=board.region, company=company)
    defaults: dict[str, object] = {
        "name": company or _name_of(board, adapter),
        "company": company,
        "url": adapter.board_url(context),
        "host": urlsplit(api_root or adapter.list_url(context)).hostname or "",
        "title_pattern": title_pattern,
    }
    if interval_minutes is not None or adapter.least_interval:
        defaults["interval_minutes"] = max(interval_minutes or 0, adapter.least_interval)
    source, is_new = Source.objects.get_or_create(
        kind=board.kind, region=board.region, token=board.token, api_root=api_root, defaults=defaults
    )
    return Added(source=source, is_new=is_new, task_id=request_pull(source) if pulls_now else None)


def _name_of(board: Detection, adapter: Adapter) -> str:
    """What a source is called until its listings name one employer: never a token's inner workings."""
    if board.token == board.kind:
        return adapter.name
    if is_web_url(board.token):
        return (urlsplit(board.token).hostname or board.token)[:200]
    return board.token.partition("|")[0][:200]


def name_by_employer(source: Source) -> None:
    """Call a source that nobody named by the one employer whose postings it shows."""
    adapter = ADAPTERS[source.kind]
    board = Detection(kind=source.kind, token=source.token, region=source.region)
    if source.company or source.name != _name_of(board, adapter) or board.token == board.kind:
        return
    names = Listing.objects.filter(source=source, unlisted_at=None).exclude(company="").order_by()
    said = list(names.values_list("company", flat=True).distinct()[:2])
    if len(said) == 1:
        Source.objects.filter(pk=source.pk).update(name=said[0])


def request_pull(source: Source) -> int:
    """Queue a pull now; several requests while one is unfinished are one task. Returns the task's id."""
    return enqueue(
        "catalog.pull",
        payload={"source_id": source.pk},
        subject=f"source:{source.pk}",
        key=f"catalog.pull:source:{source.pk}",
        host=source.host,
        priority=URGENT,  # somebody asked, and waits
    ).task_id


def request_url(source: Source, request: Request) -> str:
    """Where it is sent: the platform's address, or the same path under the source's `api_root`."""
    if not source.api_root:
        return request.url
    parts = urlsplit(request.url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{source.api_root.rstrip('/')}{parts.path}{query}"


def ask_for(user_id: int, *, url: str, note: str = "", found: str = "") -> SourceRequest:
    """Keep a person's wish for a source that could not be recognised, for somebody to answer.

    Raises UnknownPlatform for what is no public web page: a wish is shown as a link. Raises InvalidCompany
    for a note that cannot be an employer's name.
    """
    if not is_public_link(url):
        raise UnknownPlatform(url[:200], "a wish is the address of a public web page")
    check_company(note)
    request, _ = SourceRequest.objects.get_or_create(
        user_id=user_id,
        url=url,
        status=SourceRequest.Status.OPEN,
        defaults={"note": note, "found": found[:500]},
    )
    return request


def answer_request(request: SourceRequest, *, answer: str, source: Source | None = None) -> None:
    """Answer a wish; with a source, it is added and the person follows it."""
    status = SourceRequest.Status.ADDED if source else SourceRequest.Status.REFUSED
    SourceRequest.objects.filter(pk=request.pk).update(
        status=status, answer=answer[:500], source=source, answered_at=Now()
    )
    if source is not None:
        Subscription.objects.get_or_create(user_id=request.user_id, source=source)


def follow(user_id: int, thing: Source | SourceBundle, *, follows: bool) -> None:
    """Follow a source or a bundle, or stop; twice is once."""
    wanted = {"source": thing} if isinstance(thing, Source) else {"bundle": thing}
    if follows:
        Subscription.objects.get_or_create(user_id=user_id, **wanted)
    else:
        Subscription.objects.filter(user_id=user_id, **wanted).delete()
