"""BM25 over the 1- to 3-grams of many chunks, in arrays that can be mapped into memory.

Most grams of two and three words occur once. As a dictionary of strings they would need more memory
than all texts; here a gram is a 64-bit number mixed from its words', found by bisection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.search.arrays import map_array
from rag.types import FootnoteError

K1, B = 1.2, 0.75  # Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009)
LONGEST = 3
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, of Fibonacci hashing
_ARRAYS: dict[str, type[np.generic]] = {
    "grams": np.uint64,
    "starts": np.int64,
    "chunks": np.int32,
    "scores": np.float32,
}


class Postings:
    """Which chunks hold which grams, and what each occurrence is worth.

    `grams` (uint64, ascending); of gram i the entries `starts[i]` to `starts[i + 1]` of `chunks`
    (int32) and `scores` (float32); `size` is the number of chunks.
    """

    def __init__(self, arrays: Sequence[np.ndarray], size: int) -> None:
        self.size = size
        self._arrays = tuple(arrays)
        self._grams, self._starts, self._chunks, self._scores = self._arrays

    @classmethod
    def of(cls, documents: Iterable[Sequence[str]]) -> Postings:
        """From the stems of each chunk in order.

        Scores as Lucene's BM25 gives them (Kamphuis et al., "Which BM25 Do You Mean?", 2020).
        """
        found, counts, lengths, sizes = [], [], [], []
        for document in documents:
            every = gram_ids(document)
            grams, often = np.unique(every, return_counts=True)
            found.append(grams)
            counts.append(often.astype(np.float32))
            lengths.append(len(every))
            sizes.append(len(grams))
        size = len(sizes)
        ids = np.concatenate([np.zeros(0, np.uint64), *found])
        order = np.argsort(ids, kind="stable")
        chunks = np.repeat(np.arange(size, dtype=np.int32), sizes)[order]
        often = np.concatenate([np.zeros(0, np.float32), *counts])[order]
        grams, starts = np.unique(ids[order], return_index=True)
        starts = np.append(starts, len(ids)).astype(np.int64)
        held_by = np.diff(starts)
        weight = np.log(1 + (size - held_by + 0.5) / (held_by + 0.5)).astype(np.float32)
        relative = np.array(lengths, np.float32) / max(1.0, float(np.mean(lengths or [0])))
        norm = (K1 * (1 - B + B * relative)).astype(np.float32)
        scores = np.repeat(weight, held_by) * often / (often + norm[chunks])
        return cls((grams, starts, chunks, scores.astype(np.float32)), size)

    def save(self, folder: Path) -> None:
        """Writes one file an array."""
        for name, values in zip(_ARRAYS, self._arrays, strict=True):
            np.save(folder / f"{name}.npy", values)

    @classmethod
    def load(cls, folder: Path, size: int) -> Postings:
        """Maps what `save` wrote. Raises OSError or ValueError when a file isn't whole."""
        arrays = [map_array(folder / f"{name}.npy", kind, 1) for name, kind in _ARRAYS.items()]
        grams, starts, chunks, scores = arrays
        if len(starts) != len(grams) + 1 or not len(chunks) == len(scores) == starts[-1]:
            raise ValueError(f"the arrays in {folder} don't belong together")
        return cls(arrays, size)

    def score(self, grams: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Of every chunk, the sum over the grams that it holds; shape (chunks,).

        Raises FootnoteError when the arrays name a chunk that there isn't: reading all of them at
        the start would undo what mapping saves.
        """
        total = np.zeros(self.size, np.float32)
        places = np.searchsorted(self._grams, grams)
        for place, gram in zip(places.tolist(), grams, strict=True):
            if place < len(self._grams) and self._grams[place] == gram:
                start, end = self._starts[place : place + 2]
                held = self._chunks[start:end]
                if len(held) and not 0 <= held.min() <= held.max() < self.size:
                    raise FootnoteError(
                        "The word index names chunks that its collection lacks; "
                        "build the collection again with build_index.py."
                    )
                total[held] += self._scores[start:end]
        return total


def gram_ids(stems: Sequence[str], longest: int = LONGEST) -> NDArray[np.uint64]:
    """The 1- to `longest`-grams of stems as numbers, each as often as it occurs."""
    single = np.array([_word_id(stem) for stem in stems], np.uint64)
    sizes = [single]
    for n in range(2, longest + 1):
        shorter = sizes[-1][: max(0, len(single) - n + 1)]
        sizes.append((shorter ^ (shorter >> np.uint64(29))) * _ODD + single[n - 1 :])
    return np.concatenate(sizes)


@lru_cache(maxsize=65536)
def _word_id(stem: str) -> int:
    return int.from_bytes(hashlib.blake2b(stem.encode(), digest_size=8).digest(), "little")
