"""What earlier builds computed: vectors by the text that they are of, and questions by passage.

One SQLite file beside the fetched pages. A build that was killed goes on with what it had, and a
later one computes only what is new.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SCHEMA = "CREATE TABLE IF NOT EXISTS computed (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
_AT_ONCE = 500


class BuildCache:
    """Values by text. `maker` names what computed them, so that another one computes anew."""

    def __init__(self, path: Path, maker: str, *, forget: bool = False) -> None:
        self._maker = maker
        self._forget = forget
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._open(path)
        except sqlite3.DatabaseError:  # broken by a power cut: it only saves time
            path.unlink(missing_ok=True)
            self._open(path)

    def vectors(self, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The known ones among the vectors of `texts`."""
        return {text: np.frombuffer(value, np.float32) for text, value in self._load("v", texts)}

    def save_vectors(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keeps one row a text."""
        self._save(
            "v", ((t, v.astype(np.float32).tobytes()) for t, v in zip(texts, vectors, strict=True))
        )

    def question(self, passage: str) -> str | None:
        """The question that was written for a passage; empty when none that could be used."""
        found = dict(self._load("q", [passage]))
        return found[passage].decode() if passage in found else None

    def save_question(self, passage: str, question: str) -> None:
        """Keeps a passage's question."""
        self._save("q", [(passage, question.encode())])

    def close(self) -> None:
        """Ends the use of the file."""
        self._database.close()

    def _open(self, path: Path) -> None:
        self._database = sqlite3.connect(path, timeout=30)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.execute(_SCHEMA)

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256("\0".join((kind, self._maker, text)).encode()).digest()

    def _load(self, kind: str, texts: Iterable[str]) -> Iterable[tuple[str, bytes]]:
        if self._forget:
            return
        by_key = {self._key(kind, text): text for text in texts}
        keys = list(by_key)
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, value FROM computed WHERE key IN ({marks})"
            for key, value in self._database.execute(query, some):
                yield by_key[key], value

    def _save(self, kind: str, entries: Iterable[tuple[str, bytes]]) -> None:
        with self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO computed VALUES (?, ?)",
                ((self._key(kind, text), value) for text, value in entries),
            )
