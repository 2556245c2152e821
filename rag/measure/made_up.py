"""Made-up collections of any size, to see how cost grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rag.search import store
from rag.search.vectors import FaissIndex
from rag.types import Chunk, Encoder

_WORDS = 60_000
_SENTENCES = 8
_WORDS_A_SENTENCE = 30
"""A chunk has about 400 tokens."""
_SYLLABLES = [c + v for c in "bcdfglmnprstv" for v in ("a", "e", "i", "o", "u", "an", "er", "is")]


class Corpus:
    """Texts of made-up words, as often as Zipf's law has it."""

    def __init__(self, seed: int) -> None:
        # The same words for every seed, other texts.
        syllables = np.random.default_rng(0).choice(_SYLLABLES, (_WORDS, 4))
        lengths = np.random.default_rng(0).integers(2, 5, _WORDS)
        self._words = [
            "".join(row[:n]) for row, n in zip(syllables.tolist(), lengths.tolist(), strict=True)
        ]
        weights = 1 / np.arange(2, _WORDS + 2)
        self._shares = np.cumsum(weights / weights.sum())
        self._random = np.random.default_rng(seed)

    def text(self, words: int) -> str:
        """So many words."""
        drawn = np.searchsorted(self._shares, self._random.random(words))
        return " ".join(self._words[min(i, _WORDS - 1)] for i in drawn.tolist())

    def chunk(self, number: int) -> Chunk:
        """One of a page of its own."""
        sentences = [self.text(_WORDS_A_SENTENCE).capitalize() + "." for _ in range(_SENTENCES)]
        starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)]).tolist()
        spans = tuple(
            (start, start + len(sentence))
            for start, sentence in zip(starts, sentences, strict=False)
        )
        return Chunk(
            id=str(number), text=" ".join(sentences), title=self.text(4).capitalize(),
            url=f"https://made-up.example/{number}", section=None, language="en", sentences=spans,
        )  # fmt: skip

    def vectors(self, count: int, dimension: int) -> np.ndarray:
        """Random directions, float32 of shape (count, dimension), rows of length 1."""
        found = self._random.standard_normal((count, dimension), dtype=np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found


def write_collection(folder: Path, size: int, encoder: Encoder) -> None:
    """Stores `size` chunks, with vectors at random instead of the encoder's."""
    corpus = Corpus(seed=0)
    chunks = [corpus.chunk(number) for number in range(size)]
    vectors = corpus.vectors(size, encoder.dimension)
    sentences = np.empty((size * _SENTENCES, encoder.dimension), np.float16)
    for start in range(0, len(sentences), size):
        sentences[start : start + size] = corpus.vectors(size, encoder.dimension)
    manifest = store.Manifest(
        name=folder.name, title="Made up", mode="blog", language="en", languages=("en",),
        source="made up", built="2026-01-01T00:00:00+00:00", embedder=encoder.name,
        embedder_fingerprint=encoder.fingerprint, dimension=encoder.dimension, chunk_tokens=400,
        chunk_overlap=0, pages=size, chunks=size, sentences=len(sentences),
    )  # fmt: skip
    store.save(folder, manifest, chunks, FaissIndex.of(vectors), sentences)
