"""Chunks into vectors: each chunk whole, and each of its sentences alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from rag.search.vectors import Vectors
from rag.types import Chunk, Encoder, Progress

_BATCH = 64


class VectorCache(Protocol):
    """Remembers vectors by the text that they are of."""

    def vectors(self, texts: Iterable[str]) -> dict[str, Vectors]: ...

    def save_vectors(self, texts: Sequence[str], vectors: Vectors) -> None: ...


class NoCache:
    """Remembers nothing."""

    def vectors(self, texts: Iterable[str]) -> dict[str, Vectors]:
        """None is known."""
        return {}

    def save_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Forgets them."""


def embed_chunks(
    chunks: Sequence[Chunk], encoder: Encoder, progress: Progress, cache: VectorCache
) -> Vectors:
    """Shape (chunks, dimension), rows of length 1. Title and headings are embedded with the text."""
    texts = [chunk.told for chunk in chunks]
    return _embed(texts, encoder, "chunks", progress, cache)


def embed_sentences(
    chunks: Sequence[Chunk], encoder: Encoder, progress: Progress, cache: VectorCache
) -> Vectors:
    """Shape (sentences of all chunks in order, dimension), each sentence once however it overlaps."""
    texts = [chunk.text[start:end] for chunk in chunks for start, end in chunk.sentences]
    unique = list(dict.fromkeys(texts))
    vectors = _embed(unique, encoder, "sentences", progress, cache)
    row = {text: i for i, text in enumerate(unique)}
    return vectors[[row[text] for text in texts]]


def _embed(
    texts: list[str], encoder: Encoder, what: str, progress: Progress, cache: VectorCache
) -> Vectors:
    """In batches of similar length, so that little is padded."""
    vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
    known = cache.vectors(texts)
    new = [i for i, text in enumerate(texts) if text not in known]
    for i in set(range(len(texts))).difference(new):
        vectors[i] = known[texts[i]]
    new.sort(key=lambda i: len(texts[i]))
    for start in range(0, len(new), _BATCH):
        batch = new[start : start + _BATCH]
        new_texts = [texts[i] for i in batch]
        vectors[batch] = encoder.encode_passages(new_texts)
        cache.save_vectors(new_texts, vectors[batch])
        progress(what, min(start + _BATCH, len(new)), len(new))
    return vectors
