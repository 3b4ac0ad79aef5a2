from __future__ import annotations

import codecs

import pytest

from catalog.charset import decode


@pytest.mark.parametrize(
    ("content_type", "content", "text"),
    [
        ("text/html; charset=CP51932", bytes.fromhex("c6fcb7d0"), "日経"),
        ("text/html; charset=x-euc-jp", bytes.fromhex("c6fcb7d0"), "日経"),
        ("text/html; charset=Shift_JIS", "①日経".encode("cp932"), "①日経"),
        ("text/html; charset=gb2312", "镕".encode("gb18030"), "镕"),
        ("text/html; charset=ks_c_5601-1987", "똠".encode("cp949"), "똠"),
        ("text/html; charset=iso-2022-jp", "日経".encode("iso2022_jp"), "日経"),
        ("text/html; charset=iso-8859-1", b"\x93caf\xe9\x94 \x80", "“café” €"),
        ("text/html;charset='windows-1251'", "работа".encode("cp1251"), "работа"),
        ("text/html", "köln".encode(), "köln"),
        ("", b"k\xf6ln", "k\ufffdln"),
    ],
)
def test_text_is_read_in_the_charset_its_header_means(content_type: str, content: bytes, text: str) -> None:
    assert decode(content, content_type) == text


@pytest.mark.parametrize(
    "declaration",
    [
        b'<html><head><meta charset="shift_jis">',
        b"<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=sjis'>",
        b'<?xml version="1.0" encoding="Shift_JIS"?>',
    ],
)
def test_a_page_declares_its_charset_when_the_header_does_not(declaration: bytes) -> None:
    content = declaration + "求人".encode("cp932")
    assert decode(content, "text/html").endswith("求人")
    assert decode(content, "text/html; charset=nonsense").endswith("求人")
    assert decode(declaration + "求人".encode(), "text/html; charset=utf-8").endswith("求人")


@pytest.mark.parametrize(
    ("mark", "charset"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_byte_order_mark_decides_over_every_declaration(mark: bytes, charset: str) -> None:
    assert decode(
        mark + "<meta charset=koi8-r>求人".encode(charset), "text/html; charset=iso-2022-jp"
    ).endswith("求人")


def test_a_page_read_byte_by_byte_is_not_utf16_whatever_it_declares() -> None:
    assert decode("<meta charset=utf-16>köln".encode(), "").endswith("köln")


@pytest.mark.parametrize(
    "label",
    ["utf-7", "hex", "rot13", "base64", "idna", "punycode", "unicode_escape", "undefined", "x" * 40, "../x"],
)
def test_a_label_that_is_no_charset_is_passed_over(label: str) -> None:
    assert decode(b"+ADw-script+AD4- \\u003c", f"text/html; charset={label}") == "+ADw-script+AD4- \\u003c"


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-16", "euc-jp", "iso-2022-jp", "gb2312", "big5", "hz", "euc-kr", "cp1252"]
)
def test_any_bytes_become_text(charset: str) -> None:
    content = bytes(range(256)) * 3 + b"\x1b$B\xff"
    assert decode(content, f"text/html; charset={charset}")
