from __future__ import annotations

import socket
from pathlib import Path

import pytest
from pytest_django import Settings

from catalog.adapters.errors import FetchOutcome
from catalog.adapters.http import FetchFailed, Response, fetch
from tests.catalog.servers import Exchange, LocalServers, Reply, answer, raw, redirect, reset, site


def outcome_of(url: str) -> FetchOutcome | None:
    try:
        fetch(url)
    except FetchFailed as failed:
        return failed.outcome
    return None


def test_a_page_comes_back_with_status_headers_and_body(local: LocalServers) -> None:
    server = local(answer(200, b"jobs", {"Content-Type": "text/html", "ETag": '"1"', "X-A": "1", "x-a": "2"}))
    response = fetch(f"{server.base}/jobs#top")

    expected = {"content-length": "4", "content-type": "text/html", "etag": '"1"', "x-a": "1, 2"}
    url = f"{server.base}/jobs#top"
    assert response == Response(status=200, url=url, final_url=url, headers=expected, content=b"jobs")
    assert (response.etag, response.content_type) == ('"1"', "text/html")


def test_a_request_says_who_asks_and_nothing_else_about_us(local: LocalServers, settings: Settings) -> None:
    settings.RELEASE, settings.FETCH_CONTACT = "1.2", "mailto:ops@example.com"
    server = local(answer())
    fetch(f"{server.base}/a?b", accept="text/html", headers={"X-Board": "acme"})

    assert server.exchanges[0].head.decode().split("\r\n") == [
        "GET /a?b HTTP/1.1",
        f"Host: {server.pair}",
        "User-Agent: Rolecall/1.2 (+mailto:ops@example.com)",
        "Accept: text/html",
        "Accept-Encoding: gzip, deflate",
        "X-Board: acme",
        "",
        "",
    ]


def after_body(size: int, heard: list[bytes], reply: Reply) -> Reply:
    """The reply once the body is there: who hangs up on what is unread resets the connection."""

    def hear(exchange: Exchange) -> None:
        body = exchange.head.partition(b"\r\n\r\n")[2]  # what came along with the head
        while len(body) < size:
            body += exchange.connection.recv(100)
        heard.append(body)
        reply(exchange)

    return hear


def test_a_question_with_a_body_is_a_post_of_json(local: LocalServers) -> None:
    """Some platforms list nothing otherwise."""
    asked: list[bytes] = []
    server = local(after_body(12, asked, answer(200, b"{}")))
    response = fetch(f"{server.base}/jobs", body=b'{"limit":20}')

    [exchange] = server.exchanges
    assert exchange.head.startswith(b"POST /jobs HTTP/1.1\r\n")
    assert (exchange.header("Content-Type"), exchange.header("Content-Length")) == ("application/json", "12")
    assert (asked, response.status) == ([b'{"limit":20}'], 200)


def test_a_question_with_a_body_goes_to_nobody_else(local: LocalServers) -> None:
    other = local(answer())
    server = local(after_body(2, [], redirect(f"{other.base}/elsewhere")))

    with pytest.raises(FetchFailed) as failed:
        fetch(server.base, body=b"{}")

    assert (failed.value.outcome, other.exchanges) == ("protocol", [])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 204])
def test_a_status_that_may_mean_something_is_the_callers_to_judge(local: LocalServers, status: int) -> None:
    assert fetch(local(answer(status)).base).status == status


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *((500, "server_error"), (503, "server_error"), (101, "protocol"), (206, "protocol")),
        *((300, "protocol"), (304, "protocol"), (600, "protocol"), (999, "protocol")),
    ],
)
def test_a_status_without_a_readable_whole_is_a_failure(
    local: LocalServers, status: int, outcome: str
) -> None:
    """A2: a part, or a reference to a copy that was never made, is not taken for the whole."""
    assert outcome_of(local(answer(status, b"some")).base) == outcome


def test_an_unchanged_page_is_a_304_to_who_asked_with_its_validators(local: LocalServers) -> None:
    server = local(answer(304, headers={"ETag": '"7"'}))
    response = fetch(server.base, etag='"7"', last_modified="Sun, 01 Nov 2026 10:00:00 GMT")

    assert (response.status, response.content) == (304, b"")
    assert server.exchanges[0].header("If-None-Match") == '"7"'
    assert server.exchanges[0].header("If-Modified-Since") == "Sun, 01 Nov 2026 10:00:00 GMT"


