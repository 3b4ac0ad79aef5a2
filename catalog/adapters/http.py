"""The one HTTP client: everything the catalog reads from the network is read by `fetch`.

A fetch is a GET, or a POST where a platform lists nothing otherwise, with limits on where it may go
(`catalog.adapters.address`, at every redirect again), on how long it may take and on how much it may bring.
It keeps nothing: no cookies, no connection, no proxy or password from the environment. httpcore speaks
HTTP/1.1; httpx is not used because it unpacks bodies without a limit and has no place for a network of our
own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpcore
from django.conf import settings

from catalog.adapters.address import HostPort, Target, admit, parse, resolve_reference
from catalog.adapters.body import read_body
from catalog.adapters.errors import FetchFailed, Refused
from catalog.adapters.wire import INTERNET, CheckedBackend, Deadline, Internet

__all__ = ["FetchFailed", "Response", "fetch"]

MAX_REDIRECTS = 5
MAX_HEADER_BYTES = 64 * 1024
MAX_VALIDATOR_CHARS = 200
RETRY_AFTER_SECONDS = (30, 24 * 60 * 60)  # what a server may ask for: shortest and longest

_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered: a status of 2xx, 304 (only to a conditional request) or 4xx other than 429.

    `url` is the URL asked for, `final_url` the one that answered after redirects. Header names are in lower
    case; a header sent several times has its values joined with a comma. `content` is unpacked.
    """

    status: int
    url: str
    final_url: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def etag(self) -> str | None:
        return self._validator("etag")

    @property
    def last_modified(self) -> str | None:
        return self._validator("last-modified")

    def _validator(self, name: str) -> str | None:
        """A validator to send back one day; an oversized one is as good as none."""
        value = self.headers.get(name)
        return value if value and len(value) <= MAX_VALIDATOR_CHARS else None


def fetch(
    url: str,
    *,
    accept: str = "*/*",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    max_bytes: int | None = None,
    deadline_seconds: float | None = None,
    etag: str | None = None,
    last_modified: str | None = None,
    pace: Callable[[str], None] | None = None,
    internet: Internet = INTERNET,
) -> Response:
    """Read `url`, following up to MAX_REDIRECTS redirects, each judged like a URL of its own.

    `headers` are sent only while the redirects stay on the first origin. A `body` is sent as a POST, JSON
    unless the headers say otherwise, and to nobody but who was asked: its redirect is refused. `max_bytes`
    counts unpacked bytes, `deadline_seconds` everything from now on; None means the settings' value. `pace`
    is called with the host asked for before each request and may wait or raise: nothing has been sent then
    (A6).

    Raises FetchFailed, and whatever `pace` raises.
    """
    order = _Order(
        own_headers=headers or {},
        body=body,
        common_headers=_common_headers(accept, etag, last_modified),
        is_conditional=bool(etag or last_modified),
        max_bytes=settings.FETCH_MAX_BYTES if max_bytes is None else max_bytes,
        deadline=Deadline(settings.FETCH_TIMEOUT_SECONDS if deadline_seconds is None else deadline_seconds),
        pace=pace,
        internet=internet,
    )
    try:
        first = _Hop.to(url)
    except Refused as refused:
        raise FetchFailed("blocked", str(refused)) from refused
    last, answer = _follow(first, order)
    return Response(answer.status, url, last.url, answer.headers, answer.content)


