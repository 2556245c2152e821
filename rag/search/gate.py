"""Can the collection answer this at all? Several signals, one score, one threshold.

Similarity alone lets a question next door through: the words that carry the question, above all
names, code words and rare words, must be found in what was retrieved as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from rag.search import analyse
from rag.search.search import Found
from rag.types import Hit

READ = 3
"""The gate looks at so many hits: about what the model reads."""
_COGNATE = 70
"""Least likeness, 0 to 100, of a word and its form in the other language or spelling."""


@dataclass(frozen=True)
class Signals:
    """What the decision is made from; each grows with the chance of an answer."""

    cosine: float
    """Of the question and the best chunk."""
    margin: float
    """Standard deviations of that above the other candidates."""
    together: float
    """Share of the question's words, weighted by rarity, that the fullest hit holds; 0 to 1."""
    weakest_name: float
    """How well the worst found of its names, numbers and code words is found; 1 without any."""
    names: float
    """The mean of the same; 0.7 without any."""
    lexical: float
    """BM25 of the first hit by the question's words."""
    sentence: float
    """Cosine of the question and the nearest sentence of the hits."""

    def as_array(self) -> np.ndarray:
        """Shape (7,)."""
        return np.array([
            self.cosine, self.margin, self.together, self.weakest_name, self.names, self.lexical,
            self.sentence,
        ])  # fmt: skip


@dataclass(frozen=True)
class Weights:
    """A linear score over signals, each centred and scaled first."""

    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    threshold: float

    def score(self, signals: Signals) -> float:
        """0 where the gate decides; above, it lets the question through."""
        scaled = (signals.as_array() - self.centre) / self.scale
        return float(scaled @ np.array(self.weight)) - self.threshold


# A name that isn't found weighs most against a question next door; the mean of the names only takes
# back what questions with several of them would gain.
_WEIGHT = (2.0, 0.5, 1.2, 2.0, -0.8, 2.0, 1.0)
# Centres and scales with multilingual-e5-small; `calibrate` replaces them for a collection.
SAME_LANGUAGE = Weights(
    (0.837, 5.9, 0.51, 0.67, 0.63, 0.92, 0.85),
    (0.042, 2.8, 0.34, 0.47, 0.38, 0.95, 0.04),
    _WEIGHT,
    -0.3,
)
OTHER_LANGUAGE = Weights(
    (0.794, 5.5, 0.28, 0.57, 0.54, 0.33, 0.82),
    (0.036, 2.4, 0.25, 0.49, 0.38, 0.50, 0.04),
    _WEIGHT,
    -0.8,
)


@dataclass(frozen=True)
class Verdict:
    """Whether the question may be answered, by how much, and which of its words are nowhere."""

    passes: bool
    score: float
    missing: tuple[str, ...]
    """Words of the question, as typed, that none of the first hits holds."""


class Gate:
    """Decides for one collection."""

    def __init__(self, same: Weights = SAME_LANGUAGE, other: Weights = OTHER_LANGUAGE) -> None:
        self._same = same
        self._other = other

    def decide(self, question: str, found: Found, language: str) -> Verdict:
        """For a question in `language` and what was found for it."""
        if not found.hits:
            return Verdict(False, float("-inf"), ())
        weights = self._same if found.hits[0].chunk.language == language else self._other
        signals, missing = read_signals(question, found)
        score = weights.score(signals)
        return Verdict(score >= 0, score, missing)


def read_signals(question: str, found: Found) -> tuple[Signals, tuple[str, ...]]:
    """The signals of a search that found something, and the words that it didn't find."""
    hits = found.hits[:READ]
    asked = analyse.content_words(question)
    bridged = {bridge.asked: bridge.found for bridge in found.bridges}
    mean, deviation = found.background
    cosine = max(hit.score for hit in hits)
    held = [[_held(word, bridged.get(word.text), hit) for word in asked] for hit in hits]
    anywhere = [max(column) for column in zip(*held, strict=True)]
    weights = [0.15 + analyse.rarity(word.folded) for word in asked]
    special = [found for word, found in zip(asked, anywhere, strict=True) if _is_special(word)]
    signals = Signals(
        cosine=cosine,
        margin=(cosine - mean) / deviation,
        together=max(_share(row, weights) for row in held),
        weakest_name=min(special, default=1.0),
        names=sum(special) / len(special) if special else 0.7,
        lexical=hits[0].lexical / (len(asked) + 1),
        sentence=found.sentence,
    )
    missing = tuple(w.text for w, found in zip(asked, anywhere, strict=True) if found == 0)
    return signals, missing


def _share(held: Sequence[float], weights: Sequence[float]) -> float:
    total = sum(weights)
    return sum(h * w for h, w in zip(held, weights, strict=True)) / total if total else 1.0


def _is_special(word: analyse.Word) -> bool:
    """A name inside the question, a number or a code word."""
    return word.is_code or word.has_digit or (word.text[0].isupper() and word.start > 2)


def _held(word: analyse.Word, bridged: str | None, hit: Hit) -> float:
    """1 when the hit holds the word or a form of it, less for one that only looks alike, else 0."""
    words, stems = analyse.vocabulary(hit.chunk.told, hit.chunk.language)
    sought = bridged or word.folded
    if {word.folded, sought} & words or any(analyse.stem(sought, x) in stems for x in ("en", "es")):
        return 1.0
    if len(sought) < 5 or word.has_digit or word.is_code:
        return 0.0
    alike = [w for w in words if w[:2] == sought[:2]]
    match = process.extractOne(sought, alike, scorer=fuzz.ratio, score_cutoff=_COGNATE)
    return (match[1] - 50) / 50 if match else 0.0
