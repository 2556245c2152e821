"""Splits text into sentences: English and Spanish prose, lists, table rows, code."""

from __future__ import annotations

import re

Span = tuple[int, int]

_FENCE = re.compile(r"^(?P<fence>`{3,})[^\n`]*\n(?:.*?\n)?(?P=fence)[ \t]*$", re.M | re.S)
_FORMULA = re.compile(r"\$\$[^$]+\$\$|\$(?=\S)[^$\n]+?(?<=\S)\$(?!\d)")
_HEADING = re.compile(r"#{1,6} ")
_MARKER = re.compile(r"\s*(?:>\s?)*\s*(?:(?:[-*•]|\d{1,4}\.)\s+)?")
# A tag such as <|im_end|> may cling to the mark: what a page plants there stays a sentence of its own.
_END = re.compile(r"[.!?…]+(?:<\|\w+\|>|[\"'”’»)\]])*(?=\s)|[。！？]")
_LAST_WORD = re.compile(r"([^\s(\[\"'“‘«¿¡]+)$")

# Never the end of a sentence: something always follows.
_TITLES = frozenset(
    "mr mrs ms dr prof st mt fr rev hon gen col maj capt cmdr lt sgt pres gov sen rep amb messrs mme "
    "fig figs eq eqs p no nos vol vols ch chap sec sect pp pg ed eds al cf vs v e.g i.e viz approx ca c "
    "op cit ibid trans dept univ ser art "
    "sr sra srta sres d dña dna ud uds vd vds lic ing arq dra dres profa excmo ilmo mons pbro "
    "pág pag págs pags núm num nº n.º cap tít vol fig ej p.ej aprox av avda tel máx mín párr "
    "jan feb mar apr jun jul aug sep sept oct nov dec ene abr ago dic".split()
)
# End a sentence only where a capital follows.
_MAYBE = frozenset(
    "etc inc ltd co corp llc bros jr sr phd ph.d m.d b.a m.a a.m p.m am pm u.s u.k u.n e.u u.s.a d.c "
    "b.c a.d a.c d.c s.a s.l ee.uu ss.mm cía cia".split()
)  # fmt: skip
_OPENERS = "\"'“‘«([¿¡—–-*$"


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text, each a verbatim part of it.

    A fenced code block, a table row and a list item's every sentence count as one each; headings
    (lines that begin with #) are no sentences. `language` (ISO 639-1) is only needed for
    abbreviations that mean different things; today none do.
    """
    return [text[start:end] for start, end in sentence_spans(text, language)]


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Where the sentences of `sentences` start and end in the text."""
    spans: list[Span] = []
    position = 0
    for fence in _FENCE.finditer(text):
        _prose(text, position, fence.start(), spans)
        spans.append((fence.start(), fence.start() + len(fence[0].rstrip())))
        position = fence.end()
    _prose(text, position, len(text), spans)
    return spans


def _prose(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Adds the sentences of a stretch without code; every line stands for itself."""
    position = start
    for line in text[start:end].splitlines(keepends=True):
        _line(line, position, spans)
        position += len(line)


def _line(line: str, offset: int, spans: list[Span]) -> None:
    marker = _MARKER.match(line)
    begin = marker.end() if marker else 0
    end = len(line.rstrip())
    if begin >= end or _HEADING.match(line):
        return
    # "1999." alone on a line is text, not a list's number.
    if " | " in line[begin:end]:
        spans.append((offset + begin, offset + end))
        return
    masked = _FORMULA.sub(lambda m: "x" * len(m[0]), line)
    start = begin
    for match in _END.finditer(masked, begin, end):
        if match.end() >= end:
            break
        if _ends(masked, start, match):
            spans.append((offset + start, offset + match.end()))
            start = match.end()
            while start < end and line[start].isspace():
                start += 1
    if start < end:
        spans.append((offset + start, offset + end))


def _ends(line: str, start: int, match: re.Match[str]) -> bool:
    """Whether the punctuation ends a sentence, judged by the words on both sides."""
    mark = match[0].rstrip("\"'”’»)]")
    if mark in {"。", "！", "？"}:
        return True
    rest = line[match.end() :].lstrip()
    following = rest.lstrip(_OPENERS)
    if not following:
        return False
    first = following[0]
    word = re.match(r"\S+", following)
    # Sentences about code begin with names in lower case: "max_tokens is …", "f() returns …".
    code_word = bool(word and re.search(r"[_()]|\w\.\w|\d", word[0].rstrip(".,;:")))
    if not (first.isupper() or first.isdigit() or rest[0] in "¿¡" or code_word):
        return False
    if mark != ".":
        return True
    before = _LAST_WORD.search(line[start : match.start()])
    if not before:
        return True
    last = before[1].lower()
    if last in _TITLES and not (
        last in {"no", "mar", "sec", "art", "v", "d", "c"}
        and len(rest) > 0
        and _plain(before[1], first)
    ):
        return False
    if last in _MAYBE:
        return first.isupper()
    # J. R. R. Tolkien
    return not (len(before[1]) == 1 and before[1].isupper() and first.isupper())


def _plain(word: str, first: str) -> bool:
    """Whether a word that is also an abbreviation was meant as a word: lower case, a capital behind."""
    return word.islower() and first.isupper()
