"""From 0 to 10, how well a passage of the page answers a question; 5 and more counts.

A logistic score over three signals: how near the nearest sentence is, whether all of the question's
words stand together around one sentence, and how rare the rarest word is that the passage lacks.
Its constants were fitted on the people battery, each person judged by the other two
(`docs/interview.md` has the figures and the command).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.search import analyse
from rag.search.vectors import Vectors
from rag.types import Chunk, Language

ENOUGH = 5
_COSINE, _WHOLE, _RAREST, _OFFSET = 134.9, 6.65, -1.98, -115.7
_OTHER_COSINE, _OTHER_OFFSET = 134.9, -110.7
_LEAST_STEM = 4
_COMMON = 0.05
"""Rarity below which a word is too common to carry a premise."""
_FAMILIAR = {
    "dad": "father", "daddy": "father", "mum": "mother", "mom": "mother", "mummy": "mother",
    "kids": "children", "kid": "child", "papa": "padre", "mama": "madre", "grandma": "grandmother",
    "grandpa": "grandfather", "granny": "grandmother", "esposa": "mujer",
}  # fmt: skip
# Words that a question wraps around its subject, beside those of `rag.search.analyse`: light verbs
# above all, which a page may say in twenty ways.
_EMPTY = frozenset(
    """ever many try tried he she his her hers go went gone come came get got getting take took taken
    bring brought put think thought look looked call called add added show shows live lived living
    become became feel felt keep kept remember nunca alguna vez fue hizo tuvo dio dijo puso gusta gustaba
    gusto llamaba llama opina opinaba piensa pensaba recuerda cuenta conto viajo paso dieron estuvo
    estaba quiso hablame cuentame again see saw seen""".split()
)


@dataclass(frozen=True)
class Word:
    """A word that a question is about."""

    text: str
    """As typed."""
    stem: str
    weight: float
    is_name: bool
    said: str
    """What the page calls it: "father" for "dad"."""


@dataclass(frozen=True)
class Signals:
    """What the score is made from."""

    cosine: float
    """Of the question and the nearest sentence."""
    whole: bool
    """Whether a sentence and its two neighbours hold all of the question's words."""
    rarest: float
    """Weight of the rarest word that the passage lacks; 0 when it lacks none."""


def words_of(question: str, language: str) -> list[Word]:
    """The words that carry a question."""
    found = []
    for word in analyse.content_words(question):
        if word.folded in _EMPTY:
            continue
        said = _FAMILIAR.get(word.folded, word.folded)
        is_name = (word.text[0].isupper() and word.start > 2) or word.has_digit
        weight = 0.15 + analyse.rarity(said)
        stem = analyse.stem(said, language)
        if len(stem) < _LEAST_STEM and said.endswith(("ando", "endo")):
            stem = said  # "demandó" without its accent looks like a gerund: "dem", like "demás"
        found.append(Word(word.text, stem, weight, is_name, said))
    return found


def says_nothing(folded: str, language: Language) -> bool:
    """Whether a word only wraps a question around its subject."""
    return folded in _EMPTY or folded in analyse.EMPTY_WORDS[language]


def is_light(folded: str, language: Language) -> bool:
    """Whether a word says so little that a page may say it in twenty ways."""
    return says_nothing(folded, language) or analyse.rarity(folded) < _COMMON


def plainly(question: str) -> str:
    """The question with the page's words for what only a chat would say: "father" for "dad"."""
    for word in analyse.content_words(question):
        if word.folded in _FAMILIAR:
            question = question.replace(word.text, _FAMILIAR[word.folded])
    return question


def signals(
    words: Sequence[Word], chunk: Chunk, vectors: NDArray[np.float32], vector: Vectors
) -> Signals:
    """`vectors` has shape (sentences of the chunk, dimension), `vector` is the question's."""
    if not len(vectors):
        return Signals(0.0, False, max((w.weight for w in words), default=0.0))
    heading = frozenset(analyse.terms(chunk.section or "", chunk.language))
    texts = [chunk.text[start:end] for start, end in chunk.sentences]
    held = [frozenset(analyse.terms(text, chunk.language)) for text in texts]
    asked = {w.stem for w in words}
    whole = any(asked <= heading.union(*held[max(0, i - 1) : i + 2]) for i in range(len(held)))
    anywhere = heading.union(*held)
    rarest = max((w.weight for w in words if w.stem not in anywhere), default=0.0)
    return Signals(float((vectors @ vector).max()), whole, rarest)


def score(found: Signals, *, other_language: bool = False) -> float:
    """0 to 10."""
    if other_language:
        value = _OTHER_COSINE * found.cosine + _OTHER_OFFSET
    else:
        value = _COSINE * found.cosine + _WHOLE * found.whole + _RAREST * found.rarest + _OFFSET
    return 10 / (1 + math.exp(-value))
