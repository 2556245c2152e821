"""Where collections are kept: a folder of files, or a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.search import store
from rag.search.store import Manifest, Stored
from rag.search.vectors import FaissIndex, Vectors
from rag.settings import Settings
from rag.types import Chunk


class CollectionStore(Protocol):
    """Keeps whole collections by name. Everything raises FootnoteError for what a user can mend."""

    def names(self) -> list[str]:
        """The collections that are there, sorted."""

    def place(self, name: str) -> str:
        """Where a collection lies, for people."""

    def is_made_with(self, name: str, embedder_fingerprint: str) -> bool:
        """Whether it is there, in this format, and its vectors are this embedder's."""

    def load(self, name: str, embedder_fingerprint: str, dimension: int) -> Stored:
        """A collection that was made with this embedder."""

    def save(
        self,
        manifest: Manifest,
        chunks: Sequence[Chunk],
        vectors: Vectors,
        sentence_vectors: NDArray[np.floating],
    ) -> None:
        """Puts a collection in the place of the last one of its name, whole or not at all.

        `vectors` has a row of length 1 a chunk, `sentence_vectors` one a sentence of all chunks.
        """


class FileStore:
    """A folder for each collection; `rag.search.store` reads and writes them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        return store.names(self._folder)

    def place(self, name: str) -> str:
        return str(self._folder / name)

    def is_made_with(self, name: str, embedder_fingerprint: str) -> bool:
        return store.is_made_with(self._folder / name, embedder_fingerprint)

    def load(self, name: str, embedder_fingerprint: str, dimension: int) -> Stored:
        return store.load(self._folder / name, embedder_fingerprint, dimension)

    def save(
        self,
        manifest: Manifest,
        chunks: Sequence[Chunk],
        vectors: Vectors,
        sentence_vectors: NDArray[np.floating],
    ) -> None:
        folder = self._folder / manifest.name
        store.save(folder, manifest, chunks, FaissIndex.of(vectors), sentence_vectors)


def open_store(settings: Settings) -> CollectionStore:
    """The store that the settings name. Raises FootnoteError when it can't be used."""
    if settings.index is None:
        return FileStore(settings.artifacts_dir)
    return _postgres(settings.index)


@cache
def _postgres(address: str) -> CollectionStore:
    """One pool of connections a process."""
    from rag.search.postgres import PostgresStore  # its client is an optional requirement

    return PostgresStore(address)
