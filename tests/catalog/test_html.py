"""Other people's HTML: what may be shown, and what a reader sees of it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.html import (
    MAX_CHARACTERS,
    PARSED_OPEN_FORMATTING,
    PARSED_TAGS,
    as_paragraphs,
    clean,
    sanitise,
    to_text,
    visible,
)

TAGS = (
    {"p", "br", "hr", "ul", "ol", "li", "strong", "b", "em", "i", "u", "s", "sub", "sup", "small", "abbr"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "a", "div", "span", "dl", "dt", "dd"}
    | {"table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption"}
)
ATTRIBUTES = {
    "a": {"href", "title", "rel"},
    "abbr": {"title"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
REL = "noopener noreferrer nofollow ugc"


class Oracle(HTMLParser):
    """Reads sanitised HTML and objects to everything outside the profile."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        given = dict(attrs)
        assert set(given) <= ATTRIBUTES.get(tag, set())
        if "href" in given:
            assert (given["href"] or "").lower().startswith(("http://", "https://", "mailto:"))
        if tag == "a":
            assert given.get("rel") == REL

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment survived: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration survived: {decl!r}")


def assert_within_profile(html: str) -> None:
    oracle = Oracle()
    oracle.feed(html)
    oracle.close()


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p onclick='x()' style='color:red' class='a' id='b' lang='de'>Role</p>", "<p>Role</p>"),
        ("<script>steal()</script><style>p{}</style>Role", "Role"),
        ("<a href='javascript:x()'>Apply</a>", f'<a rel="{REL}">Apply</a>'),
        ("<a href='java\tscript:x()'>Apply</a>", f'<a rel="{REL}">Apply</a>'),
        ("<a href='/admin/logout/'>Apply</a>", f'<a rel="{REL}">Apply</a>'),
        ("<a href='//evil.example/'>Apply</a>", f'<a rel="{REL}">Apply</a>'),
        ("<a href='https://ok.example/?a=1' target=_blank rel=opener>Apply</a>", None),
        ("<img src=x onerror=x()>Role", "Role"),
        ("<!-- note --><p>Role", "<p>Role</p>"),
        ("<im\x00g src=x onerror=x()>Role", "Role"),
        ("<p>ok</p></div></main><form><button>Send</button></form>", "<p>ok</p>Send"),
        ("<ol start=3><li>One</ol><td colspan=2>x</td>", None),
        ("&lt;script&gt; is a tag", "&lt;script&gt; is a tag"),
        ("", ""),
    ],
)
def test_only_the_profile_survives(html: str, shown: str | None) -> None:
    safe = sanitise(html)
    assert_within_profile(safe)
    assert shown is None or safe == shown


def test_every_corpus_payload_comes_out_harmless_with_its_text(shared: Path) -> None:
    rows = (shared / "security/html_payloads.jsonl").read_text(encoding="utf-8").split("\n")
    for row in (json.loads(line) for line in rows if line):
        if row["context"] != "description" or not isinstance(row["html"], str):
            continue
        safe = sanitise(row["html"])
        text = " ".join(to_text(safe).split())
        assert_within_profile(safe)
        assert not [bad for bad in row["must_not_contain"] if bad.lower() in safe.lower()], row["id"]
        assert all(" ".join(kept.split()) in text for kept in row["must_keep_text"]), row["id"]


FRAGMENTS = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<a href=javascript:x()>",
            "<a href='https://e.example/'>",
            "</a>",
            "<svg>",
        ),
        *(
            "<math>",
            "<style>",
            "</style>",
            "<script>",
            "</script>",
            "<table>",
            "<td>",
            "<!--",
            "-->",
            "<![CDATA[",
        ),
        *("]]>", "<img src=x onerror=x()>", "<template>", "<title>", "<select>", "<noscript>", "<iframe>"),
        *("<textarea>", "&lt;", "&amp;lt;", "&#60;", "<", ">", '"', "'", "=", "\x00", "text", "<h1/"),
        '<p title="<img src=x>',
    ]
)


