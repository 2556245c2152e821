"""BM25 over stems, their 2- and 3-grams, with misspelt words bridged to the nearest known one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from rag.search import analyse
from rag.types import Chunk

K1, B = 1.2, 0.75  # Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009)
BRIDGED_WEIGHT = 0.6
_LANGUAGES = ("en", "es")
logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG


@dataclass(frozen=True)
class Bridge:
    """A word of the question that the collection lacks, and the nearest one that it has."""

    asked: str
    found: str


class LexicalIndex:
    """Finds chunks by their words. Built in memory from the chunks, in their order."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        documents = [analyse.terms(_indexed_text(chunk), chunk.language) for chunk in chunks]
        self.stems = frozenset(stem for document in documents for stem in document)
        self.words = sorted(
            {w.folded for chunk in chunks for w in analyse.content_words(_indexed_text(chunk))}
        )
        self._known = frozenset(self.words)
        self._bm25 = bm25s.BM25(k1=K1, b=B)
        corpus = [analyse.grams(document) or [""] for document in documents]
        self._bm25.index(corpus, show_progress=False)
        self._vocabulary: dict[str, int] = self._bm25.vocab_dict

    def knows(self, word: analyse.Word) -> bool:
        """Whether any chunk holds the word, or another form of it."""
        if word.folded in self._known:
            return True
        return any(analyse.stem(word.folded, language) in self.stems for language in _LANGUAGES)

    def bridge(self, word: analyse.Word) -> Bridge | None:
        """The nearest known word within one edit (from 8 letters two), for a word it lacks.

        One of the two must be no word of either language: "braed" is a slip for bread, and a page
        may have "millenium"; but "React" is not meant by a page that has "reach".
        """
        letters = len(word.folded)
        if letters < 4 or word.has_digit or word.is_code or self.knows(word):
            return None
        edits = 2 if letters >= 8 else 1
        match = process.extractOne(
            word.folded, self.words, scorer=DamerauLevenshtein.distance, score_cutoff=edits
        )
        # A first letter is rarely mistyped, save between languages: cuantización, quantization.
        if match is None or (match[0][0] != word.folded[0] and edits < 2):
            return None
        if max(analyse.rarity(word.folded), analyse.rarity(match[0])) < 1:
            return None
        return Bridge(word.text, match[0])

    def bridges(self, question: str) -> tuple[Bridge, ...]:
        """The words of a question that have to be bridged."""
        return tuple(b for w in analyse.content_words(question) if (b := self.bridge(w)))

    def scores(self, question: str, bridges: Sequence[Bridge]) -> NDArray[np.float32]:
        """BM25 of every chunk, shape (chunks,)."""
        asked = {
            gram
            for language in _LANGUAGES
            for gram in analyse.grams(analyse.terms(question, language))
        }
        scores = self._score(asked)
        bridged = {analyse.stem(b.found, language) for b in bridges for language in _LANGUAGES}
        return scores + BRIDGED_WEIGHT * self._score(bridged - asked)

    def _score(self, grams: set[str]) -> NDArray[np.float32]:
        known = [gram for gram in grams if gram in self._vocabulary]
        if not known:
            return np.zeros(self._bm25.scores["num_docs"], dtype=np.float32)
        return self._bm25.get_scores(sorted(known))


def _indexed_text(chunk: Chunk) -> str:
    """The title and headings are searched with the text."""
    return "\n".join(filter(None, (chunk.title, chunk.section, " ".join(chunk.tags), chunk.text)))
