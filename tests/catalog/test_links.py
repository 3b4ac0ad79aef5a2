"""One spelling of a URL (contract A4)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.links import InvalidURL, canonical, is_public_link, is_web_url, split


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("HTTPS://Jobs.Example.COM:443/Role", "https://jobs.example.com/Role"),
        ("http://jobs.example.com:80", "http://jobs.example.com/"),
        ("https://jobs.example.com:8443/a", "https://jobs.example.com:8443/a"),
        ("https://jobs.example.com./a/", "https://jobs.example.com/a"),
        ("https://jobs.example.com/a/./b/../c", "https://jobs.example.com/a/c"),
        ("https://jobs.example.com/%7Euser/%e4%bb%95/%2f", "https://jobs.example.com/~user/%E4%BB%95/%2F"),
        ("https://jobs.example.com/仕事 x", "https://jobs.example.com/%E4%BB%95%E4%BA%8B%20x"),
        ("https://例え.example/a", "https://xn--r8jz45g.example/a"),
        ("https://jobs.example.com/100%", "https://jobs.example.com/100%25"),
        ("  https://jobs.example.com/a?  ", "https://jobs.example.com/a"),
        ("https://jobs.example.com/a?b=2&a=1&b=2", "https://jobs.example.com/a?a=1&b=2"),
        (
            "https://jobs.example.com/a?id=1&utm_source=x&UTM_Medium=y&gclid=z",
            "https://jobs.example.com/a?id=1",
        ),
        ("https://jobs.example.com/a?gh_jid=1&gh_src=x", "https://jobs.example.com/a?gh_jid=1"),
        (
            "https://jobs.example.com/a?lever-source%5B%5D=x&ashby_jid=u",
            "https://jobs.example.com/a?ashby_jid=u",
        ),
        ("https://jobs.example.com/a?ref=linkedin&source=feed", "https://jobs.example.com/a"),
        ("https://jobs.example.com/a?ref=R-1042", "https://jobs.example.com/a?ref=R-1042"),
        ("https://jobs.example.com/a#apply", "https://jobs.example.com/a"),
        ("https://jobs.example.com/#/jobs/12", "https://jobs.example.com/#/jobs/12"),
        ("https://jobs.example.com/#gh_jid=12", "https://jobs.example.com/#gh_jid=12"),
        ("https://[2001:DB8:0:0::1]/a", "https://[2001:db8::1]/a"),
        ("https://Tenant_One.example.com/CX_1001", "https://tenant_one.example.com/CX_1001"),
    ],
)
def test_a_url_has_one_spelling(url: str, spelling: str) -> None:
    assert canonical(url) == spelling
    assert canonical(spelling) == spelling


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://example.com/a",
        "mailto:jobs@example.com",
        "/jobs/1",
        "//example.com/jobs/1",
        "example.com/jobs/1",
        "https:///jobs",
        "https://user:pw@example.com/",
        "https://jobs.example.com@evil.example/",
        "https://jobs.example.com\\@evil.example/",
        "https://jobs.example.com/a\nb",
        "https://jobs.example.com/\x00",
        "https://exa mple.com/",
        "https://%65xample.com/",
        "https://-example.com/",
        "https://example..com/",
        "https://example.com:99999/",
        "https://example.com:0/",
        "https://2130706433/",
        "https://0x7f.0.0.1/",
        "https://127.1/",
        "https://[::1",
        "https://[fe80::1%25eth0]/",
        "https://example.com/" + "a" * 2_048,
        "https://example.com/" + "é" * 400,
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    assert not is_web_url(url)
    with pytest.raises(InvalidURL):
        canonical(url)


def test_every_way_of_linking_a_posting_meets_in_one_key() -> None:
    """A30: tracking, case of the host, trailing slash, fragment, port and order of parameters."""
    hosts = ["jobs.example.com", "JOBS.example.com", "jobs.example.com:443"]
    paths = ["/role/12", "/role/12/", "/role/x/../12"]
    queries = ["?id=7&lang=en", "?lang=en&id=7", "?utm_source=a&id=7&lang=en&ref=b"]
    fragments = ["", "#apply", "#:~:text=role"]
    spellings = {
        canonical(f"https://{host}{path}{query}{fragment}")
        for host, path, query, fragment in itertools.product(hosts, paths, queries, fragments)
    }
    assert spellings == {"https://jobs.example.com/role/12?id=7&lang=en"}


@pytest.mark.parametrize(
    ("url", "is_public"),
    [
        ("https://jobs.example.com/a", True),
        ("https://jobs.example.xn--p1ai/a", True),
        ("https://127.0.0.1/a", False),
        ("https://[2001:db8::1]/a", False),
        ("https://localhost/a", False),
        ("https://db.internal/a", False),
        ("javascript:alert(1)", False),
    ],
)
def test_a_posting_is_only_linked_at_a_public_name(url: str, is_public: bool) -> None:
    assert is_public_link(url) is is_public


def test_a_url_comes_apart_decoded() -> None:
    parts = split("https://Jobs.example.com/Flock%20Safety//x?for=a+b&for=c&empty")
    assert parts.host == "jobs.example.com"
    assert parts.segments == ("Flock Safety", "x")
    assert parts.query == {"for": "a b", "empty": ""}


URLS = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["a.example", "A.Example:443", "例え.example.", "[::1]", "127.0.0.1", "x_y.example:80"]),
    st.text(alphabet=st.characters() | st.sampled_from("/%?#&=+.:@ ~2fFeE"), max_size=60).map("/{}".format),
)


@given(URLS)
def test_spelling_a_url_again_changes_nothing(url: str) -> None:
    try:
        spelling = canonical(url)
    except InvalidURL:
        return
    assert canonical(spelling) == spelling
    assert spelling.isascii()
    assert " " not in spelling


@given(st.text())
def test_any_text_is_spelled_or_refused(text: str) -> None:
    assert is_web_url(text) in {True, False}