@given(st.lists(FRAGMENTS, max_size=30))
def test_no_combination_of_fragments_leaves_the_profile(fragments: list[str]) -> None:
    safe = sanitise("".join(fragments))
    assert_within_profile(safe)
    assert_within_profile(sanitise(safe))


def test_blocks_become_lines_and_entities_are_decoded_once() -> None:
    html = "<div><script>t()</script><h2>About &amp;amp; Us</h2><p>We don&#39;t offer\n sponsorship</p></div>"
    assert to_text(html) == "About &amp; Us\nWe don't offer sponsorship"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Java<b>Script</b> dev", "JavaScript dev"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<ul><li>One</li><li>Two <i>and</i> a half</ul>after", "One\nTwo and a half\nafter"),
        ("<table><tr><td>L4</td><td>150k</td></tr><tr><td>L5</td></tr></table>", "L4 150k\nL5"),
        ("a&nbsp;&nbsp;b\u00a0c", "a b c"),
        ("<pre>first\n  second</pre>", "first\nsecond"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("a < b and c <= d", "a < b and c <= d"),
        ('<p title="x>y">shown</p>', "shown"),
        ("<p don't>shown</p>", "shown"),
        ("<!-->shown<!-- hidden --!>too", "showntoo"),
        ("<STYLE>p{}</style >shown<script>if (a</b) {}</script>", "shown"),
        ("<script>never closed", ""),
        ("caf&eacute; &copy; &notanentity;", "café © ¬anentity;"),
    ],
)
def test_text_is_what_a_reader_sees(html: str, text: str) -> None:
    assert to_text(html) == text


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * (PARSED_TAGS + 1) + "deep",
        "<b>" * (PARSED_OPEN_FORMATTING + 1) + "deep",
        "deep" + "</p>" * (PARSED_TAGS + 1),
        "deep<p " + "a=1 " * 100_000 + ">",
    ],
    ids=["nesting", "open formatting", "end tags", "attributes"],
)
def test_what_would_keep_the_sanitiser_busy_becomes_plain_paragraphs(html: str) -> None:
    assert sanitise(html) == "<p>deep</p>"


def test_a_description_is_kept_whole_or_not_at_all() -> None:
    """Contract A5: past the limit nothing is kept, rather than a part that would be read as the whole."""
    assert sanitise("x" * (MAX_CHARACTERS + 1)) == ""
    assert sanitise("<p>" + "x" * 400_000 + "</p>") == "<p>" + "x" * 400_000 + "</p>"


def test_plain_text_becomes_escaped_paragraphs() -> None:
    assert as_paragraphs('a < b\n\n"c"\n') == "<p>a &lt; b</p><p>&quot;c&quot;</p>"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("  Senior \t Engineer \n II ", "Senior Engineer II"),
        ("R\x00&\x07D\x7f\x9b", "R&D"),
        ("\ud800Lead\udfff \ufffe\uffff", "Lead"),
        ("\u202eevil\u202c \u2066x\u2069 \u061c\u200e\u200f", "evil x"),
        ("Eng\u200bin\u2060e\ufeffer\xad", "Engineer"),
        ("in\u200dvisible\u200c", "invisible"),
        ("hid\U000e0041\U000e0100den\ufe01", "hidden"),
        ("a\u2028b\u2029c\x85", "a b c"),
        ("cafe\u0301", "caf\u00e9"),
        ("👩🏽\u200d💻 ❤\ufe0f\u200d🔥 می\u200cخواهم", "👩🏽\u200d💻 ❤\ufe0f\u200d🔥 می\u200cخواهم"),
        ("★" * 50, "★" * 50),
    ],
)
def test_one_line_fields_lose_what_cannot_be_seen_or_stored(raw: str, line: str) -> None:
    assert clean(raw) == line
    assert clean(line) == line


def test_stacked_marks_are_cut_before_they_cost_quadratic_time() -> None:
    stacked = visible("a" + "\u0301\u0327" * 200_000 + "b")
    assert len(stacked) < 40
    assert stacked.endswith("b")


@given(st.text())
def test_cleaned_text_can_be_stored(raw: str) -> None:
    line = clean(raw)
    line.encode()
    assert "\x00" not in line
    assert clean(line) == line
    assert "\n" not in line
