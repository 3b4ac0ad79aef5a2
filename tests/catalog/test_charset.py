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


@pytest.mark.parametrize(
    ("labels", "content", "text"),
    [
        ("windows-874 dos-874 tis-620 iso885911", "งาน".encode("cp874"), "งาน"),
        (
            "windows-949 cseuckr csksc56011987 ksc_5601 ks_c_5601-1989 korean iso-ir-149 KSC5601",
            "똠방".encode("cp949"),
            "똠방",
        ),
        ("gb_2312 csgb2312 csiso58gb231280 chinese iso-ir-58", "镕工".encode("gb18030"), "镕工"),
        ("cn-big5 csbig5 x-x-big5", "職位".encode("big5"), "職位"),
        ("iso88591 iso_8859-1 iso_8859-1:1987 cp819 csisolatin1 ansi_x3.4-1968", b"\x93\x80", "“€"),
        ("iso88599 iso_8859-9:1989 csisolatin5", "\u0131\u015f".encode("cp1254"), "\u0131\u015f"),
        ("mac macintosh csmacintosh", "café".encode("mac-roman"), "café"),
        ("x-mac-ukrainian", "работа".encode("mac-cyrillic"), "работа"),
        ("koi koi8 koi8_r cskoi8r", "работа".encode("koi8-r"), "работа"),
        ("koi8-ru koi8-u", "їжак".encode("koi8-u"), "їжак"),
        ("866 csibm866", "работа".encode("cp866"), "работа"),
        ("csshiftjis ms932 windows-31j", "①求人".encode("cp932"), "①求人"),
        ("cseucpkdfmtjapanese", "求人".encode("euc_jp"), "求人"),
        ("csiso2022jp", "求人".encode("iso2022_jp"), "求人"),
        ("sun_eu_greek ecma-118 elot_928 greek8", "θέση".encode("iso8859-7"), "θέση"),
        ("csiso88598i iso-8859-8-i logical", "משרה".encode("iso8859-8"), "משרה"),
        ("asmo-708 ecma-114 csiso88596e", "عمل".encode("iso8859-6"), "عمل"),
        ("unicode11utf8 x-unicode20utf8", "köln".encode(), "köln"),
        ("unicodefffe", "köln".encode("utf-16-be"), "köln"),
        ("csunicode ucs-2 iso-10646-ucs-2 utf-16", "köln".encode("utf-16-le"), "köln"),
        ("no-such-charset latin99", "köln".encode(), "köln"),
    ],
)
def test_every_alias_of_the_standard_names_its_charset_and_no_other_does(
    labels: str, content: bytes, text: str
) -> None:
    """WHATWG Encoding Standard, "names and labels"."""
    assert {
        label: decode(content, f"text/html; charset={label}") for label in labels.split()
    } == dict.fromkeys(labels.split(), text)
