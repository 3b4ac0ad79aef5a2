"""Bytes of a page to text, whatever charset it declares."""

from __future__ import annotations

import codecs
import re

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE | re.ASCII)
_PROLOGUE_BYTES = 4096  # browsers look for a declaration in the first 1,024; some pages put it later
_PROLOGUE_CHARSET = re.compile(
    rb"<meta\b[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|\A\s*<\?xml\b[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)

# Every label of the WHATWG Encoding Standard ("names and labels") → Python's codec for what it means there.
# CP51932, CP5022x and the last few of a row are not in the standard, but on pages.
_LABELS_OF = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": """csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2
        latin2""",
    "iso8859-3": """csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3
        latin3""",
    "iso8859-4": """csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4
        latin4""",
    "iso8859-5": """csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5
        iso_8859-5:1988""",
    "iso8859-6": """arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e
        iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987""",
    "iso8859-7": """csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597
        iso_8859-7 iso_8859-7:1987 sun_eu_greek""",
    "iso8859-8": """csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i
        iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual""",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 latin9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": """dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874""",
    **{
        f"cp{page}": f"cp{page} windows-{page} x-cp{page}"
        for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)
    },
    "cp1252": """ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
        iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 latin-1""",
    "cp1254": """cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5
        latin5 windows-1254 x-cp1254""",
    "gb18030": """chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030
        euc-cn""",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp cp51932 x-eucjp",
    "iso2022_jp_ext": "csiso2022jp iso-2022-jp cp50220 cp50221 cp50222",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": """cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601
        windows-949 ks_c_5601""",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_LABELS = {label: codec for codec, labels in _LABELS_OF.items() for label in labels.split()}
# Codecs of Python's that are no page's charset: escapes, host names, and UTF-7, which hides markup.
_NOT_CHARSETS = {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}


def decode(content: bytes, content_type: str) -> str:
    """The text of a page or document. Never fails: what cannot be read becomes U+FFFD.

    The first of these that names a known charset decides: a byte order mark, the Content-Type header, the
    declaration in the page, UTF-8. The mark goes first, as in browsers, because nothing writes it by mistake.
    """
    for mark, charset in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return content[len(mark) :].decode(charset, "replace")
    header = _HEADER_CHARSET.search(content_type)
    charset = (header and _codec(header[1])) or _declared(content[:_PROLOGUE_BYTES]) or "utf-8"
    return content.decode(charset, "replace")


def _declared(prologue: bytes) -> str | None:
    """The charset a page declares. One that was read byte by byte cannot be UTF-16, whatever it says."""
    found = _PROLOGUE_CHARSET.search(prologue)
    codec = found and _codec((found[1] or found[2]).decode("ascii", "replace"))
    return "utf-8" if codec and codec.startswith(("utf-16", "utf-32")) else codec or None


def _codec(label: str) -> str | None:
    """Python's name for a charset label, None for a label that names no charset."""
    label = label.lower()
    try:
        codec = codecs.lookup(_LABELS.get(label, label)).name
        if codec in _NOT_CHARSETS:
            return None
        b"-".decode(codec, "replace")  # fails for the codecs that turn bytes into bytes
    except LookupError:
        return None
    return codec
