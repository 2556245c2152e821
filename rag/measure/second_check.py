"""A second check of a finished answer, written apart from the one that the answer passed.

It reads the answer object as a reader would, and looks up each footnote in the page that it names.
What it reports is meant to be read: a name that the other language spells in another way may be
among it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from babel import Locale
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from wordfreq import zipf_frequency

from rag.measure.numerals import fold, numerals
from rag.types import Chunk

_MARKER = re.compile(r"\s*\[(\d+)\]")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]\.){2,}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_STARTS = re.compile(r"(?:^|[.!?:;…]\s|\n|[\"“”«¿¡(]|[-*•]\s)\s*$")
_FUNCTION_WORDS = frozenset(
    """i a an the he she it we you they his her its our your their this that these those in on at by
    of to for from with and or but not no if when while as is are was were there here what who
    el la los las lo un una unos unas su sus se y o e u de del al en por para con sin sobre entre que
    cuando donde mientras como es son fue era eran esto este esta estos estas ese esa si no mas
    pero segun tras desde hasta""".split()
)
_ALIKE = 0.6
"""Least likeness (Ratcliff & Obershelp) of a name in one language and its form in the other."""
_RARE = 3.0
"""Zipf frequency below which a capitalised word at a sentence's start is taken for a name."""

_DECIDE = 3
"""Words in lower case that a text needs to be in a language."""


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer with the footnote behind it."""

    text: str
    page: str | None
    """The cited page; None for a sentence without a footnote."""
    quote: str


@dataclass(frozen=True)
class Inspection:
    """What the second check found in one answer."""

    statements: int
    offences: tuple[dict[str, Any], ...]
    """`sentence`, `lacking` (what the passage doesn't hold), `quote`, `page`."""
    verbatim: tuple[bool, ...]
    """Of each quote, whether its page holds it."""
    in_language: bool | None
    """Quotes of pages in another language aside. None for an answer of names and numbers alone, which
    is in neither."""
    quotes_another: bool
    """Whether it quotes a page in another language, between quotation marks."""


def inspect(
    answer: Mapping[str, Any], language: str, pages: Mapping[str, Sequence[Chunk]]
) -> Inspection:
    """Checks an answer object against the chunks of the pages that it cites, by page address."""
    offences, verbatim = [], []
    found = statements(answer)
    for statement in found:
        chunks = pages.get(statement.page or "", ())
        holding = [c for c in chunks if _squeezed(statement.quote) in _squeezed(c.text)]
        if statement.page is not None:
            verbatim.append(bool(holding))
        lacking = min(
            (lacks(statement.text, language, chunk.told, chunk.language) for chunk in holding),
            key=len,
            default=["a passage that holds its quote" if statement.page else "a footnote"],
        )
        if lacking:
            offences.append({
                "sentence": statement.text, "lacking": lacking,
                "quote": statement.quote, "page": statement.page,
            })  # fmt: skip
    text = _MARKER.sub("", str(answer["answer"]))
    own = text
    for citation in answer["citations"]:
        if citation.get("language", language) != language:
            for quote in citation["quotes"]:
                own = own.replace(f"“{quote}”", "")
    in_language = _is_in(language, own)
    return Inspection(len(found), tuple(offences), tuple(verbatim), in_language, own != text)


def statements(answer: Mapping[str, Any]) -> list[Statement]:
    """The sentences of an answer's text, each up to its marker.

    The k-th marker of a number has the k-th of its citation's quotes.
    """
    cited = {citation["n"]: citation for citation in answer["citations"]}
    used: dict[int, int] = {}
    found, position = [], 0
    text = str(answer["answer"])
    for marker in _MARKER.finditer(text):
        n = int(marker[1])
        sentence, position = text[position : marker.start()].strip(), marker.end()
        if n not in cited:
            found.append(Statement(sentence, None, ""))
            continue
        quotes = cited[n]["quotes"] or (cited[n]["quote"],)
        quote = quotes[min(used.get(n, 0), len(quotes) - 1)]
        used[n] = used.get(n, 0) + 1
        found.append(Statement(sentence, cited[n]["url"].partition("#")[0], quote))
    if re.search(r"\w", text[position:]):
        found.append(Statement(text[position:].strip(), None, ""))
    return found


def lacks(sentence: str, language: str, passage: str, passage_language: str) -> list[str]:
    """The numbers, dates and names of a sentence that a passage doesn't hold, as written."""
    sentence, passage = _joined(sentence), _joined(passage)
    values = {r for n in numerals(passage, passage_language) for r in n.readings}
    held = {form for word in _WORD.findall(passage) for form in _forms(word)}
    lacking = []
    for number in numerals(sentence, language):
        written = sentence[number.start : number.end]
        article = number.in_words and number.readings == {1.0}
        if not article and not number.readings & values and fold(written) not in held:
            lacking.append(written)
    for name in names(sentence):
        if not _is_held(name, held, values, across=language != passage_language):
            lacking.append(name)
    return lacking


def names(sentence: str) -> list[str]:
    """Capitalised words, and words that mix letters and digits.

    At a sentence's start only a rare word counts, or one that another name follows.
    """
    found = []
    words = list(_WORD.finditer(sentence))
    for i, match in enumerate(words):
        word = match[0]
        mixed = any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
        capital = word[0].isupper() and fold(_POSSESSIVE.sub("", word)) not in _FUNCTION_WORDS
        if capital and not mixed and _STARTS.search(sentence[: match.start()]):
            follows = i + 1 < len(words) and words[i + 1][0][0].isupper()
            joined = follows and sentence[match.end() : words[i + 1].start()] == " "
            usual = max(zipf_frequency(word.lower(), language) for language in ("en", "es"))
            capital = joined or usual < _RARE
        if (mixed and not re.fullmatch(r"\d+(?:st|nd|rd|th|s|º|ª)?", word)) or capital:
            found.append(word)
    return found


def language_of(text: str) -> str:
    """Which of the two languages a text is in, by langid's model (Lui & Baldwin 2012)."""
    return str(_identifier().classify(text)[0])


def _is_in(language: str, text: str) -> bool | None:
    plain = [word for word in _WORD.findall(text) if word.islower() and word.isalpha()]
    return language_of(text) == language if len(plain) >= _DECIDE else None


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(["en", "es"])
    return identifier


def _is_held(name: str, held: set[str], values: set[float], *, across: bool) -> bool:
    if _forms(name) & held:
        return True
    numbers = numerals(name, "en")
    if len(numbers) == 1 and numbers[0].end == len(name) and numbers[0].start == 0:
        return bool(numbers[0].readings & values)  # XIV as 14, and capitalised number words
    folded = fold(name)
    translated = (words for form in _forms(name) for words in _translations().get(form, ()))
    if any(words <= held for words in translated):
        return True
    return across and any(
        word[:1] == folded[:1] and SequenceMatcher(None, folded, word).ratio() >= _ALIKE
        for word in held
    )


def _forms(word: str) -> set[str]:
    """A word as it is, without a possessive, and in the singular."""
    bare = fold(_POSSESSIVE.sub("", word))
    singular = {bare.removesuffix("es"), bare.removesuffix("s")} if len(bare) > 4 else set()
    return {fold(word), bare, *singular}


@cache
def _translations() -> dict[str, list[frozenset[str]]]:
    """Months, days, languages and territories of the one language as words of the other (CLDR)."""
    found: dict[str, list[frozenset[str]]] = {}
    tables = []
    for spoken in ("en", "es"):
        locale = Locale(spoken)
        tables.append({
            **{("month", k): v for k, v in locale.months["format"]["wide"].items()},
            **{("day", k): v for k, v in locale.days["format"]["wide"].items()},
            **{("language", k): v for k, v in locale.languages.items()},
            **{("territory", k): v for k, v in locale.territories.items()},
        })  # fmt: skip
    for key in tables[0].keys() & tables[1].keys():
        for one, other in (tables, tables[::-1]):
            words = frozenset(map(fold, _WORD.findall(other[key])))
            for word in _WORD.findall(one[key]):
                found.setdefault(fold(word), []).append(words)
    return found


def _joined(text: str) -> str:
    """U.S. as US, hyphenated words apart, one kind of composition of letters."""
    text = unicodedata.normalize("NFC", text)
    return _ABBREVIATION.sub(lambda m: m[0].replace(".", ""), text)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