@dataclass(frozen=True, slots=True)
class _Order:
    """What stays the same over all redirects of one fetch."""

    own_headers: Mapping[str, str]
    body: bytes
    common_headers: Mapping[str, str]
    is_conditional: bool
    max_bytes: int
    deadline: Deadline
    pace: Callable[[str], None] | None
    internet: Internet


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request: the URL asked for and, where the settings name another base for it, the one read."""

    url: str
    asked: Target
    read: Target
    allowed: frozenset[HostPort]

    @classmethod
    def to(cls, url: str) -> _Hop:
        """Raises Refused, before any lookup, when the policy does not let the URL be read."""
        asked = parse(url)
        read = _overridden(asked)
        allowed = frozenset(_host_port(pair) for pair in settings.FETCH_ALLOW_PRIVATE_HOSTS)
        admit(read, allowed)
        return cls(url, asked, read, allowed)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes = b""
    location: str | None = None


def _follow(hop: _Hop, order: _Order) -> tuple[_Hop, _Answer]:
    """The request that is no longer answered by a redirect, and its answer."""
    origin = hop.asked.origin
    seen: set[str] = set()
    while True:
        try:
            answer = _request(hop, order, with_own_headers=hop.asked.origin == origin)
            if answer.location is None:
                return hop, answer
            if order.body:
                raise FetchFailed("protocol", f"a POST was answered with status {answer.status}")
            seen.add(hop.asked.url)
            hop = _next_hop(hop, answer.location, seen)
        except FetchFailed as failed:
            failed.host = hop.asked.host
            raise


def _request(hop: _Hop, order: _Order, *, with_own_headers: bool) -> _Answer:
    if order.pace is not None:
        order.pace(hop.asked.host)
    sent = {"Host": hop.read.authority, **order.common_headers}
    if with_own_headers:
        sent |= {name.title(): value for name, value in order.own_headers.items()}
    if order.body:
        sent = {"Content-Type": "application/json", **sent, "Content-Length": str(len(order.body))}
    method = "POST" if order.body else "GET"
    read = hop.read
    backend = CheckedBackend(read, allowed=hop.allowed, internet=order.internet, deadline=order.deadline)
    tls = order.internet.tls() if read.scheme == "https" else None
    url = httpcore.URL(scheme=read.scheme, host=read.host, port=read.port, target=read.path)
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent.items()]
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=backend) as pool,
            pool.stream(method, url, headers=raw, content=order.body or None) as response,
        ):
            return _read_answer(response, order)
    except httpcore.ProtocolError as error:
        raise FetchFailed("protocol", str(error)) from error


def _read_answer(response: httpcore.Response, order: _Order) -> _Answer:
    headers = _read_headers(response.headers)
    status = response.status
    if status in _REDIRECTS:
        return _Answer(status, headers, location=headers.get("location", ""))
    _refuse_status(status, headers, is_conditional=order.is_conditional)
    if "transfer-encoding" in headers and "content-length" in headers:
        raise FetchFailed("protocol", "two statements of the body's length")
    coding = "" if status == 304 else headers.get("content-encoding", "")
    content = read_body(response.iter_stream(), coding=coding, max_bytes=order.max_bytes)
    return _Answer(status, headers, content)


def _read_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    if sum(len(name) + len(value) + 4 for name, value in raw) > MAX_HEADER_BYTES:
        raise FetchFailed("protocol", f"more than {MAX_HEADER_BYTES:,} bytes of headers")
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _refuse_status(status: int, headers: Mapping[str, str], *, is_conditional: bool) -> None:
    """Raise for a status under which no body is read.

    206 is a part that was not asked for, and 304 without a condition refers to a copy nobody has: taking
    either for the whole would be a wrong reading (A2).
    """
    wait = retry_after(headers.get("retry-after", ""), now=datetime.now(UTC))
    if status == 429:
        raise FetchFailed("rate_limited", "status 429", retry_after=wait)
    if 500 <= status < 600:
        raise FetchFailed("server_error", f"status {status}", retry_after=wait)
    is_read = (200 <= status < 300 and status != 206) or 400 <= status < 500
    if not is_read and not (status == 304 and is_conditional):
        raise FetchFailed("protocol", f"status {status}")


def _next_hop(hop: _Hop, location: str, seen: set[str]) -> _Hop:
    """Where a redirect leads. A URL seen before would answer as before: there are no cookies."""
    if not location:
        raise FetchFailed("protocol", "a redirect that leads nowhere")
    if len(seen) > MAX_REDIRECTS:
        raise FetchFailed("redirect_loop", f"more than {MAX_REDIRECTS} redirects")
    try:
        text = location.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        text = location
    try:
        following = _Hop.to(resolve_reference(hop.asked, text))
    except Refused as refused:
        raise FetchFailed("blocked", f"redirect refused: {refused}") from refused
    if following.asked.url in seen:
        raise FetchFailed("redirect_loop", "redirects in a circle")
    return following


def retry_after(value: str, *, now: datetime) -> int | None:
    """Seconds to wait by a Retry-After header (RFC 9110: seconds or a date), within RETRY_AFTER_SECONDS.

    None when the header is missing or says nothing that can be read.
    """
    shortest, longest = RETRY_AFTER_SECONDS
    value = value.strip()
    if value.isascii() and value.isdigit():
        digits = value.lstrip("0")[:6]  # a header of digits can be longer than int() reads
        return max(shortest, min(int(digits or 0), longest))
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(shortest, min(int((until - now).total_seconds()), longest))


def _common_headers(accept: str, etag: str | None, last_modified: str | None) -> dict[str, str]:
    contact = f" (+{settings.FETCH_CONTACT})" if settings.FETCH_CONTACT else ""
    headers = {
        "User-Agent": f"Rolecall/{settings.RELEASE}{contact}",
        "Accept": accept,
        "Accept-Encoding": "gzip, deflate",
    }
    if etag:
        headers["If-None-Match"] = etag
    if last_modified:
        headers["If-Modified-Since"] = last_modified
    return headers


def _overridden(asked: Target) -> Target:
    """The target to read instead, by the longest base of FETCH_BASE_URL_OVERRIDES that `asked` lies under."""
    bases = {_base(base): read for base, read in settings.FETCH_BASE_URL_OVERRIDES.items()}
    for base in sorted(bases, key=len, reverse=True):
        rest = asked.url.removeprefix(base)
        if rest != asked.url and rest[:1] in {"", "/", "?"}:
            return parse(bases[base] + rest)
    return asked


def _base(url: str) -> str:
    return parse(url).url.rstrip("/")


def _host_port(pair: str) -> HostPort:
    host, _, port = pair.strip().rpartition(":")
    return host.strip("[]").lower(), int(port)
