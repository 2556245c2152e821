"""An encoder that needs no model: a text's vector is its words, hashed. Alike words, alike vectors."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.ingest.sentences import sentence_spans
from rag.search import analyse
from rag.search.build import NoCache, embed_chunks, embed_sentences
from rag.search.store import Manifest, Stored
from rag.search.vectors import FaissIndex
from rag.types import Chunk, Encoder


class WordEncoder:
    """Implements `rag.types.Encoder` with the hashed stems of a text."""

    name = "words"
    dimension = 256
    fingerprint = "words-1"

    def encode_query(self, text: str) -> np.ndarray:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for stem in analyse.terms(text, "en"):
            vector[zlib.crc32(stem.encode()) % self.dimension] += 1
        return vector / np.linalg.norm(vector)

    def encode_passages(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.encode_query(text) for text in texts])

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def chunk(text: str, page: str = "a", language: str = "en", **changes: object) -> Chunk:
    """A chunk with its sentences."""
    spans = sentence_spans(text, language)
    values = {"id": f"{page}-{len(text)}", "title": page.title(), "url": f"https://x.example/{page}",
              "section": None, "language": language, "sentences": tuple(spans)}  # fmt: skip
    return Chunk(**{**values, "text": text, **changes})  # type: ignore[arg-type]


@dataclass(frozen=True)
class InMemory(Stored):
    """A collection that was never written."""

    index: FaissIndex
    sentence_vectors: NDArray[np.float16]


def stored(chunks: list[Chunk], *, encoder: Encoder | None = None, **changes: object) -> InMemory:
    """A collection in memory, of the words of its chunks unless another encoder is given."""
    encoder = encoder or WordEncoder()
    quiet = lambda what, done, total: None  # noqa: E731
    vectors = embed_chunks(chunks, encoder, quiet, NoCache())
    sentences = embed_sentences(chunks, encoder, quiet, NoCache()).astype(np.float16)
    values = {"name": "t", "title": "Test Blog", "mode": "blog", "language": "en",
              "languages": ("en", "es"), "source": "here", "built": "2026-01-01T00:00:00+00:00",
              "embedder": "words", "embedder_fingerprint": encoder.fingerprint,
              "dimension": encoder.dimension, "chunk_tokens": 400, "chunk_overlap": 60,
              "pages": len({c.page for c in chunks}), "chunks": len(chunks),
              "sentences": len(sentences)}  # fmt: skip
    manifest = Manifest(**{**values, **changes})  # type: ignore[arg-type]
    return InMemory(manifest, tuple(chunks), FaissIndex.of(vectors), sentences)
