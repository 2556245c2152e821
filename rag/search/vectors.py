"""Nearest chunks by inner product over unit vectors: a small protocol, and FAISS behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from rag.types import FootnoteError

Vectors = NDArray[np.float32]

_FLAT = b"IxFI"
"""How FAISS marks a flat inner-product index."""
_HEADER_BYTES = 45
"""Before its vectors: the mark, the dimension, counts, the metric, and the number of values."""


class VectorIndex(Protocol):
    """Holds one unit vector a chunk, in the order of the chunks."""

    dimension: int

    def __len__(self) -> int: ...

    def search(self, query: Vectors, k: int) -> list[tuple[int, float]]:
        """The `k` nearest (position, cosine), best first; fewer when it holds fewer.

        `query` has shape (dimension,) and length 1. Raises ValueError for another shape or for
        values that are no numbers.
        """

    def vectors(self, positions: list[int]) -> Vectors:
        """Shape (len(positions), dimension)."""


class SentenceVectors(Protocol):
    """Vectors by row: an array in memory or mapped from a file, or a table."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(sentences, dimension)."""

    def __getitem__(self, rows: Any, /) -> NDArray[np.floating]:
        """Rows by an array of their numbers; shape (len(rows), dimension)."""


class FaissIndex:
    """A flat inner-product index: exact, and quick enough up to some hundred thousand chunks."""

    def __init__(self, index: faiss.Index) -> None:
        self._index = index
        self.dimension = int(index.d)

    @classmethod
    def of(cls, vectors: Vectors) -> FaissIndex:
        """From rows of length 1. Raises ValueError when one is not: scores would be no cosines."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1)
        if not np.allclose(lengths, 1.0, atol=1e-3):
            raise ValueError(
                f"vectors must have length 1, found {lengths.min()} to {lengths.max()}"
            )
        index = faiss.IndexFlatIP(rows.shape[1])
        index.add(rows)
        return cls(index)

    @classmethod
    def load(cls, path: Path, shape: tuple[int, int] | None = None) -> FaissIndex:
        """Raises FootnoteError when the file is not a whole index of unit vectors.

        With `shape` (vectors, dimension) its size is checked before anything reads it: FAISS takes
        the numbers in its header at their word.
        """
        try:
            with path.open("rb") as file:
                head = file.read(4)
            size = path.stat().st_size
            if head != _FLAT or (shape and size != _HEADER_BYTES + 4 * shape[0] * shape[1]):
                raise RuntimeError("its size or kind is another")
            index = faiss.read_index(str(path))
            lengths = np.linalg.norm(index.reconstruct_n(0, index.ntotal), axis=1)
            if not np.allclose(lengths, 1.0, atol=1e-3):
                raise RuntimeError("its vectors have other lengths than 1")
        except (OSError, RuntimeError, MemoryError) as error:  # a header may claim any size
            raise FootnoteError(
                f"{path} is not a whole FAISS index; build the collection again with build_index.py."
            ) from error
        return cls(index)

    def save(self, path: Path) -> None:
        """Writes the index; a full disk raises OSError."""
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:
            raise OSError(f"cannot write {path}: {error}") from error

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, query: Vectors, k: int) -> list[tuple[int, float]]:
        check_query(query, self.dimension)
        k = min(k, len(self))  # FAISS pads with position -1 beyond what it holds
        if k <= 0:
            return []
        scores, positions = self._index.search(query[None, :].astype(np.float32), k)
        clipped = np.clip(scores[0], -1.0, 1.0)  # rounding gives 1.0000001
        return [(int(p), float(s)) for p, s in zip(positions[0], clipped, strict=True)]

    def vectors(self, positions: list[int]) -> Vectors:
        return np.stack([self._index.reconstruct(p) for p in positions])


def check_query(query: Vectors, dimension: int) -> None:
    """Raises ValueError for another shape than (dimension,), and for values that are no numbers."""
    if query.shape != (dimension,):
        raise ValueError(f"query has shape {query.shape}, the index ({dimension},)")
    if not np.isfinite(query).all():
        raise ValueError("the query's vector has values that are no numbers")
