"""Which URLs and addresses may be fetched. Pure: no lookup, no socket, no settings.

Three questions, in the order in which they can be answered: `parse` (is it one unambiguous web URL?),
`admit` (may its name and port be asked?) and `why_refused` (may this address be connected to?). The answer is
"no" wherever two programs could read the same text differently, because a filter that reads a host other
than the one connected to is no filter. Python's own `is_global` and `is_private` do not decide: both let
through addresses that matter here (cloud metadata, translation prefixes, shared address space), and their
answers change with the Python release.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote, urljoin

import idna

from catalog.adapters.errors import Refused

IPAddress = IPv4Address | IPv6Address
HostPort = tuple[str, int]

MAX_URL_CHARS = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

_URL = re.compile(r"([Hh][Tt][Tt][Pp][Ss]?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:]+))(?::([1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# The WHATWG rule for "this is an IPv4 address, however oddly written": its last label is a number.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Controls, invisible format characters, surrogates and every kind of space, none of which a URL contains.
_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}
# What is sent as it stands; the rest of a path or query leaves percent-encoded, as a browser would send it.
_SENT_AS_IS = "!$%&'()*+,-./:;=?@[]_|~"

# Names that mean something inside a network: IANA's special-use domain names (RFC 6761, 6762, 7686, 8375,
# 9476), ICANN's .internal, and the suffixes of resolvers, routers, clusters and private clouds.
_PRIVATE_SUFFIXES = {
    *("alt", "arpa", "internal", "invalid", "local", "localhost", "onion", "test"),
    *("corp", "home", "intranet", "lan", "localdomain", "localdomain6", "private"),
    *("cluster", "consul", "flycast", "svc"),
}
_PRIVATE_NAMES = {"metadata.goog"}

_REFUSED_NETWORKS = {
    ip_network(network): what
    for network, what in {
        "0.0.0.0/8": "this host",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "carrier-grade NAT",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud metadata",  # Azure's wire server, in public space
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "protocol assignments",
        "192.0.2.0/24": "documentation",
        "192.88.99.0/24": "6to4 relay",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
        # Forms that carry an IPv4 address are refused whole: what they reach depends on the network.
        "::/96": "loopback, unspecified or IPv4-compatible",
        "::ffff:0:0/96": "IPv4-mapped",
        "::ffff:0:0:0/96": "IPv4-translated",
        "64:ff9b::/96": "NAT64",
        "64:ff9b:1::/48": "local NAT64",
        "2002::/16": "6to4",
        "100::/64": "discard-only",
        "100:0:0:1::/64": "dummy prefix",
        "2001::/23": "protocol assignments",  # Teredo, ORCHID, benchmarking
        "2001:db8::/32": "documentation",
        "3ffe::/16": "returned 6bone space",
        "3fff::/20": "documentation",
        "5f00::/16": "segment routing",
        "fc00::/7": "unique local",
        "fe80::/10": "link-local",
        "fec0::/10": "site-local",
        "ff00::/8": "multicast",
    }.items()
}
_ISATAP_IDENTIFIERS = {0x00005EFE, 0x02005EFE}  # RFC 5214: the IPv4 address follows in the last 32 bits


@dataclass(frozen=True, slots=True)
class Target:
    """A URL read in the one way it can be read.

    `host` is ASCII, in lower case, without a final dot or brackets; `path` holds path and query as sent.
    """

    scheme: str
    host: str
    port: int
    path: str
    address: IPAddress | None  # set when the host is an address itself

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.path


def parse(url: str) -> Target:
    """The parts of a web URL. Raises Refused for anything else, and for whatever parsers disagree about."""
    if len(url) > MAX_URL_CHARS:
        raise Refused(f"longer than {MAX_URL_CHARS} characters")
    _refuse_unsafe_characters(url)
    parts = _URL.fullmatch(url)
    if parts is None:
        raise Refused("not an http or https URL")
    scheme, authority = parts[1].lower(), parts[2]
    if "@" in authority:
        raise Refused("names a user or password")
    if "%" in authority:
        raise Refused("percent sign in the host")
    split = _AUTHORITY.fullmatch(authority)
    if split is None:
        raise Refused("malformed host or port")
    host, address = _bracketed(split[1]) if split[1] else _plain_host(split[2])
    port = int(split[3]) if split[3] else DEFAULT_PORTS[scheme]
    path = quote((parts[3] or "/") + (parts[4] or ""), safe=_SENT_AS_IS)
    return Target(scheme=scheme, host=host, port=port, path=path, address=address)


def admit(target: Target, allowed: Container[HostPort]) -> None:
    """Refuse ports other than 80 and 443, names of private networks and addresses that are not public.

    `allowed` holds the (host, port) pairs an operator listed: those may be private and on any port.
    """
    if (target.host, target.port) in allowed:
        return
    if target.port not in DEFAULT_PORTS.values():
        raise Refused(f"port {target.port}")
    if target.address is not None:
        if reason := why_refused(target.address):
            raise Refused(f"{target.address} is {reason}")
        return
    labels = target.host.split(".")
    if len(labels) == 1:
        raise Refused("a name without a domain")
    if labels[-1] in _PRIVATE_SUFFIXES or target.host in _PRIVATE_NAMES:
        raise Refused(f"{target.host} is a private name")


def why_refused(address: IPAddress) -> str | None:
    """What the address is when it may not be connected to, None when it is an ordinary public one."""
    for network, what in _REFUSED_NETWORKS.items():
        if address in network:
            return what
    if address.version == 6 and (int(address) >> 32) & 0xFFFFFFFF in _ISATAP_IDENTIFIERS:
        return "ISATAP"
    return None


def address_of(text: str) -> IPAddress:
    """The address in a resolver's answer. Raises Refused for what is none."""
    try:
        return ip_address(text)
    except ValueError as error:
        raise Refused(f"the name resolves to {text!r}") from error


