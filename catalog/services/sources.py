"""Adding sources and telling how they are doing."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models.functions import Now

from catalog.adapters import ADAPTERS, detect, why_undetected
from catalog.adapters.base import Adapter, Context, Detection, Request
from catalog.admission import TitlePattern
from catalog.errors import InvalidCompany, UnknownPlatform
from catalog.models import Listing, Source, SourceBundle, SourceRequest, Subscription
from taskqueue.models import URGENT
from taskqueue.services import enqueue

COMPANY_MAX_CHARS = 200


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

    Raises InvalidCompany for a name that is too long or holds control characters.
    """
    check_company(company)
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
    if board.token.startswith(("http://", "https://")):
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
    """Keep a person's wish for a source that could not be recognised, for somebody to answer."""
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
