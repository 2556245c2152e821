"""Which of the two languages a message is written in, short and unaccented ones included."""

from __future__ import annotations

from functools import lru_cache
from math import log10

from wordfreq import get_frequency_dict

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
        spanish = _frequencies("es").get(word.folded, 0.0)
        english = _frequencies("en").get(word.folded, 0.0)
        if spanish or english:
            difference = _zipf(spanish) - _zipf(english)
            evidence += max(-_PER_WORD, min(_PER_WORD, difference))
        elif word.folded != word.text.casefold():
            evidence += 1.0  # an unknown word with an accent
        elif word.folded.endswith(("cion", "ciones", "ame", "idad", "ando", "iendo")):
            evidence += 1.0
    return evidence


def _zipf(frequency: float) -> float:
    """Log10 of occurrences in a billion words; 1 for a word that the list lacks."""
    return max(1.0, log10(frequency) + 9) if frequency else 1.0


@lru_cache(maxsize=2)
def _frequencies(language: Language) -> dict[str, float]:
    """Relative frequencies by folded word: accents are often left out in a chat."""
    folded: dict[str, float] = {}
    for word, frequency in get_frequency_dict(language, wordlist="small").items():
        key = analyse.fold(word)
        folded[key] = folded.get(key, 0.0) + frequency
    return folded