def test_an_oversized_validator_is_not_offered_for_storage(local: LocalServers) -> None:
    assert fetch(local(answer(200, b"", {"ETag": '"' + "x" * 5000 + '"'})).base).etag is None


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("0", 30),
        ("45", 45),
        ("0000000090", 90),
        ("86401", 86400),
        ("9" * 5000, 86400),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 30),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86400),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Fri, 31 Dec 2026 23:59:59 +9999999999", None),
    ],
)
def test_a_wait_that_a_host_asks_for_stays_within_bounds(
    local: LocalServers, said: str | None, wait: int | None
) -> None:
    """A6: neither no wait at all nor one for ever."""
    server = local(answer(429, headers={} if said is None else {"Retry-After": said}))
    with pytest.raises(FetchFailed) as failed:
        fetch(server.base)
    assert (failed.value.outcome, failed.value.retry_after) == ("rate_limited", wait)
    assert failed.value.host == "127.0.0.1"


def test_a_busy_server_may_name_a_time_too(local: LocalServers) -> None:
    with pytest.raises(FetchFailed) as failed:
        fetch(local(answer(503, headers={"Retry-After": "120"})).base)
    assert (failed.value.outcome, failed.value.retry_after) == ("server_error", 120)


def test_redirects_are_followed_and_the_last_url_reported(local: LocalServers) -> None:
    other = local(site({"/job": answer(200, b"here")}))
    server = local(site({"/a/b": redirect("c?d", 301), "/a/c?d": redirect(f"{other.base}/job#x", 308)}))
    response = fetch(f"{server.base}/a/b")

    assert (response.content, response.url) == (b"here", f"{server.base}/a/b")
    assert response.final_url == f"{other.base}/job#x"
    assert (server.paths, other.paths) == (["/a/b", "/a/c?d"], ["/job"])


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/", "//10.0.0.1/", "http://localhost/", "http://example.com:22/"),
        *("file:///etc/passwd", "///10.0.0.1/", "https:10.0.0.1", "http://u:p@example.com/", "/a b"),
        *("\\\\10.0.0.1\\", "http://[::1]/"),
    ],
)
def test_a_redirect_out_of_bounds_is_blocked(local: LocalServers, location: str) -> None:
    server = local(redirect(location))
    with pytest.raises(FetchFailed, match="redirect refused") as failed:
        fetch(server.base)
    assert failed.value.outcome == "blocked"
    assert len(server.exchanges) == 1


def test_an_allowed_host_does_not_vouch_for_another_port_of_its_machine(local: LocalServers) -> None:
    private = local(answer(200, b"secret"), is_allowed=False)
    assert outcome_of(local(redirect(private.base)).base) == "blocked"
    assert private.exchanges == []


def test_five_redirects_are_followed_and_a_sixth_is_not(local: LocalServers) -> None:
    server = local(site({f"/{n}": redirect(f"/{n + 1}") for n in range(6)} | {"/6": answer(200, b"end")}))
    assert fetch(f"{server.base}/1").content == b"end"
    assert len(server.exchanges) == 6

    assert outcome_of(f"{server.base}/0") == "redirect_loop"
    assert server.paths[6:] == ["/0", "/1", "/2", "/3", "/4", "/5"]


def test_a_circle_of_redirects_is_left_at_once(local: LocalServers) -> None:
    server = local(site({"/a": redirect("/b"), "/b": redirect("/a#again")}))
    assert outcome_of(f"{server.base}/a") == "redirect_loop"
    assert server.paths == ["/a", "/b"]


def test_a_redirect_that_leads_nowhere_is_a_failure(local: LocalServers) -> None:
    assert outcome_of(local(answer(302)).base) == "protocol"


def test_an_international_redirect_is_read_as_utf8(local: LocalServers) -> None:
    server = local(
        site({"/": raw("HTTP/1.1 302 Found\r\nLocation: /köln\r\n\r\n".encode()), "/k%C3%B6ln": answer()})
    )
    assert fetch(server.base).final_url == f"{server.base}/köln"


