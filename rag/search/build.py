"""Chunks into vectors: each chunk whole, and each of its sentences alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rag.search import store
from rag.search.vectors import Vectors
from rag.types import Chunk, Encoder, FootnoteError, Progress

_BATCH = 64
Known = Mapping[str, Vectors]
"""Vectors by the text that they were made from."""


def embed_chunks(
    chunks: Sequence[Chunk], encoder: Encoder, progress: Progress, known: Known
) -> Vectors:
    """Shape (chunks, dimension), rows of length 1. Title and headings are embedded with the text."""
    texts = [_embedded_text(chunk) for chunk in chunks]
    return _embed(texts, encoder, "chunks", progress, known)


def embed_sentences(
    chunks: Sequence[Chunk], encoder: Encoder, progress: Progress, known: Known
) -> Vectors:
    """Shape (sentences of all chunks in order, dimension), each sentence once however it overlaps."""
    texts = [chunk.text[start:end] for chunk in chunks for start, end in chunk.sentences]
    unique = list(dict.fromkeys(texts))
    vectors = _embed(unique, encoder, "sentences", progress, known)
    row = {text: i for i, text in enumerate(unique)}
    return vectors[[row[text] for text in texts]]


def known_vectors(folder: Path, encoder: Encoder) -> Known:
    """What an earlier build of the collection embedded with the same encoder; empty without one."""
    try:
        stored = store.load(folder, encoder.fingerprint, encoder.dimension)
    except FootnoteError:
        return {}  # there is none yet, or it can't be reused: everything is embedded anew
    known: dict[str, Vectors] = {}
    places = [(chunk, start, end) for chunk in stored.chunks for start, end in chunk.sentences]
    for (chunk, start, end), vector in zip(places, stored.sentence_vectors, strict=True):
        known[chunk.text[start:end]] = vector.astype(np.float32)
    if stored.chunks:
        vectors = stored.index.vectors(list(range(len(stored.chunks))))
        known |= zip(map(_embedded_text, stored.chunks), vectors, strict=True)
    return known


def _embedded_text(chunk: Chunk) -> str:
    return "\n".join(filter(None, (chunk.title, chunk.section, chunk.text)))


def _embed(
    texts: list[str], encoder: Encoder, what: str, progress: Progress, known: Known
) -> Vectors:
    """In batches of similar length, so that little is padded."""
    vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
    new = [i for i, text in enumerate(texts) if text not in known]
    for i in set(range(len(texts))).difference(new):
        vectors[i] = known[texts[i]]
    new.sort(key=lambda i: len(texts[i]))
    for start in range(0, len(new), _BATCH):
        batch = new[start : start + _BATCH]
        vectors[batch] = encoder.encode_passages([texts[i] for i in batch])
        progress(what, min(start + _BATCH, len(new)), len(new))
    return vectors