def resolve_reference(base: Target, reference: str) -> str:
    """The URL that a redirect from `base` to `reference` asks for. Raises Refused when that is ambiguous.

    Checked before joining: `urljoin` repairs what browsers read otherwise ("///host", "https:host").
    """
    _refuse_unsafe_characters(reference)
    if _SCHEME.match(reference):
        return reference  # absolute, for `parse` to judge
    if reference.startswith("///"):
        raise Refused("more than two slashes before the host")
    try:
        return urljoin(base.url, reference)
    except ValueError as error:
        raise Refused("malformed host or port") from error


def _refuse_unsafe_characters(text: str) -> None:
    if "\\" in text:
        raise Refused("backslash")
    for character in text:
        if unicodedata.category(character) in _UNSAFE_CATEGORIES:
            raise Refused(f"control, space or invisible character U+{ord(character):04X}")


def _bracketed(text: str) -> tuple[str, IPAddress]:
    try:
        address = IPv6Address(text)
    except ValueError as error:
        raise Refused("malformed IPv6 address") from error
    return str(address), address


def _plain_host(text: str) -> tuple[str, IPAddress | None]:
    labels = [_ascii_label(label) for label in text.removesuffix(".").split(".")]
    host = ".".join(labels)
    if len(host) > 253:
        raise Refused("host name longer than 253 characters")
    if not _NUMBER.fullmatch(labels[-1]):
        return host, None
    try:
        address = IPv4Address(text)
    except ValueError as error:
        raise Refused("malformed or disguised IPv4 address") from error
    return host, address


def _ascii_label(label: str) -> str:
    """One label of a host name as DNS has it.

    A label outside ASCII must stay outside: one that maps to plain letters, digits or dots (full-width,
    circled, ideographic full stop) is a disguise, not an international name.
    """
    if label.isascii():
        label = label.lower()
        if not _LABEL.fullmatch(label):
            raise Refused("malformed host name")
        if not label.startswith("xn--"):
            return label
    try:
        encoded = idna.encode(label, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise Refused("malformed international name") from error
    if not encoded.startswith("xn--") or "." in encoded or len(encoded) > 63:
        raise Refused("disguised host name")
    return encoded
