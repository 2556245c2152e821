"""Chunks into a collection: embed each chunk whole and each sentence alone, calibrate, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rag.search.vectors import Vectors
from rag.types import Chunk, Encoder

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and how many there are."""

_BATCH = 64


def embed_chunks(chunks: Sequence[Chunk], encoder: Encoder, progress: Progress) -> Vectors:
    """Shape (chunks, dimension), rows of length 1. Title and headings are embedded with the text."""
    return _embed([_embedded_text(chunk) for chunk in chunks], encoder, "chunks", progress)


def embed_sentences(chunks: Sequence[Chunk], encoder: Encoder, progress: Progress) -> Vectors:
    """Shape (sentences of all chunks in order, dimension), each sentence once however it overlaps."""
    texts = [chunk.text[start:end] for chunk in chunks for start, end in chunk.sentences]
    unique = list(dict.fromkeys(texts))
    vectors = _embed(unique, encoder, "sentences", progress)
    row = {text: i for i, text in enumerate(unique)}
    return vectors[[row[text] for text in texts]]


def with_sentences(chunk: Chunk, split: Callable[[str, str], list[str]]) -> Chunk:
    """The chunk with the places of its sentences, each found in the text in order."""
    spans: list[tuple[int, int]] = []
    end = 0
    for sentence in split(chunk.text, chunk.language):
        start = chunk.text.index(sentence, end)
        end = start + len(sentence)
        spans.append((start, end))
    return replace(chunk, sentences=tuple(spans))


def _embedded_text(chunk: Chunk) -> str:
    return "\n".join(filter(None, (chunk.title, chunk.section, chunk.text)))


def _embed(texts: list[str], encoder: Encoder, what: str, progress: Progress) -> Vectors:
    """In batches of similar length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        vectors[batch] = encoder.encode_passages([texts[i] for i in batch])
        progress(what, min(start + _BATCH, len(order)), len(order))
    return vectors
