"""What kind of thing a question asks for: a person, a price, a year, a version, a number.

A true sentence about the subject is no answer to "Who wrote it?" when it names nobody. Only questions
whose form leaves no doubt have a kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag.search import analyse

# Folded questions, English and Spanish.
_ASKS = {
    "price": r"\b(?:price[sd]?|costs? (?!of\b|in time)|salary|how expensive|precios?|sueldo|"
    r"cuanto (?:cuesta|cuestan|costo|vale|valen|se paga))\b|\bcosts?\W*$",
    "person": r"^(?:and |y |¿)*(?:who|by whom|quien(?:es)?|de quien)\b(?! (?:is|are|es|son) (?:it|this)\b)|"
    r"\b(?:who|quien(?:es)?) (?:first )?(?:invented|wrote|founded|created|made|designed|discovered|"
    r"coined|invento|escribio|fundo|creo|diseno|descubrio|acuno)\b",
    "year": r"\b(?:what|which) year\b|\bque ano\b|\bwhen (?:was|were|did) .*\b(?:born|die[d]?|released?|"
    r"founded|invented|published|created|launched|introduced)\b|\bcuando (?:nacio|murio|se (?:fundo|"
    r"invento|publico|creo|lanzo)|salio)\b|\bfecha de\b|\brelease date\b",
    "version": r"\b(?:latest|newest|current|last) (?:version|release)\b|\bwhich version\b|"
    r"\b(?:ultima|actual) version\b|\bque version\b",
    "number": r"\bhow (?:many|old|tall|heavy)\b|\bwhat percentage\b|\bcuant[oa]s\b|"
    r"\bque (?:edad|porcentaje)\b",
}  # fmt: skip
_MET = {
    "price": re.compile(
        r"[$€£¥]|\b(?:euros?|dollars?|dolares|cents?|centimos|usd|eur|pounds|libras|free|gratis)\b"
    ),
    "year": re.compile(r"\b1\d{3}\b|\b20\d\d\b|\b\d+ (?:years|anos)\b"),
    "version": re.compile(r"\d"),
    "number": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|"
        r"millions?|half|third|quarter|twice|both|none|no|single|all|every|un[oa]?|dos|tres|cuatro|cinco|"
        r"seis|siete|ocho|nueve|diez|once|doce|docenas?|cien(?:tos)?|mil(?:es)?|millon(?:es)?|mitad|"
        r"tercio|doble|amb[oa]s|ningun[oa]?|tod[oa]s)\b"
    ),
}  # fmt: skip
_KINDS = {kind: re.compile(pattern) for kind, pattern in _ASKS.items()}


@dataclass(frozen=True)
class Wanted:
    """The kinds of thing that an answer must hold; usually none."""

    kinds: frozenset[str]
    asked: frozenset[str]
    """The question's own words, folded: a name among them answers nothing."""

    def met_by(self, text: str) -> bool:
        """Whether a text holds one thing of each kind."""
        return all(
            self._names_somebody(text) if kind == "person" else _MET[kind].search(self._new(text))
            for kind in self.kinds
        )

    def _new(self, text: str) -> str:
        """The text, folded, without the question's own words with digits: `E5` counts no layers."""
        rest, at = [], 0
        for word in analyse.words(text):
            if word.has_digit and not word.text[0].isdigit() and word.folded in self.asked:
                rest.append(text[at : word.start])
                at = word.start + len(word.text)
        return analyse.fold(" ".join([*rest, text[at:]]))

    def _names_somebody(self, text: str) -> bool:
        """A capitalised word inside a sentence, or two in a row, that the question doesn't have."""
        words = analyse.words(text)
        for word, after in zip(words, [*words[1:], None], strict=True):
            if not _may_be_a_name(word) or word.folded in self.asked:
                continue
            opens = (
                not text[: word.start].rstrip(" \"'«“(")
                or text[: word.start].rstrip()[-1] in ".:!?"
            )
            if not opens or (after is not None and _may_be_a_name(after)):
                return True
        return False


@lru_cache(maxsize=256)
def wanted(question: str) -> Wanted:
    """What a question asks for."""
    folded = analyse.fold(question).strip()
    kinds = frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(folded))
    return Wanted(kinds, frozenset(word.folded for word in analyse.words(question)))


def _may_be_a_name(word: analyse.Word) -> bool:
    return word.text[0].isupper() and not word.has_digit and not word.is_code
