"""From bytes to clean characters: which encoding a page is in, and what no reader ever sees."""

from __future__ import annotations

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})", re.I)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.I)
_PRESCAN = 8192
"""Bytes searched for a <meta charset>; the HTML standard asks for 1024, pages often need more."""

_OTHER_ALPHABETS = (
    "big5", "cp1251", "cp1253", "cp1255", "cp1256", "cp866", "cp932", "cp949", "cp950", "euc", "gb",
    "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "koi8", "mac_cyrillic", "shift", "tis_620",
)  # fmt: skip

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffc\ufffe\uffff"
    "\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def decode(data: bytes, content_type: str | None = None) -> str:
    """The text of a page. `content_type` is the HTTP header, which may lie or say nothing.

    A byte order mark decides; else bytes that are valid UTF-8 are UTF-8, whatever is declared
    (other encodings practically never look like it); else what the page, then what the header
    declares; else the likeliest guess. Never raises: what can't be read becomes U+FFFD.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, errors="replace")
    head = data[:_PRESCAN]
    declared = [m[1].decode("ascii") for m in (_META.search(head), _XML.search(head)) if m]
    if content_type and (header := _HEADER.search(content_type)):
        # Servers send their default, so a page that knows better comes first.
        declared.append(header[1])
    names = [name for name in map(_codec, declared) if name]
    for name in names:
        # These look like ASCII or carry zero bytes, so the UTF-8 test says nothing about them.
        if name.startswith(("iso2022", "hz", "utf-16", "utf-32")):
            return data.decode(name, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        if fault.start > len(data) - 4:
            return data.decode("utf-8", errors="ignore")  # cut off within its last character
    for name in names:
        if name == "utf-8":
            continue
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    # A few broken bytes in a page that is otherwise UTF-8 mustn't turn all of it into mojibake.
    text = data.decode("utf-8", errors="replace")
    high = sum(byte > 127 for byte in data)
    if "utf-8" in names and text.count("�") * 10 < high:
        return text
    guess = from_bytes(data[:200_000]).best()
    # Between the encodings of the Latin alphabet a guess is no better than the most frequent one.
    encoding = guess.encoding if guess and guess.encoding.startswith(_OTHER_ALPHABETS) else "cp1252"
    return data.decode(encoding, errors="replace")


def visible(text: str) -> str:
    """NFC, without zero-width, private-use and control characters; white space untouched."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def prose(text: str) -> str:
    """Visible text with every run of white space as one space."""
    return " ".join(visible(text).split())


def _codec(name: str) -> str | None:
    """Python's name for a declared encoding; Latin-1 and ASCII mean cp1252, as browsers read it."""
    try:
        found = codecs.lookup(name.strip()).name
    except LookupError:
        return None
    return "cp1252" if found in {"iso8859-1", "ascii"} else found
