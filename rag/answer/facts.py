"""The words of a sentence that may not be invented: numbers, names and code words.

Numbers are compared by value across spellings and both languages: 4, four and cuatro; 1,000 and
1.000; 0.5 and 0,5; 3,14 and 3.14.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz
from text_to_num import alpha2digit

from rag.search import analyse
from rag.types import Language

_NUMBER = re.compile(r"(?<![^\W_])\d+(?:[.,\u00a0\u202f]\d+)*")  # not the 25 of BM25
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n]\s+|^\W+)$")
# What text2num leaves as words.
_SPELLED = {
    "veintiun": 21, "veintiuno": 21, "veintiuna": 21, "once": 11, "twice": 2,
    "dozen": 12, "docena": 12,
}  # fmt: skip
_MONTHS = [
    ("january", "enero"), ("february", "febrero"), ("march", "marzo"), ("april", "abril"),
    ("may", "mayo"), ("june", "junio"), ("july", "julio"), ("august", "agosto"),
    ("september", "septiembre"), ("october", "octubre"), ("november", "noviembre"),
    ("december", "diciembre"),
]  # fmt: skip
_MONTH = {name: i for i, names in enumerate(_MONTHS) for name in names}
_ALIKE = 80
"""Least likeness, 0 to 100, of one name in two languages: Alexander and Alejandro, Berlin and Berlín."""


@dataclass(frozen=True)
class Facts:
    """What a text states that another text must hold too."""

    numbers: tuple[frozenset[float], ...]
    """Each number as the set of its readings: "1.000" may be 1000 or 1."""
    names: tuple[str, ...]
    """Folded."""
    code: tuple[str, ...]
    """Folded."""


@lru_cache(maxsize=4096)
def facts(text: str, language: Language) -> Facts:
    """The numbers, names and code words of a text."""
    names: list[str] = []
    code: list[str] = []
    for word in analyse.words(text):
        if word.is_code or (word.has_digit and not word.text[0].isdigit()):
            code.append(word.folded)
        elif not word.has_digit and _is_name(word, text):
            names.append(word.folded)
    return Facts(tuple(_numbers(text, language)), tuple(names), tuple(code))


@dataclass(frozen=True)
class Evidence:
    """What a passage holds, ready to be compared with many sentences."""

    numbers: frozenset[float]
    words: frozenset[str]
    stems: frozenset[str]
    language: str

    @classmethod
    def of(cls, text: str, language: str) -> Evidence:
        """From a passage's text, with its title and headings."""
        words, stems = analyse.vocabulary(text, language)
        spoken: Language = "es" if language == "es" else "en"
        numbers = frozenset(n for readings in _numbers(text, spoken) for n in readings)
        return cls(numbers, words, stems, language)

    def lacks(self, stated: Facts, language: Language) -> str | None:
        """The first number, code word or name that the passage does not hold; None when it has all."""
        for readings in stated.numbers:
            if not readings & self.numbers:
                return f"number {min(readings):g}"
        for word in stated.code:
            if word not in self.words:
                return f"code word {word}"
        for name in stated.names:
            if not self._holds_name(name, language):
                return f"name {name}"
        return None

    def _holds_name(self, name: str, language: Language) -> bool:
        if name in self.words or analyse.stem(name, self.language) in self.stems:
            return True
        if name in _MONTH:
            return any(other in self.words for other in _MONTHS[_MONTH[name]])
        if language == self.language:
            return False
        return any(fuzz.ratio(name, word) >= _ALIKE for word in self.words if word[:1] == name[:1])


def _is_name(word: analyse.Word, text: str) -> bool:
    """Capitalised inside a sentence; at its start when rare, or when another name follows."""
    if not word.text[0].isupper() or analyse.is_empty(word.folded):
        return False
    if not _SENTENCE_START.search(text[: word.start]):
        return True
    followed_by_name = re.match(r" [^\W\d_]", text[word.start + len(word.text) :])
    return analyse.rarity(word.folded) >= 0.9 or bool(
        followed_by_name and followed_by_name.group()[1].isupper()
    )


def _numbers(text: str, language: Language) -> list[frozenset[float]]:
    digits = alpha2digit(text, language)
    found = [_readings(match.group()) for match in _NUMBER.finditer(digits)]
    for word in analyse.words(text):
        value = _SPELLED.get(word.folded)
        if value is not None and not (word.folded == "once" and language == "en"):
            found.append(frozenset({float(value)}))
    return found


def _readings(digits: str) -> frozenset[float]:
    """The values that a written number may have in either language's notation."""
    plain = re.sub(r"[\u00a0\u202f]", "", digits)
    pieces = re.split(r"[.,]", plain)
    readings = set()
    if len(pieces) == 1:
        readings.add(float(plain))
    else:
        if all(len(piece) == 3 for piece in pieces[1:]):
            readings.add(float("".join(pieces)))
        if len(pieces) == 2:
            readings.add(float(".".join(pieces)))
        elif all(len(piece) == 3 for piece in pieces[1:-1]):
            readings.add(float("".join(pieces[:-1]) + "." + pieces[-1]))
    return frozenset(readings or {float(pieces[0])})
