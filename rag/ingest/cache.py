"""Fetched pages and their extracted documents on disk, so that a second build does little."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Stored:
    """What is known of an address from an earlier fetch."""

    url: str
    """The final address, after redirects."""
    content_type: str
    etag: str | None
    modified: str | None
    """The Last-Modified header as it came."""
    fetched: float
    """Seconds since the epoch."""
    digest: str
    """SHA-256 of the body."""


class PageCache:
    """A folder of pages by address. Safe against a kill at any moment: files appear whole or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, url: str) -> tuple[Stored, bytes] | None:
        """The stored page, or None when there is none or its files don't fit together."""
        stem = self._stem(url)
        try:
            stored = Stored(**json.loads(stem.with_suffix(".json").read_text("utf-8")))
            body = zlib.decompress(stem.with_suffix(".body").read_bytes())
        except (OSError, ValueError, TypeError, zlib.error):
            return None  # absent or damaged: fetching again is the repair
        return (stored, body) if digest(body) == stored.digest else None

    def save(self, url: str, stored: Stored, body: bytes) -> None:
        """Stores a page; raises OSError when the folder can't be written."""
        stem = self._stem(url)
        write_atomically(stem.with_suffix(".body"), zlib.compress(body, 1))
        write_atomically(stem.with_suffix(".json"), json.dumps(asdict(stored)).encode())

    def load_result(self, key: str) -> dict[str, Any] | None:
        """What was extracted under a key, or None."""
        try:
            found = json.loads(self._stem(key).with_suffix(".doc").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def save_result(self, key: str, result: dict[str, Any]) -> None:
        """Stores an extraction's outcome; raises OSError when the folder can't be written."""
        text = json.dumps(result, ensure_ascii=False)
        write_atomically(self._stem(key).with_suffix(".doc"), text.encode("utf-8", "replace"))

    def _stem(self, key: str) -> Path:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / name[:2] / name


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Writes the file through a temporary one beside it; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