def test_our_own_headers_stay_with_the_first_origin_and_cookies_with_nobody(local: LocalServers) -> None:
    other = local(answer())
    onward = answer(302, headers={"Location": other.base, "Set-Cookie": "a=1"})
    server = local(site({"/": answer(302, headers={"Location": "/on", "Set-Cookie": "a=1"}), "/on": onward}))
    fetch(server.base, headers={"X-Key": "k"})

    assert [exchange.header("X-Key") for exchange in server.exchanges + other.exchanges] == ["k", "k", None]
    assert [exchange.header("Cookie") for exchange in server.exchanges + other.exchanges] == [None] * 3


def test_every_request_is_paced_by_the_host_asked_for(local: LocalServers) -> None:
    """A6"""
    server = local(site({"/": redirect("/b"), "/b": answer()}))
    asked: list[tuple[str, int]] = []
    fetch(server.base, pace=lambda host: asked.append((host, len(server.exchanges))))
    assert asked == [("127.0.0.1", 0), ("127.0.0.1", 1)]


def test_a_host_without_a_free_slot_gets_no_request(local: LocalServers) -> None:
    """A6"""

    class Busy(Exception):
        pass

    def pace(host: str) -> None:
        raise Busy(host)

    server = local(answer())
    with pytest.raises(Busy):
        fetch(server.base, pace=pace)
    assert server.exchanges == []


def test_a_refused_url_takes_no_slot(local: LocalServers) -> None:
    slots: list[str] = []
    with pytest.raises(FetchFailed):
        fetch("http://10.0.0.1/", pace=slots.append)
    assert slots == []


def test_the_longest_matching_base_is_read_instead_and_not_mentioned(
    local: LocalServers, settings: Settings
) -> None:
    server = local(answer(200, b"[]"))
    settings.FETCH_BASE_URL_OVERRIDES = {
        "https://api.example.com": f"{server.base}/all",
        "https://api.example.com/v1/boards": f"{server.base}/boards",
        "https://api.example.com/v1/boards/ac": f"{server.base}/wrong",
    }
    slots: list[str] = []
    response = fetch("https://API.example.com:443/v1/boards/acme?content=true", pace=slots.append)
    fetch("https://api.example.com")
    fetch("https://api.example.com?x=1")

    assert response.final_url == "https://API.example.com:443/v1/boards/acme?content=true"
    assert server.paths == ["/boards/acme?content=true", "/all/", "/all/?x=1"]
    assert server.exchanges[0].header("Host") == server.pair
    assert slots == ["api.example.com"]


def test_a_base_ends_at_a_boundary(local: LocalServers, settings: Settings) -> None:
    server = local(answer())
    settings.FETCH_BASE_URL_OVERRIDES = {"http://127.0.0.1:1": server.base, "http://10.0.0.1/a": server.base}
    assert outcome_of("http://127.0.0.1:12/") == "blocked"
    assert outcome_of("http://10.0.0.1/ab") == "blocked"
    assert server.exchanges == []


def test_an_override_is_no_way_around_the_policy(local: LocalServers, settings: Settings) -> None:
    server = local(answer(), is_allowed=False)
    settings.FETCH_BASE_URL_OVERRIDES = {"https://api.example.com": server.base}
    assert outcome_of("https://api.example.com/") == "blocked"
    assert server.exchanges == []


def test_a_redirect_from_an_override_is_relative_to_what_was_asked(
    local: LocalServers, settings: Settings
) -> None:
    server = local(site({"/api/a": redirect("/b"), "/api/b": answer(200, b"b")}))
    settings.FETCH_BASE_URL_OVERRIDES = {"https://api.example.com": f"{server.base}/api"}
    assert fetch("https://api.example.com/a").final_url == "https://api.example.com/b"


def test_proxies_and_passwords_of_the_environment_are_not_used(
    local: LocalServers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proxy, server = local(answer(200, b"proxied")), local(answer(200, b"direct"))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.base)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))

    assert fetch(server.base).content == b"direct"
    assert server.exchanges[0].header("Authorization") is None
    assert proxy.exchanges == []


def test_a_lost_connection_and_a_closed_port_are_unreachable(local: LocalServers) -> None:
    server = local(reset)
    assert outcome_of(server.base) == "unreachable"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    local.allow(f"127.0.0.1:{port}")
    assert outcome_of(f"http://127.0.0.1:{port}/") == "unreachable"
