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

# What labels mean in practice, where Python's own reading is narrower or missing (WHATWG Encoding Standard,
# "names and labels"). CP51932 is Microsoft's name for EUC-JP and in no table of Python's.
_LABELS = {
    **dict.fromkeys(["ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "l1"], "cp1252"),
    **dict.fromkeys(["iso-8859-9", "iso8859-9", "latin5"], "cp1254"),
    **dict.fromkeys(["iso-8859-11", "iso8859-11", "tis-620", "dos-874"], "cp874"),
    **dict.fromkeys(["iso-8859-8-i", "iso-8859-8-e", "logical", "visual"], "iso8859-8"),
    **dict.fromkeys(["cp51932", "x-euc-jp", "x-eucjp"], "euc_jp"),
    **dict.fromkeys(["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"], "cp932"),
    **dict.fromkeys(["cp50220", "cp50221", "cp50222"], "iso2022_jp_ext"),
    **dict.fromkeys(["gb2312", "gb_2312-80", "gbk", "x-gbk", "euc-cn"], "gb18030"),
    **dict.fromkeys(["euc-kr", "ks_c_5601-1987", "ksc5601", "ks_c_5601"], "cp949"),
    **dict.fromkeys(["big5", "big5-hkscs", "x-x-big5"], "big5hkscs"),
    **{f"x-cp125{digit}": f"cp125{digit}" for digit in "012345678"},
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "koi8": "koi8-r",
    "unicode-1-1-utf-8": "utf-8",
    "x-unicode20utf8": "utf-8",
}
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
