"""The page's sections, and which of them a question is about.

Four signals, each scaled over the page's sections: the cosine of question and passage, of question
and nearest sentence, BM25, and the cosine of question and section path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.search.lexical import Bridge
from rag.search.search import Searcher
from rag.search.vectors import Vectors

_LEXICAL = 3.0
_TITLE = 0.5


@dataclass(frozen=True)
class Ranked:
    """A passage of the page with its standing."""

    position: int
    """Of its chunk in the collection."""
    section: str
    """Its path; empty for the lead."""
    cosine: float
    fused: float


class Sections:
    """The passages of one page under their section paths."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        chunks = searcher.stored.chunks
        self._own = [i for i, chunk in enumerate(chunks) if chunk.kind != "overview"]
        self._paths = [chunks[i].section or "" for i in self._own]
        self.paths = list(dict.fromkeys(self._paths))
        titles = searcher.encoder.encode_passages(
            [path.replace(" > ", ": ") or chunks[self._own[0]].title for path in self.paths]
        )
        row = {path: i for i, path in enumerate(self.paths)}
        self._titles = titles[[row[path] for path in self._paths]]
        self._vectors = searcher.stored.index.vectors(self._own)

    @property
    def positions(self) -> Sequence[int]:
        """Of the page's own chunks in the collection."""
        return self._own

    def rank(self, question: str, vector: Vectors, bridges: Sequence[Bridge]) -> list[Ranked]:
        """The page's passages, best first."""
        cosines = self._vectors @ vector
        sentences = np.array([self._nearest(i, vector) for i in self._own])
        lexical = self._searcher.lexical.scores(question, bridges)[self._own]
        fused = (
            _scaled(cosines)
            + _scaled(sentences)
            + _LEXICAL * lexical / (lexical.max() or 1.0)
            + _TITLE * _scaled(self._titles @ vector)
        )
        return [
            Ranked(self._own[i], self._paths[i], float(cosines[i]), float(fused[i]))
            for i in np.argsort(-fused)
        ]

    def _nearest(self, position: int, vector: Vectors) -> float:
        vectors = self._searcher.sentence_vectors(position)
        return float((vectors @ vector).max()) if len(vectors) else -1.0


def _scaled(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Mean 0, deviation 1."""
    return (values - values.mean()) / (values.std() or 1.0)
