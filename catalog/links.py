"""One spelling of a web address (contract A4), whoever brings it: adapter, upload, extension, mail."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import idna

MAX_LENGTH = 2_048
_DEFAULT_PORTS = {"http": 80, "https": 443}

# Parameters that say where a visitor came from, never which posting is shown.
_TRACKING = frozenset(
    {"gh_src", "lever-origin", "lever-source", "lever-source[]", "lever-via"}
    | {"fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "li_fat_id"}
    | {"mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "_ga", "_gl", "trk", "trkinfo", "trackingid"}
)
_TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_", "__jv")
# Mostly tracking ("ref=linkedin"), yet some sites number postings with them ("ref=R-1042"): they go
# unless the value holds a digit. A needless second spelling is milder than two postings made one.
_AMBIGUOUS = frozenset({"ref", "referer", "referrer", "refid", "source", "src"})
# Pages that route in the browser name the posting after the "#".
_IDENTIFYING_FRAGMENT = re.compile(r"!?/.|(?:gh_jid|ashby_jid|job_?id|jid|id)=.", re.IGNORECASE)

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = _UNRESERVED | frozenset("!$&'()*+,;=:@/")
_QUERY_SAFE = _PATH_SAFE | frozenset("?")
_ESCAPE_OR_CHARACTER = re.compile(r"%([0-9a-fA-F]{2})|(.)", re.DOTALL)
_HOST_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOCAL_SUFFIXES = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".onion", ".alt")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u2028\u2029\ud800-\udfff]")


class InvalidURL(ValueError):
    """The text is not an absolute http or https address that may be stored; the message says why."""


@dataclass(frozen=True, slots=True)
class UrlParts:
    """A canonical URL taken apart for recognition. `host` carries a port that is not the default one."""

    host: str
    segments: tuple[str, ...]  # percent-decoded, none of them empty
    query: dict[str, str]  # the first value of each name, decoded

    @property
    def path(self) -> str:
        """Decoded, without a trailing slash."""
        return "/" + "/".join(self.segments)


def canonical(url: str) -> str:
    """The one spelling of `url`: the key by which the same page is known again. Idempotent.

    Lower-case scheme and host (IDNA), no default port, dot segments resolved, no trailing slash,
    percent-encoding only where needed, tracking parameters dropped and the others sorted, no fragment
    unless it is the identity. The case of path and query stays. Links shown to people keep the
    spelling of their source.

    Raises InvalidURL for anything but an absolute http(s) URL without user information and within
    2,048 characters.
    """
    url = url.strip()
    if len(url) > MAX_LENGTH:
        raise InvalidURL(f"longer than {MAX_LENGTH} characters")
    if _FORBIDDEN.search(url):
        raise InvalidURL("has control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise InvalidURL(f"malformed: {fault}") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.netloc:
        raise InvalidURL("not an absolute http or https address")
    if "@" in parts.netloc:
        raise InvalidURL("carries user information")
    if port == 0:
        raise InvalidURL("names port 0")
    host = _host(parts.hostname or "")
    if port not in (None, _DEFAULT_PORTS[parts.scheme]):
        host = f"{host}:{port}"
    query = f"?{kept}" if (kept := _query(parts.query)) else ""
    is_identity = _IDENTIFYING_FRAGMENT.match(parts.fragment)
    fragment = f"#{_encoded(parts.fragment, _QUERY_SAFE)}" if is_identity else ""
    result = f"{parts.scheme}://{host}{_path(parts.path)}{query}{fragment}"
    if len(result) > MAX_LENGTH:
        raise InvalidURL(f"longer than {MAX_LENGTH} characters once encoded")
    return result


def is_web_url(url: str) -> bool:
    """Whether `canonical` accepts it: an absolute http or https address without tricks."""
    try:
        canonical(url)
    except InvalidURL:
        return False
    return True


def is_public_link(url: str) -> bool:
    """Whether a web URL's host can be a public site: a dotted name, not an address, not a local suffix.

    A posting's link is shown to people and later fetched; no public posting lives at an address. The
    fetching client checks addresses itself, after resolving.
    """
    try:
        host = urlsplit(canonical(url)).hostname or ""
    except InvalidURL:
        return False
    is_address = ":" in host or host.rpartition(".")[2].isdigit()
    return "." in host and not is_address and not host.endswith(_LOCAL_SUFFIXES)


def split(url: str) -> UrlParts:
    """The canonical form of `url`, taken apart. Raises InvalidURL."""
    parts = urlsplit(canonical(url))
    query: dict[str, str] = {}
    for pair in filter(None, parts.query.split("&")):
        name, _, value = pair.partition("=")
        query.setdefault(unquote(name), unquote(value.replace("+", " ")))
    segments = tuple(unquote(segment) for segment in parts.path.split("/") if segment)
    return UrlParts(host=parts.netloc, segments=segments, query=query)


def _host(host: str) -> str:
    if ":" in host:
        return _ipv6(host)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, transitional=False).decode()
        except idna.IDNAError as fault:
            raise InvalidURL(f"the host is not a domain name: {fault}") from None
    host = host.lower().rstrip(".")
    labels = host.split(".")
    if len(host) > 253 or not all(map(_HOST_LABEL.fullmatch, labels)):
        raise InvalidURL("the host is not a domain name")
    if _NUMBER_LABEL.fullmatch(labels[-1]):
        _require_ipv4(host)
    return host


def _require_ipv4(host: str) -> None:
    """A numeric last label means an address to every client; only its plain spelling is accepted."""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise InvalidURL("the host is an address in disguise") from None


def _ipv6(host: str) -> str:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        raise InvalidURL("the host is not an address") from None
    if address.scope_id:
        raise InvalidURL("the host is an address on one machine's interface")
    return f"[{address.compressed}]"


def _path(path: str) -> str:
    """Encoded, dot segments resolved as browsers do, without a trailing slash; the root is "/"."""
    kept: list[str] = []
    for segment in _encoded(path, _PATH_SAFE).split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/" + "/".join(kept).rstrip("/")


def _query(query: str) -> str:
    pairs = _encoded(query, _QUERY_SAFE).split("&")
    kept = dict.fromkeys(pair for pair in pairs if pair and not _is_tracking(pair))
    return "&".join(sorted(kept, key=lambda pair: pair.partition("=")[0]))


def _is_tracking(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = unquote(name).lower()
    if name in _AMBIGUOUS:
        return not any(map(str.isdigit, value))
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _encoded(text: str, safe: frozenset[str]) -> str:
    """Percent-encoding in one spelling: needless escapes undone, needed ones in upper case."""

    def spelled(match: re.Match[str]) -> str:
        escape, character = match[1], match[2]
        if escape:
            decoded = chr(int(escape, 16))
            return decoded if decoded in _UNRESERVED else f"%{escape.upper()}"
        if character in safe:
            return character
        return "".join(f"%{byte:02X}" for byte in character.encode())

    return _ESCAPE_OR_CHARACTER.sub(spelled, text)
