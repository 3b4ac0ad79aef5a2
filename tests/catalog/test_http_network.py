"""Which machine a fetch talks to: names, addresses, certificates, and the corpus with a made-up internet."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from catalog.adapters.address import parse
from catalog.adapters.errors import FetchOutcome
from catalog.adapters.http import FetchFailed, fetch
from catalog.adapters.wire import INTERNET, Internet
from tests.catalog.servers import (
    Certificate,
    Exchange,
    FakeInternet,
    LocalServers,
    Server,
    answer,
    make_certificate,
    raw,
    redirect,
)
from tests.catalog.ssrf_corpus import Row, load

PUBLIC = "93.184.216.34"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), ["jobs.example.com", "127.0.0.1"])


def outcome_of(url: str, internet: Internet = INTERNET) -> FetchOutcome | None:
    try:
        fetch(url, internet=internet, deadline_seconds=10)
    except FetchFailed as failed:
        return failed.outcome
    return None


def test_a_name_is_looked_up_once_and_the_checked_address_connected_to(local: LocalServers) -> None:
    """A second lookup would answer loopback: rebinding."""
    server = local(answer(200, b"jobs"), is_allowed=False)
    fake = FakeInternet({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]}, {80: server})

    assert fetch("http://rebind.example.com/", internet=fake.internet()).content == b"jobs"
    assert (fake.lookups, fake.connections) == (["rebind.example.com"], [(PUBLIC, 80)])
    assert server.exchanges[0].header("Host") == "rebind.example.com"


def test_each_redirect_is_looked_up_and_checked_again(local: LocalServers) -> None:
    server = local(redirect("http://rebind.example.com/again"), is_allowed=False)
    fake = FakeInternet({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]}, {80: server})

    assert outcome_of("http://rebind.example.com/", fake.internet()) == "blocked"
    assert (len(fake.lookups), fake.connections) == (2, [(PUBLIC, 80)])


@pytest.mark.parametrize(
    "answers",
    [
        [PUBLIC, "10.0.0.1"],
        ["::1", PUBLIC],
        ["fe80::1%lo"],
        ["::ffff:8.8.8.8"],
        [PUBLIC] * 30 + ["127.0.0.1"],
        ["?"],
    ],
)
def test_one_bad_address_spoils_the_whole_answer(answers: list[str]) -> None:
    fake = FakeInternet({"mixed.example.com": [answers]}, {})
    assert outcome_of("http://mixed.example.com/", fake.internet()) == "blocked"
    assert fake.connections == []


@pytest.mark.parametrize("answers", [None, [[]]])
def test_a_name_without_an_address_is_unreachable_after_one_lookup(answers: list[list[str]] | None) -> None:
    fake = FakeInternet({"no.example.com": answers}, {})
    assert outcome_of("http://no.example.com/", fake.internet()) == "unreachable"
    assert len(fake.lookups) <= 1


def test_the_next_address_is_tried_when_one_does_not_answer(local: LocalServers) -> None:
    server = local(answer(200, b"jobs"), is_allowed=False)
    fake = FakeInternet({"two.example.com": [["2606:4700::1", PUBLIC]]}, {80: server})
    opened = fake.open_socket

    def open_socket(address: Any, port: int, timeout: float) -> Any:
        if address.version == 6:
            raise OSError(101, "Network is unreachable")
        return opened(address, port, timeout)

    internet = Internet(look_up=fake.look_up, open_socket=open_socket)
    assert fetch("http://two.example.com/", internet=internet).content == b"jobs"


def test_public_names_never_meet_search_domains_and_listed_ones_are_asked_as_written(
    local: LocalServers,
) -> None:
    server = local(answer(), is_allowed=False)
    local.allow("minio:80")
    asked: list[str] = []

    def look_up(name: str, port: int) -> list[str]:
        asked.append(name)
        return ["10.0.0.9"] if name == "minio" else [PUBLIC]

    internet = Internet(look_up=look_up, open_socket=FakeInternet({}, {80: server}).open_socket)
    fetch("http://jobs.example.com/", internet=internet)
    fetch("http://minio/", internet=internet)
    assert asked == ["jobs.example.com.", "minio"]


def test_a_name_keeps_its_place_in_tls_and_in_the_request(
    local: LocalServers, certificate: Certificate
) -> None:
    server = local(answer(200, b"jobs"), is_allowed=False, tls=certificate.server_side())
    fake = FakeInternet({"jobs.example.com": [[PUBLIC]]}, {443: server}, certificate.trusting)

    assert fetch("https://jobs.example.com/", internet=fake.internet()).content == b"jobs"
    assert server.exchanges[0].header("Host") == "jobs.example.com"


def test_a_certificate_for_another_name_is_refused(local: LocalServers, certificate: Certificate) -> None:
    server = local(answer(), is_allowed=False, tls=certificate.server_side())
    fake = FakeInternet({"other.example.com": [[PUBLIC]]}, {443: server}, certificate.trusting)
    assert outcome_of("https://other.example.com/", fake.internet()) == "tls"
    assert server.exchanges == []


def test_a_certificate_nobody_vouches_for_is_refused(local: LocalServers, certificate: Certificate) -> None:
    """With the client's own context, as in production."""
    server = local(answer(), tls=certificate.server_side())
    assert outcome_of(f"https://{server.pair}/") == "tls"
    assert server.exchanges == []


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28"])
def test_a_server_that_does_not_speak_tls_gets_no_plain_request_instead(
    local: LocalServers, said: bytes
) -> None:
    server = local(raw(said))
    assert outcome_of(f"https://{server.pair}/") == "tls"
    assert not any(b"HTTP/1.1" in exchange.head for exchange in server.exchanges)


