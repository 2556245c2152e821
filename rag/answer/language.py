"""Which of the two languages a message is written in, short and unaccented ones included."""

from __future__ import annotations

from rag.search import analyse
from rag.types import Language

_DECIDED = 1.0
"""Evidence that decides, in powers of ten of the ratio of both languages' word frequencies."""
_PER_WORD = 2.5
"""No single word may decide against all others."""


def detect(text: str, undecided: Language) -> Language:
    """The language of `text`; `undecided` for one that could be either ("ok", "Kubernetes?")."""
    evidence = _evidence(text)
    if evidence >= _DECIDED:
        return "es"
    if evidence <= -_DECIDED:
        return "en"
    return undecided


def _evidence(text: str) -> float:
    """Above 0 for Spanish, below for English: the sum over words of log10 frequency ratios.

    Names and code words are no evidence: "Tell me about El Niño" is English.
    """
    evidence = 3.0 if "¿" in text or "¡" in text else 0.0
    for i, word in enumerate(analyse.words(text)):
        if word.is_code or word.has_digit or (i > 0 and word.text[0].isupper()):
            continue
        difference = analyse.zipf(word.folded, "es") - analyse.zipf(word.folded, "en")
        if difference:
            evidence += max(-_PER_WORD, min(_PER_WORD, difference))
        elif word.folded != word.text.casefold():
            evidence += 1.0  # an unknown word with an accent
        elif word.folded.endswith(("cion", "ciones", "ame", "idad", "ando", "iendo")):
            evidence += 1.0
    return evidence