# --- the corpus, over a made-up internet that ends at local servers ---


class Stage:
    """What a corpus row's addresses serve: its canned responses, "ok" for everything else."""

    def __init__(self, plain: Server, secure: Server, certificate: Certificate) -> None:
        self._servers = {80: plain, 443: secure}
        self._certificate = certificate
        plain.reply = self.reply
        secure.reply = self.reply
        self.canned: dict[str, Any] = {}
        self.requests = 0

    def internet(self, row: Row) -> FakeInternet:
        self.canned = {canned["url"]: canned for canned in row.fixture.get("http", [])}
        self.requests = 0
        return FakeInternet(row.answers(), self._servers, self._certificate.trusting)

    def reply(self, exchange: Exchange) -> None:
        self.requests += 1
        scheme = "https" if hasattr(exchange.connection, "cipher") else "http"
        canned = self.canned.get(f"{scheme}://{exchange.header('Host')}{exchange.path}", {"status": 200})
        location = {"Location": canned["location"]} if "location" in canned else {}
        headers = {**canned.get("headers", {}), **location}
        answer(canned["status"], canned.get("body", "ok").encode(), headers)(exchange)


@pytest.fixture
def rows(shared: Path) -> list[Row]:
    return load(shared)


@pytest.fixture
def stage(rows: list[Row], local: LocalServers, tmp_path: Path) -> Stage:
    names = {
        name for row in rows for name in row.fixture.get("dns", {}) if re.fullmatch(r"[a-z0-9.-]+", name)
    }
    literals = {
        str(parse(row.url).address) for row in rows if row.layer == "benign" and parse(row.url).address
    }
    usable = sorted(name for name in names | literals if not name.startswith("xn--metadata"))
    certificate = make_certificate(tmp_path, usable)
    plain = local(answer(), is_allowed=False)
    return Stage(plain, local(answer(), is_allowed=False, tls=certificate.server_side()), certificate)


def test_the_corpus_is_fetched_or_refused_as_it_says(rows: list[Row], stage: Stage) -> None:
    wrong = []
    for row in rows:
        fake = stage.internet(row)
        outcome = outcome_of(row.url, fake.internet())
        faults = _faults(row, outcome, fake, stage.requests)
        if faults:
            wrong.append((row.id, row.url[:80], outcome, faults))
    assert wrong == []


def _faults(row: Row, outcome: FetchOutcome | None, fake: FakeInternet, requests: int) -> list[str]:
    faults = []
    if (outcome is None) != row.verdict.startswith("ALLOW"):
        faults.append("wrong verdict")
    if row.is_offline and (fake.lookups or fake.connections or outcome != "blocked"):
        faults.append("not decided offline")
    if row.layer == "dns" and row.verdict == "BLOCK" and (len(fake.lookups) > 1 or fake.connections):
        faults.append("connected, or asked again")
    if row.verdict == "ALLOW_PINNED" and (
        len(fake.lookups) != 1 or {address for address, _ in fake.connections} != {row.fixture["peer"]}
    ):
        faults.append("not pinned")
    if requests > min(row.fixture.get("max_requests", 6), 6):
        faults.append("too many requests")
    known = {address for answers in row.answers().values() for answer in answers or [] for address in answer}
    if row.layer == "redirect" and not {address for address, _ in fake.connections} <= known:
        faults.append("connected to a refused hop")
    return faults


# --- the same without fakes: what the process really does, as Python's audit events tell ---

_heard: list[tuple[str, Any]] | None = None


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _heard is not None and event == "socket.connect":
        _heard.append((event, arguments[1]))
    elif _heard is not None and event == "socket.getaddrinfo":
        _heard.append((event, arguments[0]))


@functools.cache  # a hook cannot be removed: one stays, deaf between uses
def _install_hook() -> None:
    sys.addaudithook(_listen)


@contextmanager
def network_heard() -> Iterator[list[tuple[str, Any]]]:
    """Every connect and lookup of this process meanwhile."""
    global _heard
    _install_hook()
    _heard = []
    try:
        yield _heard
    finally:
        _heard = None


def assert_never_reached(urls: list[str], local: LocalServers) -> None:
    """Neither when asked for nor when redirected to, as far as a header can say the URL."""
    server = local(answer())
    with network_heard() as heard:
        assert [url for url in urls if outcome_of(url) != "blocked"] == []
        assert heard == []
        for url in urls:
            if url and url.isprintable() and all(ord(character) < 256 for character in url):
                server.reply = redirect(url)
                # without a scheme it is a path on the same server, which sends it there again
                assert outcome_of(server.base) in {"blocked", "redirect_loop"}, url
    assert {address for _, address in heard} == {("127.0.0.1", server.port)}


def test_no_refused_url_reaches_the_network(local: LocalServers) -> None:
    metadata = ["http://169.254.169.254/", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"]
    assert_never_reached(["http://127.0.0.1/", "http://[::1]/", "http://localhost/", *metadata], local)


def test_no_refused_url_of_the_corpus_reaches_the_network(rows: list[Row], local: LocalServers) -> None:
    assert_never_reached([row.url for row in rows if row.is_offline and row.verdict == "BLOCK"], local)


def test_the_network_is_heard_when_it_is_used(local: LocalServers) -> None:
    server = local(answer())
    with network_heard() as heard:
        fetch(server.base)
    assert heard == [("socket.connect", ("127.0.0.1", server.port))]
